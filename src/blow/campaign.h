/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A campaign: functions are selected in one run; some runs are without noise; then one function
 * after the other gets noise, until a limit is reached or nothing is left to try. Now and then a
 * run without noise comes in between, so that what changes meanwhile is not taken for an effect.
 */
#ifndef STROBE_BLOW_CAMPAIGN_H
#define STROBE_BLOW_CAMPAIGN_H

#include "blow/corpus.h"
#include "blow/indicators.h"
#include "blow/run.h"

/* How the function of the next experiment is chosen. P(identifier, "name") */
#define ST_BLOW_PICKS(P)                                                                           \
	P(BEST, "best")                                                                            \
	P(WEIGHTED, "weighted")
enum st_blow_pick {
#define P(id, name) ST_BLOW_PICK_##id,
	ST_BLOW_PICKS(P)
#undef P
	        ST_BLOW_PICK_COUNT
};

struct st_blow_options {
	struct st_blow_how how;
	struct st_blow_criteria criteria;
	struct st_blow_choice noise;
	enum st_blow_pick pick;
	size_t quiet_runs;  /* without noise, before the first experiment; at least 3 */
	double most_slower; /* a run may last that many times longer than without noise, and 1 */
	bool full;          /* every function with every noise */
	size_t most_runs;   /* experiments; 0: no limit */
	double most_seconds;
	uint64_t seed;
	const char *journal,
	        *identity; /* NULL: none; struct st_experiment_plan says what they are */
	/* Told before each run; may be NULL. next: the function that gets noise. */
	void (*show)(void *arg, const struct st_blow *b, size_t done, size_t left, uint32_t next);
	bool (*interrupted)(void *arg); /* may be NULL */
	void *arg;
	/* In the place of st_blow_select and st_blow_run_once, for tests; NULL: these. */
	st_status (*select)(void *arg, struct st_blow *b, struct st_blow_run *run,
	                    struct st_error *e);
	st_status (*run)(void *arg, const struct st_blow *b, struct st_blow_run *run,
	                 struct st_error *e);
};

enum st_blow_end { ST_BLOW_COMPLETE, ST_BLOW_RUNS, ST_BLOW_SECONDS, ST_BLOW_INTERRUPTED };

struct st_blow_campaign;

/* Opens the journal, and takes what it has; selects functions, if it has none. What is pointed to
 * outlives the campaign. NULL with *e. */
struct st_blow_campaign *st_blow_open(const struct st_blow_options *o, struct st_blow *b,
                                      struct st_error *e);
/* All runs. 0, or -1 with *e; what was measured until then is in b. */
st_status st_blow_run(struct st_blow_campaign *c, enum st_blow_end *end, struct st_error *e);
/* A sentence on what was dropped from the journal; NULL: nothing was. */
const char *st_blow_dropped(const struct st_blow_campaign *c);
void st_blow_close(struct st_blow_campaign *c);

/* A run that can be judged. */
static inline bool
st_blow_is_good(const struct st_blow_run *r)
{
	return r->fault == ST_BLOW_NO_FAULT;
}
/* What the runs say of a function. */
struct st_blow_finding {
	size_t experiments;         /* that could be judged */
	double fitness;             /* mean influence; 0: there was none */
	struct st_blow_slope slope; /* of the run's time over the function's */
	double share, calls;        /* of the run's time, and of calls, without noise: means */
	double mean_ns;             /* of a call */
};
/* -1: memory is exhausted. */
st_status st_blow_find(const struct st_blow *b, uint32_t function, struct st_blow_finding *out);
/* The gain of a virtual speed-up of the function by so many percent. -1: memory is exhausted. */
st_status st_blow_find_gain(const struct st_blow *b, uint32_t function, uint64_t percent,
                            struct st_blow_gain *out);
/* Means of the runs without noise. */
struct st_blow_baseline {
	size_t n;
	double total_ns, cpu_ns;
	double total_sd; /* standard deviation; NAN of one run */
	int exit;
	bool has_output; /* all wrote the same */
	uint64_t output;
};
struct st_blow_baseline st_blow_baseline_of(const struct st_blow *b);

#endif
