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

#include "rt/cost.h"
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
/* A tick of the thread's CPU time: its period may be over. Not while the runtime works for it. */
struct budget_tick {
	uint64_t net;          /* ns of CPU time without what was charged */
	uint64_t now;          /* the same, or the time of day: what periods are of */
	bool begins;           /* a window has begun */
	bool ends_suppression; /* the thread is to be measured again: suppress.h */
};
struct budget_tick budget_tick(struct thread *t);
/* A part of the credit is used up: there is more in the others, or the budget is spent. */
void budget_renew(struct thread *t);
/* The thread is not measured for a while, with what it has left; it is measured again. */
void budget_pause(struct thread *t);
void budget_resume(struct thread *t);
/* The thread ends; the program does, by this thread. */
void budget_end(struct thread *t);
void budget_end_all(struct thread *t);

/*
 * Pairs: each begin is followed by its end on the same thread, and by no other begin of its kind
 * before that. Under --stress the process ends where that is not so.
 */

/* The tools see the thread, from the one to the other. */
void budget_measure_begin(struct thread *t);
void budget_measure_end(struct thread *t);
/* The runtime works for the thread, which pays for it if it is measured. */
void budget_work_begin(struct thread *t);
void budget_work_end(struct thread *t);
static inline bool
budget_works(const struct thread *t)
{
	return t->budget.works;
}
/* The kernel makes a system call for the program: native time. In one that sleeps the thread
 * releases what it has of a shared budget to the others, and may sleep through the end of a period
 * by the clock. */
void budget_call_begin(struct thread *t, bool sleeps);
void budget_call_end(struct thread *t);
static inline bool
budget_in_call(const struct thread *t)
{
	return t->budget.audit.away_from;
}
/* A vfork's child, with another CPU clock, runs on the thread, in whose system call it is. The end
 * is given what the begin has returned. */
struct thread_clock budget_vfork_begin(struct thread *t);
void budget_vfork_end(struct thread *t, struct thread_clock own);

/* There seems to be too little left for what comes next. If that is so, not only because the thread
 * has waited, the budget counts as spent. */
void budget_stop(struct thread *t);

#endif
