/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: what became of a time budget (rt/budget/budget.h). Amounts are in sixteenths of a TSC
 * tick. */
#ifndef STROBE_WIRE_RESULTS_BUDGET_H
#define STROBE_WIRE_RESULTS_BUDGET_H

#include <stdint.h>

/* By how much a budget was exceeded when it was spent: ST_OVERSHOOT(identifier, ns that it is
 * below, "what it means"). */
#define ST_OVERSHOOTS(ST_OVERSHOOT)                                                                \
	ST_OVERSHOOT(250ns, 250, "overshoots below 250 ns")                                        \
	ST_OVERSHOOT(500ns, 500, "from there to 500 ns")                                           \
	ST_OVERSHOOT(1us, 1000, "to 1 us")                                                         \
	ST_OVERSHOOT(2us, 2000, "to 2 us")                                                         \
	ST_OVERSHOOT(5us, 5000, "to 5 us")                                                         \
	ST_OVERSHOOT(10us, 10000, "to 10 us")                                                      \
	ST_OVERSHOOT(20us, 20000, "to 20 us")                                                      \
	ST_OVERSHOOT(50us, 50000, "to 50 us")                                                      \
	ST_OVERSHOOT(100us, 100000, "to 100 us")                                                   \
	ST_OVERSHOOT(1ms, 1000000, "to 1 ms")                                                      \
	ST_OVERSHOOT(more, UINT64_MAX, "1 ms and more")
enum st_overshoot {
#define ST_OVERSHOOT(name, below, text) ST_OVERSHOOT_##name,
	ST_OVERSHOOTS(ST_OVERSHOOT)
#undef ST_OVERSHOOT
	        ST_OVERSHOOT_KINDS
};

/* The state of a shared budget: rt/budget/pool.h. That of a process tree is made by the
 * controller, and lies apart from the results, mapped into all processes, when they are followed.
 */
struct st_budget_pool {
	uint64_t used;       /* what has been taken, with the number of the period, from 0 on */
	uint64_t put;        /* the greatest amount of a period, with its number */
	uint64_t weights[2]; /* of the threads seen in even and odd periods, with their numbers */
	uint64_t from;       /* ns of the process' CPU time, or by the clock: when the first one
	                        began; 0: not yet */
	uint64_t clock;      /* ns since, of CPU time without what was charged */
	uint64_t amount;     /* a tree's: control.budget_amount of all its processes */
	uint64_t until_ns;   /* a tree's: as in st_budget_results */
	uint32_t begins;     /* enum st_pool_begins */
};
/* The first period of a pool: there is all of it; it grows, because the process begins with
 * nothing; there is nothing, because the first window begins later. */
enum st_pool_begins { ST_POOL_FULL, ST_POOL_GROWS, ST_POOL_LATE };

/* Where a tick of CPU time found a thread. */
enum st_budget_where { ST_TICK_MEASURED, ST_TICK_PLAIN, ST_TICK_NATIVE, ST_TICK_KINDS };
struct st_budget_results {
	uint64_t until_ns;  /* of the CPU time it would have used natively: when what it had been
	                       granted first was spent, or the thread began to look for new code by
	                       breakpoints; 0: never */
	uint32_t no_native; /* not 0: the kernel lacks what is needed for ST_BUDGET_NATIVE */
	uint64_t ticks[ST_TICK_KINDS]; /* enum st_budget_where */
	uint64_t cpu_ns;               /* CPU time of the threads */
	uint64_t measured_ns;          /* of it, while they were measured */
	uint64_t audited_ns; /* of that, for which what was charged was compared with the clock */
	uint64_t charged;
	int64_t corrected; /* of it: what the clock says that the model did not, budget/audit.h */
	uint64_t periods;  /* that have begun */
	uint64_t windows;  /* in which there was a budget */
	uint64_t own_periods; /* whole periods that were over, of threads with a budget of their
	                         own */
	uint64_t own_periods_used; /* of them, those of which at least nine tenths of the budget
	                              were used */
	uint64_t backed_off;     /* times that a block began to be left out: ST_SAMPLING_ADAPTIVE */
	uint64_t most_overshoot; /* ns */
	uint64_t overshoots[ST_OVERSHOOT_KINDS];
	uint64_t n_overshoot_rows; /* may exceed ST_MAX_OVERSHOOT_ROWS: later ones were dropped */
	struct st_budget_pool pool;
};

/* A budget that was spent (section `overshoots`). */
struct st_overshoot_row {
	uint64_t tsc;     /* when; 0: not written yet */
	uint64_t over_ns; /* by how much the budget was exceeded */
};
enum { ST_MAX_OVERSHOOT_ROWS = 1 << 16 };

#endif
