/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/adaptive.h"

#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/jit/jit.h"
#include "rt/tool/tool.h"

enum { FEWEST_WINDOWS = 10, MOST_WINDOWS = 1000 }; /* for which a block rests */

/* Of a block. */
struct habit {
	uint32_t limit; /* as above, without the first ADAPTIVE_TIMES */
	uint16_t rest;  /* for how many windows it has rested last; 0: not yet */
	bool rests;
};
static struct habit *habits;

/* Those that rest. */
static struct resting {
	uint32_t id, until; /* the number of a window */
} * resting;
static uint32_t n_resting, looked_at; /* the number of a window */

static uint32_t
windows_now(void)
{
	return (uint32_t)__atomic_load_n(&rt.results->budget.windows, __ATOMIC_RELAXED);
}

static const struct st_block *
block_of(uint32_t id)
{
	return (const struct st_block *)((const char *)rt.results + rt.results->layout.off_blocks) +
	       id;
}

/* NULL: there is no memory for it. */
static struct habit *
habit_of(uint32_t id)
{
	if (!habits) {
		habits = rt_map_table(ST_MAX_BLOCKS * sizeof *habits);
		resting = rt_map_table(ST_MAX_BLOCKS * sizeof *resting);
	}
	return habits && resting ? &habits[id] : NULL;
}

/* A function that was entered is to be seen to return: its returns never rest. */
static bool
never_rests(uint32_t id)
{
	return tools.wants_functions && block_of(id)->end == ST_END_RETURN;
}

uint32_t
adaptive_limit(uint32_t id)
{
	const struct habit *h = habit_of(id);
	return h && !never_rests(id) ? h->limit + ADAPTIVE_TIMES : 0;
}

void
adaptive_back_off(uint32_t id)
{
	struct habit *h = habit_of(id);
	if (!h || h->rests)
		return;
	h->rests = true;
	h->rest = (uint16_t)(h->rest ? h->rest * 10 : FEWEST_WINDOWS);
	if (h->rest > MOST_WINDOWS)
		h->rest = MOST_WINDOWS;
	resting[n_resting++] = (struct resting){id, windows_now() + h->rest};
	rt.results->budget.backed_off++;
}

bool
adaptive_rests(const struct thread *t, uint32_t id)
{
	uint32_t limit = adaptive_limit(id);
	if (!limit)
		return false;
	/* Blocks beside one that is dropped are translated with it, and need not be dropped soon.
	 */
	if (*thread_counter((struct thread *)t, id) >= limit)
		adaptive_back_off(id);
	return habits[id].rests;
}

/* It is translated anew, for threads that are measured. */
static void
wake(uint32_t id)
{
	uint32_t block = jit_find(block_of(id)->pc, VERSION_TOOLS);
	habits[id].rests = false;
	habits[id].limit += ADAPTIVE_TIMES;
	if (block)
		jit_drop(block);
}

void
adaptive_wake(struct thread *t)
{
	uint32_t now = windows_now();
	if (!adaptive_is_on() || now - looked_at < FEWEST_WINDOWS)
		return;
	bool works = budget_works(t); /* then it is charged with what is around it */
	if (!works)
		budget_work_begin(t);
	looked_at = now;
	for (uint32_t i = 0; i < n_resting;) {
		if ((int32_t)(now - resting[i].until) < 0) {
			i++;
			continue;
		}
		wake(resting[i].id);
		resting[i] = resting[--n_resting];
	}
	if (!works)
		budget_work_end(t);
}

void
adaptive_restart(void)
{
	if (habits)
		SYS(__NR_madvise, habits, ST_MAX_BLOCKS * sizeof *habits, 4 /* MADV_DONTNEED */);
	n_resting = looked_at = 0;
}
