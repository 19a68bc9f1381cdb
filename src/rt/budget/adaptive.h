/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cold code first (--sampling adaptive): a basic block that has been measured ADAPTIVE_TIMES times
 * is backed off, that is, its translation for measured threads has nothing of the tools'; after ten
 * windows it is measured that often once more, then after a hundred, and then after each thousand.
 * So what a budget can pay for goes to code that is seldom executed.
 *
 * What is known of a block is kept by its id in the results, and decides when it is translated: a
 * translation is dropped when the block is backed off or measured again. rt.lock held throughout.
 */
#ifndef STROBE_RT_BUDGET_ADAPTIVE_H
#define STROBE_RT_BUDGET_ADAPTIVE_H

#include "rt/rt.h"

enum { ADAPTIVE_TIMES = 64 };

/* Is code sampled so? Not where each block is measured once anyway. */
static inline bool
adaptive_is_on(void)
{
	return rt.budget.exists && rt.results->plan.budget.sampling == ST_SAMPLING_ADAPTIVE &&
	       !rt.budget.unique;
}
/* The thread translates the block: is it backed off? */
bool adaptive_is_backed_off(const struct thread *t, uint32_t id);
/* Up to how many times a thread may have executed it before it is backed off; 0: any. */
uint32_t adaptive_limit(uint32_t id);
/* A thread has executed it that often: it is backed off from now on. */
void adaptive_back_off(uint32_t id);
/* Windows may have begun: blocks that have been backed off long enough are measured again. */
void adaptive_wake(struct thread *t);
/* After a fork, with results that have no ids yet. */
void adaptive_restart(void);

#endif
