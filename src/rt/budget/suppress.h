/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suppression of what is known: a thread that has entered a function below which a tool expects
 * nothing new (strobe_suppress) executes plain code until that function returns.
 *
 * Its return is caught where it leads to: in plain code a block that begins behind such a call
 * leads to the dispatcher. Before anything that leaves functions in another way (an instruction
 * that moves the stack pointer, a signal's handler, a fork), and after some ticks, suppression ends
 * in the middle of the function, as a gap does.
 */
#ifndef STROBE_RT_BUDGET_SUPPRESS_H
#define STROBE_RT_BUDGET_SUPPRESS_H

#include "rt/rt.h"

struct build;

/* Why a plain block leads to the dispatcher: the cause of EXIT_SUPPRESSED. */
enum suppress_stop { SUPPRESS_GOES_ON, SUPPRESS_RETURNS, SUPPRESS_MOVES_STACK };

/* Where that piece of plain code begins. rt.lock held. */
enum suppress_stop suppress_stop_at(const struct build *b, bool whole);
/* The thread is there. Returns whether it is measured again, if it may be. rt.lock held. */
bool suppress_pass(struct thread *t, enum suppress_stop stop);
/* A tick, at this CPU time. Returns whether suppression has ended. */
bool suppress_tick(struct thread *t, uint64_t cpu);
/* It ends in the middle of the function, if there is any. */
void suppress_end(struct thread *t);
/* It is over, or has never begun. */
static inline void
suppress_clear(struct thread *t)
{
	t->budget.suppressed.sp = 0;
	t->budget.suppressed.on = false;
	t->budget.suppressed.above = UINT64_MAX;
}
/* After a fork. */
void suppress_forget(struct thread *t);

#endif
