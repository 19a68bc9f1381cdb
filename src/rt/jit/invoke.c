/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that translated code makes. */
#include "rt/budget/budget.h"
#include "rt/jit/action.h"

void
rt_dispatch_call(struct thread *t)
{
	/* Read while the state says CACHE: until then nobody flushes the cache. */
	const struct invoke v = invokes.list[(uint32_t)t->exit_id]; /* the upper half is of native
	                                                             execution */
	uint32_t generation = jit.generation;
	uint64_t values[STROBE_MOST_VALUES];
	budget_work_begin(t);
	memcpy(values, t->action.values, sizeof values);
	if (v.walks) {
		values[0] = v.label;
		values[1] = v.owner;
	}
	t->resume = v.resume;
	t->regs.pc = v.resume.pc;
	t->next = cache_addr(v.back);
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	tool_call(v.tool, (void (*)(void))v.function, t, values);
	if (__atomic_load_n(&jit.generation, __ATOMIC_SEQ_CST) != generation ||
	    t->budget.suppressed.sp)
		rt_dispatch_pc(t);
	budget_work_end(t);
}
