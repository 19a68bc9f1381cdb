/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Probes that cost no more than a share of the program's CPU time. Several times a second it is
 * looked at what they have cost and how often each function was called, and limit.h decides which
 * calls are timed from then on. Times of all calls are estimated from those of each stretch in
 * which the same share of them was timed.
 */
#ifndef STROBE_PROBE_BUDGET_H
#define STROBE_PROBE_BUDGET_H

#include "base/vec.h"
#include "probe/limit.h"
#include "wire/probe.h"

struct st_probes;

/* From then on one of `every` calls was timed; 0: the probe had been taken out. */
struct st_probe_step {
	uint32_t function, every;
	double seconds; /* since the begin */
};

struct st_probe_budget {
	double share; /* of the CPU time that the program would need without probes; 0: no limit */
	/* Timed sampling: in each `period` seconds calls are timed for `on` seconds, and counted in
	 * the others; on 0: they always are. Not together with a share. */
	double on, period;
	bool is_off;       /* calls are only counted now */
	size_t n_windowed; /* functions that have been told so */
	/* In seconds, until the last look. */
	double cpu, cost;
	/* When `every` has changed by half or more since the step before. */
	ST_VEC(struct st_probe_step) steps;
	bool no_memory; /* what follows is not complete: nothing is decided any more */
	/* By their numbers. */
	ST_VEC(struct st_limited) functions;
	ST_VEC(uint32_t) shown; /* in their last steps */
	ST_VEC(uint64_t) spent; /* by records */
	double begin, next;     /* CLOCK_MONOTONIC_RAW */
	double cpu_begin;       /* of the process */
	double decided_cpu, decided_cost;
	double wait;     /* until the next look */
	double patience; /* for all threads to stop */
};

/* Looks: st_probing's `look`. */
void st_probes_look(void *probes, bool ended);
void st_probe_budget_free(struct st_probe_budget *b);

#endif
