/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Virtual speed-up, as arithmetic (Curtsinger and Berger, Coz, SOSP 2015): while a thread runs the
 * function that is to be faster, all others are owed to stand still for the part of that time which
 * would be saved. A run then takes as long as if the function were faster, but for what has been
 * stood still.
 *
 * `owed` of a thread is `all - paid`. A thread that runs the function has paid its own part. One
 * that waits for another thread has what that one has paid when it is woken: it would have been
 * woken earlier. One that waits for time, or for the outside, pays afterwards.
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
	ST_DEBT_STANDS,  /* it has been stopped, to pay */
	ST_DEBT_BLOCKED, /* it waits for another thread */
	ST_DEBT_WAITS,   /* for time, or for the outside */
	ST_DEBT_GONE,
};
struct st_debt_thread {
	int64_t id;
	enum st_debt_state state; /* set before each tick */
	bool in_function;         /* the same */
	double ran;               /* the same: CPU time since the last tick */
	double paid;
};
struct st_debts {
	double speedup; /* 0 to 1: the part of the function's time that is saved */
	double all;     /* seconds that have been owed so far */
	ST_VEC(struct st_debt_thread) threads;
};

/* A thread that another one has made; from SIZE_MAX: nobody knows who. Its place; SIZE_MAX: no
 * memory. */
size_t st_debt_thread(struct st_debts *d, int64_t id, size_t from);
/* SIZE_MAX: there is none that is not gone. */
size_t st_debt_find(const struct st_debts *d, int64_t id);
/* So many seconds have passed, in which threads were as they are said to be. */
void st_debt_tick(struct st_debts *d, double seconds);
static inline double
st_debt_owed(const struct st_debts *d, size_t thread)
{
	return d->all - d->threads.v[thread].paid;
}
void st_debts_free(struct st_debts *d);

#endif
