/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A campaign: one run selects functions, a number of runs without noise give the baseline, and each
 * experiment puts noise into one function, until a limit is reached or nothing is left to try.
 * Further runs without noise between the experiments keep changes of the machine from being taken
 * for an effect of the noise.
 */
#ifndef STROBE_BLOW_CAMPAIGN_H
#define STROBE_BLOW_CAMPAIGN_H

#include "blow/corpus.h"
#include "blow/indicators.h"
#include "blow/run.h"

/* Strategies that choose the function of the next experiment. P(identifier, "name") */
#define ST_BLOW_PICKS(P)                                                                           \
	P(BEST, "best")                                                                            \
	P(WEIGHTED, "weighted")
enum st_blow_pick {
#define P(id, name) ST_BLOW_PICK_##id,
	ST_BLOW_PICKS(P)
#undef P
	        ST_BLOW_PICK_COUNT
};

/* Workers that make the runs. */
struct st_blow_workers {
	/* Begins a run with a limit (s; 0: none). 0, or -1 with *e. */
	st_status (*begin)(void *arg, const struct st_blow_run *asked, double limit,
	                   struct st_error *e);
	/* Waits for the run that was begun first of those that it has not returned, or for a
	 * signal. 0, or -1 with *e. */
	st_status (*end)(void *arg, const struct st_blow *b, struct st_blow_run *run,
	                 struct st_error *e);
	/* Makes the run that selects functions. 0, or -1 with *e. */
	st_status (*select)(void *arg, struct st_blow *b, struct st_blow_run *run,
	                    struct st_error *e);
	void *arg;
};

/* How far a campaign has come. */
struct st_blow_state {
	size_t done, left;   /* experiments */
	double seconds_left; /* by the mean of the experiments so far, and the limits; NAN: not
	                        known */
	uint32_t next;       /* the function that gets noise in the next run; ST_BLOW_NONE: none */
	bool ended;          /* there is no next run */
};

struct st_blow_options {
	struct st_blow_how how;
	struct st_blow_criteria criteria;
	struct st_blow_choice noise;
	enum st_blow_pick pick;
	size_t quiet_runs;   /* runs without noise before the first experiment; at least 3 */
	size_t plain_runs;   /* runs without probes among these: overhead.h */
	size_t clock_runs;   /* runs without noise after these that read both clocks: clocks.h */
	double most_slower;  /* greatest total noise of a run, as a multiple of its run time */
	bool full;           /* try every noise in every function */
	size_t most_runs;    /* experiments; 0: no limit */
	double most_seconds; /* duration of the campaign; 0: no limit */
	uint64_t seed;
	const char *journal, *identity; /* NULL: none; see struct st_experiment_plan */
	/* Called before each run, and at the end; may be NULL. */
	void (*show)(void *arg, const struct st_blow *b, const struct st_blow_state *state);
	bool (*interrupted)(void *arg); /* may be NULL */
	void *arg;
	/* Tests replace st_blow_select and st_blow_run_once by these; NULL: not replaced. */
	st_status (*select)(void *arg, struct st_blow *b, struct st_blow_run *run,
	                    struct st_error *e);
	st_status (*run)(void *arg, const struct st_blow *b, struct st_blow_run *run,
	                 struct st_error *e);
	/* In place of runs without probes, which are not made if `run` is given alone. */
	st_status (*run_plain)(void *arg, struct st_blow_run *run, struct st_error *e);
	/* In place of runs that read both clocks, with the same rule. */
	st_status (*run_clocks)(void *arg, struct st_blow_run *run, struct st_error *e);
	/* Makes runs in place of st_blow_run_once, several at a time: experiments are chosen in
	 * rounds, by the results of the rounds before. NULL: there are no workers. */
	const struct st_blow_workers *workers;
};

enum st_blow_end { ST_BLOW_COMPLETE, ST_BLOW_RUNS, ST_BLOW_SECONDS, ST_BLOW_INTERRUPTED };

struct st_blow_campaign;

/* Opens the journal and takes over its runs; selects functions unless the journal has a selection.
 * *o and *b must outlive the campaign. NULL with *e. */
struct st_blow_campaign *st_blow_open(const struct st_blow_options *o, struct st_blow *b,
                                      struct st_error *e);
/* The mode of a campaign, for its runs: b->seed, b->speedup and the like. */
void st_blow_set_mode(struct st_blow *b, const struct st_blow_options *o);
/* Makes all runs. 0, or -1 with *e; b then has the runs so far. */
st_status st_blow_run(struct st_blow_campaign *c, enum st_blow_end *end, struct st_error *e);
/* A message about lines dropped from the journal; NULL: none were dropped. */
const char *st_blow_dropped(const struct st_blow_campaign *c);
void st_blow_close(struct st_blow_campaign *c);

/* The fault of a run: its own, or the first difference from the runs without noise. */
enum st_blow_fault st_blow_judge(const struct st_blow *b, const struct st_blow_run *run);
/* Whether the run ended without a fault: only such runs are part of the numbers. */
static inline bool
st_blow_is_good(const struct st_blow_run *r)
{
	return r->fault == ST_BLOW_NO_FAULT;
}
/* Whether it is such a run without noise. */
static inline bool
st_blow_is_quiet(const struct st_blow_run *r)
{
	return r->function == ST_BLOW_NONE && st_blow_is_good(r);
}
/* Results of the runs for one function. */
struct st_blow_finding {
	size_t experiments; /* without a fault */
	double fitness; /* mean influence, or opportunity of a speed-up; 0: there was no experiment
	                 */
	struct st_blow_slope slope; /* of the run's time over the function's */
	/* Its points: their number, and the mean and the sum of squared deviations of their x,
	 * which is the function's time divided by its mean without noise. */
	size_t points;
	double x_mean, x_squares;
	double share, calls; /* without noise: share of the run time, 0 to 1; mean count */
	double mean_ns;      /* mean time of a call without noise */
};
/* The indicators of a thread in an experiment of a speed-up. mean_ns: of the calls of its function
 * without noise. */
struct st_blow_speedup st_blow_speedup_in(const struct st_blow *b, const struct st_blow_run *r,
                                          const struct st_blow_span *span, double mean_ns);
/* The indicator of an experiment of a speed-up: the sum of the threads' scores (indicators.h); NAN:
 * no thread got noise, or none calls the function. mean_ns: of its calls without noise. */
double st_blow_opportunity(const struct st_blow *b, const struct st_blow_run *r, double mean_ns);
/* -1: memory is exhausted. */
st_status st_blow_find(const struct st_blow *b, uint32_t function, struct st_blow_finding *out);
/* Means of the runs without noise. */
struct st_blow_baseline {
	size_t n;
	double total_ns, cpu_ns;
	double total_sd; /* standard deviation of total_ns; NAN with fewer than two runs */
	int exit;
	bool has_output; /* all runs wrote the same output, whose hash is `output` */
	uint64_t output;
};
struct st_blow_baseline st_blow_baseline_of(const struct st_blow *b);

#endif
