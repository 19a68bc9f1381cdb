/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Breakpoint-driven sampling, with --unique under a budget: a thread that finds little new in its
 * window leaves it with what it has left, runs natively, and comes back where it meets code that
 * has not been measured (native/breakpoints.h), for just that. So the budget is kept for what is
 * new, wherever in the period that is, and what is known costs nothing. In the last eighth of the
 * period the window is open again: breakpoints are not everywhere, and what is left then would be
 * lost.
 */
#ifndef STROBE_RT_NATIVE_BREAKPOINT_SAMPLING_H
#define STROBE_RT_NATIVE_BREAKPOINT_SAMPLING_H

#include "rt/rt.h"

/* A block is measured for the first time. rt.lock held. */
void bp_sampling_found(struct thread *t, const struct st_block *block);
/* A tick of the thread's CPU time, for its budget (budget_tick), and for how it is sampled. Returns
 * whether it has to come out of the cache, or back to it. Not while the runtime works for it. */
bool bp_sampling_tick(struct thread *t);
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
