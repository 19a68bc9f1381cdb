/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a thread has left of its budget, in parts of which each block of translated code uses one,
 * and the account of what it has used. For budget.c and audit.c.
 */
#ifndef STROBE_RT_BUDGET_CREDIT_H
#define STROBE_RT_BUDGET_CREDIT_H

#include "rt/rt.h"

/* Ticks: the thread may have slept, or waited for a CPU, in the meantime. */
enum { CREDIT_SUSPICIOUS = 50000 };

static inline const struct st_budget_plan *
budget_plan(void)
{
	return &rt.results->plan.budget;
}

/* The outcome of a window. */
static inline struct st_budget_results *
budget(void)
{
	return &rt.results->budget;
}

static inline int64_t
credit_of(const struct thread *t)
{
	int64_t sum = 0;
	for (unsigned i = 0; i < ST_CREDITS; i++)
		sum += t->budget.credits[i];
	return sum;
}

/* Takes so much of it, in the budget's units: for what the runtime or the controller has done for
 * the thread. Blocks charge themselves. */
static inline void
credit_take(struct thread *t, int64_t units)
{
	t->budget.credits[0] -= units;
}

/* Half of it where it is most used. */
static inline void
spread_credit(struct thread *t, int64_t credit, unsigned most_used)
{
	int64_t part = credit / 2 / (ST_CREDITS - 1);
	for (unsigned i = 0; i < ST_CREDITS; i++)
		t->budget.credits[i] = part;
	t->budget.credits[most_used] = credit - (ST_CREDITS - 1) * part;
}

/* Books the credit that the thread has used. */
static inline void
settle_account(struct thread *t)
{
	int64_t left = credit_of(t), used = t->budget.granted - left;
	__atomic_fetch_add(&budget()->charged, (uint64_t)used, __ATOMIC_RELAXED);
	t->budget.account += used;
	t->budget.granted = left;
}

static inline uint64_t
credit_ns(int64_t units)
{
	uint64_t ticks = (uint64_t)units / ST_BUDGET_UNITS;
	return ticks * 1000 / (budget_plan()->ticks_per_second / 1000000);
}

/* The thread's CPU time (cpu, ns) without what was charged of it: that is what periods are of, so
 * that a budget of a tenth makes the program take a tenth longer. It never goes back, where a
 * correction would. */
static inline uint64_t
net_time(struct thread *t, uint64_t cpu)
{
	int64_t charged =
	        t->budget.account + t->budget.granted - credit_of(t) - t->budget.elsewhere;
	uint64_t ns = charged > 0 ? credit_ns(charged) : 0, net = cpu > ns ? cpu - ns : 0;
	if (net > t->budget.net_seen)
		t->budget.net_seen = net;
	return t->budget.net_seen;
}

/* Is a period so long by the clock, whether the program works or sleeps? */
static inline bool
periods_are_wall(void)
{
	return budget_plan()->clock == ST_CLOCK_WALL;
}

/* In ns, since some time that is the same for all processes. */
static inline uint64_t
wall_time(void)
{
	return rt_tsc() / (budget_plan()->ticks_per_second / 1000000) * 1000;
}

/* It executes the program's own code, or a system call from there. */
static inline bool
runs_natively(const struct thread *t)
{
	uint32_t state = __atomic_load_n(&t->state, __ATOMIC_RELAXED);
	return state == THREAD_NATIVE_RUN || (state == THREAD_SYSCALL && t->native.in_call);
}

/* audit.c. A stretch of measuring ends at this CPU time (ns), if there is one: what it has cost by
 * the clock is charged, not what the model says. Another one begins, if the thread is measured. */
void audit_stretch(struct thread *t, uint64_t cpu);
/* No stretch is under way any more; a call may be, of which nobody knows when it began. */
void audit_restart(struct thread *t, bool in_call);
/* The kernel works for the program from the one to the other. */
void audit_call_begin(struct thread *t);
void audit_call_end(struct thread *t);

#endif
