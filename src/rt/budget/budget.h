/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The time budget: of each period of a thread's CPU time, so much may go into what is beyond native
 * execution. When it is spent the thread executes the plain version of the code until its next
 * period begins.
 *
 * Translated code subtracts what it costs by itself (jit/charge.c); what the runtime does for a
 * thread that is measured is charged by the clock.
 */
#ifndef STROBE_RT_BUDGET_BUDGET_H
#define STROBE_RT_BUDGET_BUDGET_H

#include "rt/rt.h"

/* Is there one? */
static inline bool
budget_exists(void)
{
	return rt.budget.exists;
}
/* Of an amount, what is granted. The rest is for what no account sees: the start of the engine, its
 * ticks, the controller, a window that begins when the program is nearly over. */
static inline uint64_t
budget_granted(uint64_t amount)
{
	return amount - amount / 20;
}
/* The thread begins; first: of the program, so that it has a whole period's. The others' grows with
 * their CPU time during their first period: a thousand short ones stay within the bounds of one. Of
 * a shared budget each takes what it needs, if something is left. */
void budget_begin(struct thread *t, bool first);
/* A tick of the thread's CPU time: its period may be over. Returns whether it has to come out of
 * the cache, or back to it, as it has been granted more. Not while
 * the runtime works for it. */
bool budget_tick(struct thread *t);
/* A part of the credit is used up: there is more in the others, or the budget is spent. */
void budget_renew(struct thread *t);
/* The tools see the thread from here on; they do so no more. */
void budget_enter(struct thread *t);
void budget_leave(struct thread *t);
/* Periods are by the clock, and the thread may have slept through the end of one. */
void budget_wake(struct thread *t);
/* The thread is not measured for a while, with what it has left; it is measured again. */
void budget_pause(struct thread *t);
void budget_resume(struct thread *t);
/* The budget is shared, and the thread makes a call in which it may sleep: what it has is the
 * others' meanwhile. It comes back from a call. */
void budget_release(struct thread *t);
void budget_reacquire(struct thread *t);
/* The thread ends; the program does, by this thread. */
void budget_end(struct thread *t);
void budget_end_all(struct thread *t);

/* The runtime works for the thread from `since` (budget_since) to now. */
uint64_t budget_since(struct thread *t);
void budget_charge(struct thread *t, uint64_t since);
/* Would work of so many ticks cost more than there is left? Never, if the thread does not pay. */
bool budget_is_short(const struct thread *t, uint64_t ticks);
/* Is it time for a table of `size` entries to grow, of which so many are used and `most` may be?
 * Nearly full ones already do, when that can be paid: else it may be just when the budget is nearly
 * spent. */
static inline bool
budget_lets_grow(uint64_t used, uint64_t most, uint64_t size)
{
	enum { TICKS_OF_ENTRY = 40 };
	return used >= most ||
	       (used >= most - most / 8 && !budget_is_short(rt_self(), size * TICKS_OF_ENTRY));
}
/* Of what the next work may cost, in ticks, so much as may be left unused because of it: not more
 * than 40,000, and not more than an eighth of a budget, else small ones would pay for nothing. */
uint64_t budget_at_most(uint64_t ticks);
/* What some work costs on average is `mean`, and this time it took so many ticks; much more, if the
 * thread has waited. */
void budget_learn(uint64_t *mean, uint64_t ticks);
/* There seems to be too little left for what comes next. If that is so, not only because the thread
 * has waited, the budget counts as spent. */
void budget_stop(struct thread *t);
/* The kernel works for the program from the one to the other: native time. */
void budget_away(struct thread *t);
void budget_back(struct thread *t);

#endif
