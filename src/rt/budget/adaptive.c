/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/adaptive.h"

#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/code.h"
#include "rt/tool/tool.h"

enum { FEWEST_WINDOWS = 10, MOST_WINDOWS = 1000 }; /* for which a block is backed off */

/* Of a block. */
struct habit {
	uint32_t limit;   /* as above, without the first ADAPTIVE_TIMES */
	uint16_t windows; /* for which it was backed off last; 0: not yet */
	bool backed_off;
};
static struct habit *habits;

/* Those that are backed off. */
static struct backed_off_blocks {
	uint32_t id, until; /* the number of a window */
} * backed_off_blocks;
static uint32_t n_backed_off, looked_at; /* the number of a window */

static uint32_t
windows_now(void)
{
	return (uint32_t)__atomic_load_n(&rt.results->budget.windows, __ATOMIC_RELAXED);
}

static const struct st_block *
adaptive_block(uint32_t id)
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
		backed_off_blocks = rt_map_table(ST_MAX_BLOCKS * sizeof *backed_off_blocks);
	}
	return habits && backed_off_blocks ? &habits[id] : NULL;
}

/* A function that was entered is to be seen to return: its returns are never backed off. */
static bool
is_never_backed_off(uint32_t id)
{
	return tools.wants_functions && adaptive_block(id)->end == ST_END_RETURN;
}

uint32_t
adaptive_limit(uint32_t id)
{
	const struct habit *h = habit_of(id);
	return h && !is_never_backed_off(id) ? h->limit + ADAPTIVE_TIMES : 0;
}

void
adaptive_back_off(uint32_t id)
{
	struct habit *h = habit_of(id);
	if (!h || h->backed_off)
		return;
	h->backed_off = true;
	h->windows = (uint16_t)(h->windows ? h->windows * 10 : FEWEST_WINDOWS);
	if (h->windows > MOST_WINDOWS)
		h->windows = MOST_WINDOWS;
	backed_off_blocks[n_backed_off++] =
	        (struct backed_off_blocks){id, windows_now() + h->windows};
	rt.results->budget.backed_off++;
}

bool
adaptive_is_backed_off(const struct thread *t, uint32_t id)
{
	uint32_t limit = adaptive_limit(id);
	if (!limit)
		return false;
	/* Blocks beside one that is dropped are translated with it, and need not be dropped soon.
	 */
	if (*thread_counter((struct thread *)t, id) >= limit)
		adaptive_back_off(id);
	return habits[id].backed_off;
}

/* It is translated again, for threads that are measured. */
static void
measure_again(uint32_t id)
{
	uint32_t block = jit_find(adaptive_block(id)->pc, VERSION_TOOLS);
	habits[id].backed_off = false;
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
	for (uint32_t i = 0; i < n_backed_off;) {
		if ((int32_t)(now - backed_off_blocks[i].until) < 0) {
			i++;
			continue;
		}
		measure_again(backed_off_blocks[i].id);
		backed_off_blocks[i] = backed_off_blocks[--n_backed_off];
	}
	if (!works)
		budget_work_end(t);
}

void
adaptive_restart(void)
{
	if (habits)
		SYS(__NR_madvise, habits, ST_MAX_BLOCKS * sizeof *habits, 4 /* MADV_DONTNEED */);
	n_backed_off = looked_at = 0;
}
