/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoint-driven sampling, with --unique under a budget: a thread that finds little new in its
 * window leaves it with what it has left, runs natively, and comes back where it meets code that
 * has not been measured (native/breakpoints.h), for just that. So the budget is kept for what is
 * new, wherever in the period that is, and what is known costs nothing. In the last eighth of the
 * period the window is open again: breakpoints are not everywhere, and what is left then would be
 * lost.
 */
#ifndef STROBE_RT_BUDGET_BREAKPOINT_SAMPLING_H
#define STROBE_RT_BUDGET_BREAKPOINT_SAMPLING_H

#include "rt/rt.h"

/* What breakpoints take to be set, here and in the controller, may be more than a period has. A
 * thread that has been granted its budget pays so much for it, at the most `most`. Units of the
 * account.
 */
int64_t bp_sampling_debt(int64_t most);
/* The thread begins. */
void bp_sampling_begin(struct thread *t);
/* A window begins, or is over. */
void bp_sampling_end(struct thread *t);
/* A block is measured for the first time. rt.lock held. */
void bp_sampling_found(struct thread *t, const struct st_block *block);
/* A tick at that CPU time, without what was charged, so late on the clock of periods, with which a
 * window begins or not. Returns whether a thread that runs natively is to come to the dispatcher.
 */
bool bp_sampling_tick(struct thread *t, uint64_t cpu, uint64_t now, bool begins);
/* The thread is about to go on at regs.pc: it leaves its window, if it is sampled so and that has
 * been measured. rt.lock held. */
void bp_sampling_pass(struct thread *t);
/* It leaves the cache: there are breakpoints, as far as may be. rt.lock held. */
void bp_sampling_go(struct thread *t);
/* Has either of them something to do? Needs no lock. */
bool bp_sampling_waits(const struct thread *t);
/* It has come upon a breakpoint at regs.pc. */
void bp_sampling_hit(struct thread *t);

#endif
