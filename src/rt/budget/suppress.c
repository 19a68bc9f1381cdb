/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/suppress.h"

#include "rt/budget/budget.h"
#include "rt/budget/credit.h"
#include "rt/code.h"
#include "rt/maps.h"
#include "rt/program.h"
#include "rt/tool/tool.h"

enum {
	CHARGED = 8, /* an eighth of plain code's time: what it costs over native execution */
	MOST_TICKS = 25,
	MOST_WATCHED = 1 << 16,
	/* TSC ticks: entering and leaving plain code costs a third of that. */
	WORTH_WHILE = 8000,
};

static strobe_map watched; /* addresses that suppressed functions return to. rt.lock */

/* The plain block that begins there has to lead to the dispatcher. False: there is no space, or no
 * code there: the function was not called. */
static bool
watch_suppressed(uint64_t back)
{
	if (!maps_find(back))
		return false;
	uint64_t *known = watched.used < MOST_WATCHED ? strobe_map_at(&watched, back)
	                                              : strobe_map_find(&watched, back);
	if (!known)
		return false;
	uint32_t block = *known ? 0 : jit_find(back, VERSION_PLAIN);
	*known = 1;
	if (block)
		jit_drop(block);
	return true;
}

int
strobe_suppress(strobe_thread *handle, uint32_t node)
{
	struct thread *t = (struct thread *)handle;
	uint64_t sp = t->regs.r[RSP], back;
	if (!rt.budget.suppresses || t->own_process || strobe_read(&back, sp, sizeof back))
		return 0;
	rt_lock(&rt.lock);
	bool watches = watch_suppressed(back);
	rt_unlock(&rt.lock);
	if (!watches)
		return 0;
	uint64_t cpu = cpu_time();
	if (budget_exists())
		audit_stretch(t, cpu);
	t->budget.suppressed = (struct thread_suppressed){.sp = sp,
	                                                  .above = sp,
	                                                  .node = node,
	                                                  .charged_to = cpu,
	                                                  .from = rt_tsc(),
	                                                  .on = true,
	                                                  .began_gap = true};
	__atomic_fetch_add(&rt.results->contexts.suppressed, 1, __ATOMIC_RELAXED);
	return 1;
}

void
strobe_end_suppression(strobe_thread *t)
{
	suppress_end((struct thread *)t);
}

int
strobe_ended_suppression(strobe_thread *t)
{
	return ((struct thread *)t)->budget.suppressed.began_gap;
}

/* If other code has been mapped here since, a block may begin inside a former instruction, which
 * does no harm. */
enum suppress_stop
suppress_stop_at(const struct build *b, bool whole)
{
	if (!rt.budget.suppresses)
		return SUPPRESS_GOES_ON;
	for (uint32_t i = 0; i < b->n; i++)
		if (code_moves_stack(b, i))
			return SUPPRESS_MOVES_STACK;
	return whole && watched.used && strobe_map_find(&watched, b->pc) ? SUPPRESS_RETURNS
	                                                                 : SUPPRESS_GOES_ON;
}

static void
charge_up_to(struct thread *t, uint64_t cpu)
{
	uint64_t ns = cpu - t->budget.suppressed.charged_to;
	t->budget.suppressed.charged_to = cpu;
	if (!budget_exists() || t->in_vfork)
		return;
	uint64_t ticks = ns * (budget_plan()->ticks_per_second / 1000000) / 1000;
	credit_take(t, (int64_t)(ticks * ST_BUDGET_UNITS / CHARGED));
}

void
suppress_end(struct thread *t)
{
	if (!t->budget.suppressed.sp)
		return;
	charge_up_to(t, cpu_time());
	suppress_clear(t);
}

/* It has returned from the function: the tools know where it is. */
static void
end_at_return(struct thread *t)
{
	bool is_short = rt_tsc() - t->budget.suppressed.from < WORTH_WHILE;
	if (is_short)
		known_give_up(t->budget.suppressed.node);
	suppress_end(t);
	if (!thread_is_seen(t) || !t->budget.gap_from)
		return;
	t->budget.gap_from = 0;
	t->budget.suppressed.began_gap = false;
	budget_measure_begin(t);
}

/* To unwind the stack costs more than was saved. */
static void
end_within(struct thread *t)
{
	known_give_up(t->budget.suppressed.node);
	suppress_end(t);
}

bool
suppress_pass(struct thread *t, enum suppress_stop stop)
{
	uint64_t at = t->budget.suppressed.sp, sp = t->regs.r[RSP];
	if (!at || (stop == SUPPRESS_RETURNS && sp <= at))
		return false;
	if (stop == SUPPRESS_RETURNS && sp == at + sizeof at)
		end_at_return(t);
	else
		end_within(t);
	return true;
}

bool
suppress_tick(struct thread *t, uint64_t cpu)
{
	if (!t->budget.suppressed.sp)
		return false;
	charge_up_to(t, cpu);
	if (++t->budget.suppressed.ticks < MOST_TICKS)
		return false;
	suppress_clear(t);
	return true;
}

void
suppress_forget(struct thread *t)
{
	map_clear(&watched);
	t->budget.suppressed = (struct thread_suppressed){0};
	suppress_clear(t);
}
