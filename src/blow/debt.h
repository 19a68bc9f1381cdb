/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arithmetic of virtual speed-ups (Curtsinger and Berger, Coz, SOSP 2015). While a thread runs
 * the function that is to be faster, all other threads owe a pause: the part of that time that the
 * speed-up would save. The run's time less the pauses is then the time of a program with the faster
 * function.
 *
 * The debt of a thread is `all - paid`. A thread that runs the function counts its own part as
 * paid. A thread that waits for another thread inherits the time paid by the thread that wakes it,
 * because it would have been woken earlier. A thread that waits for time or for input pays
 * afterwards.
 *
 * The kernel reports CPU time late: every few milliseconds, and when the thread leaves the
 * processor, which it seldom does in the function. So the ticks since the last report say which
 * part of that time was spent in the function. If there was none, that of the last report is used.
 * Until the report, a tick in the function is charged as the CPU time that it probably was:
 * otherwise, a thread that is woken in between would not inherit it, and pay a second time.
 */
#ifndef STROBE_BLOW_DEBT_H
#define STROBE_BLOW_DEBT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

enum st_debt_state {
	ST_DEBT_RUNS,
	ST_DEBT_STANDS,  /* stopped in order to pay its debt */
	ST_DEBT_BLOCKED, /* waits for another thread */
	ST_DEBT_WAITS,   /* waits for time, or for input */
	ST_DEBT_GONE,
};
struct st_debt_thread {
	int64_t id;
	enum st_debt_state state; /* set before each tick */
	bool in_function;         /* set before each tick at which it runs */
	double ran;               /* set before each tick: CPU time that was not reported yet, s */
	double paid;              /* seconds */
	/* Of the ticks at which it ran since CPU time was reported: seconds, and those in the
	 * function. */
	double seen, seen_within;
	double ahead; /* CPU time of these that has been charged already, seconds */
	double share; /* of the CPU time that was reported last: the part in the function */
	double idle;  /* of the ticks before: the part for which it waited for a processor */
};
struct st_debts {
	double speedup; /* 0 to 1: the part of the function's time that is saved */
	double all;     /* debt of a thread that has paid nothing, seconds */
	ST_VEC(struct st_debt_thread) threads;
};

/* Adds a thread, made by the thread at index `from` (SIZE_MAX: unknown). Returns its index;
 * SIZE_MAX: memory is exhausted. */
size_t st_debt_thread(struct st_debts *d, int64_t id, size_t from);
/* The index of the thread of that id that is not gone; SIZE_MAX: there is none. */
size_t st_debt_find(const struct st_debts *d, int64_t id);
/* Charges `seconds` during which the threads were in their current states. */
void st_debt_tick(struct st_debts *d, double seconds);
/* The thread has waited for time (ST_DEBT_WAITS), and another thread has woken it. */
void st_debt_wake(struct st_debts *d, size_t thread);
static inline double
st_debt_owed(const struct st_debts *d, size_t thread)
{
	return d->all - d->threads.v[thread].paid;
}
void st_debts_free(struct st_debts *d);

#endif
