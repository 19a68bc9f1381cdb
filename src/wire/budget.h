/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of a time budget: part of the plan. Amounts are in sixteenths of a TSC tick. */
#ifndef STROBE_WIRE_BUDGET_H
#define STROBE_WIRE_BUDGET_H

#include <stdint.h>

enum { ST_BUDGET_UNITS = 16 }; /* of an amount in a tick */
enum { ST_BUDGET_HZ = 250 };   /* ticks of a thread's CPU time, at least */

/*
 * ST_BUDGET_POLICY(identifier, "name"): what threads do whose budget is spent. They execute the
 * program's own code until it is granted again; or plain code in the cache, as in Arafa,
 * "Time-Aware Dynamic Binary Instrumentation" (PhD thesis, Waterloo 2017), section 3.2: TRACE looks
 * in each block whether it has been granted, STRICT when a thread next comes to the dispatcher;
 * CONDITIONAL looks only there whether it is spent, too.
 */
#define ST_BUDGET_POLICIES(ST_BUDGET_POLICY)                                                       \
	ST_BUDGET_POLICY(NATIVE, "native")                                                         \
	ST_BUDGET_POLICY(TRACE, "trace")                                                           \
	ST_BUDGET_POLICY(STRICT, "strict")                                                         \
	ST_BUDGET_POLICY(CONDITIONAL, "conditional")
enum st_budget_policy {
#define ST_BUDGET_POLICY(id, name) ST_BUDGET_##id,
	ST_BUDGET_POLICIES(ST_BUDGET_POLICY)
#undef ST_BUDGET_POLICY
};

/* ST_BUDGET_SHARE(identifier, "name"): whose a budget is: each thread's own; the process', for
 * whoever comes first; the process', by the threads' priorities; that of all processes that are
 * followed, for whoever comes first. */
#define ST_BUDGET_SHARES(ST_BUDGET_SHARE)                                                          \
	ST_BUDGET_SHARE(THREAD, "thread")                                                          \
	ST_BUDGET_SHARE(PROCESS, "process")                                                        \
	ST_BUDGET_SHARE(PRIORITY, "priority")                                                      \
	ST_BUDGET_SHARE(TREE, "tree")
enum st_budget_share {
#define ST_BUDGET_SHARE(id, name) ST_SHARE_##id,
	ST_BUDGET_SHARES(ST_BUDGET_SHARE)
#undef ST_BUDGET_SHARE
	        ST_BUDGET_N_SHARES
};

/* ST_BUDGET_SAMPLING(identifier, "name"): when it is granted, and for what: at the beginning of a
 * period; in bursts over all of it (rt/budget/bursts.h); for cold code first
 * (rt/budget/adaptive.h). */
#define ST_BUDGET_SAMPLINGS(ST_BUDGET_SAMPLING)                                                    \
	ST_BUDGET_SAMPLING(WINDOW, "window")                                                       \
	ST_BUDGET_SAMPLING(BURSTS, "bursts")                                                       \
	ST_BUDGET_SAMPLING(ADAPTIVE, "adaptive")
enum st_budget_sampling {
#define ST_BUDGET_SAMPLING(id, name) ST_SAMPLING_##id,
	ST_BUDGET_SAMPLINGS(ST_BUDGET_SAMPLING)
#undef ST_BUDGET_SAMPLING
	        ST_BUDGET_N_SAMPLINGS
};

/* ST_BUDGET_CLOCK(identifier, "name"): what periods are of: CPU time without what was charged, or
 * the time of day, for programs that sleep most of the time. */
#define ST_BUDGET_CLOCKS(ST_BUDGET_CLOCK)                                                          \
	ST_BUDGET_CLOCK(CPU, "cpu")                                                                \
	ST_BUDGET_CLOCK(WALL, "wall")
enum st_budget_clock {
#define ST_BUDGET_CLOCK(id, name) ST_CLOCK_##id,
	ST_BUDGET_CLOCKS(ST_BUDGET_CLOCK)
#undef ST_BUDGET_CLOCK
	        ST_BUDGET_N_CLOCKS
};

/* A process looks for new code by breakpoints after this part of its first period, or, where
 * first_ns is the second, from its first tick on, with no window before. */
enum { ST_WATCHED_AFTER = 8 };
#define ST_WATCHES_AT_ONCE UINT64_MAX

struct st_budget_plan {
	uint64_t amount;    /* for each period, at the start: control.budget_amount has what is
	                       valid now */
	uint64_t most;      /* the controller may raise the amount up to this */
	uint64_t period_ns; /* of a thread's CPU time without what was charged, or by the clock; 0:
	                       there is no budget */
	uint64_t first_ns;  /* before the first period of the program's first thread, or
	                       ST_WATCHES_AT_ONCE */
	uint64_t ticks_per_second; /* of the TSC */
	uint32_t clock;            /* enum st_budget_clock */
	uint32_t policy;           /* enum st_budget_policy */
	uint32_t share;            /* enum st_budget_share */
	uint32_t sampling;         /* enum st_budget_sampling */
	uint32_t bursts;           /* of a period; 0: it is granted at once */
};

#endif
