/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the noises tried in each function, and chooses the next experiment. */
#ifndef STROBE_BLOW_PICK_H
#define STROBE_BLOW_PICK_H

#include "blow/campaign.h"
#include "blow/progress.h"

struct st_blow_plan {
	const struct st_blow *b;
	const struct st_blow_noises *database;
	double run_ns; /* mean run time without noise */
	double most_slower;
	bool full;
	double longest_ns; /* the longest noise that a call may have; 0: no limit */
	size_t repeat;     /* times that each noise is tried, 0: once */
	double sampling;   /* of a speed-up; see struct st_blow_choice */
	enum st_blow_pick pick;
	uint64_t seed;
};

struct st_blow_try {
	uint32_t function;
	struct st_blow_noises noises;
	size_t *done; /* for each noise, how often it was tried; at most the plan's `repeat` */
	size_t left;  /* experiments that are not done */
	struct st_blow_finding finding;
	double *worths; /* of virtual speed-ups, for each noise: st_blow_speedup_worth */
	size_t pending; /* experiments chosen since then, whose results are not known yet */
	size_t runs;    /* runs of the campaign when `finding` was computed; 0: it was not */
};
struct st_blow_tries {
	struct st_blow_plan plan;
	ST_VEC(struct st_blow_try) list; /* of chosen functions, by descending time */
	size_t done, left;               /* noises of all of these functions */
	uint64_t random;
};

/* Takes the runs in plan->b as done. -1: memory is exhausted. */
st_status st_blow_tries_begin(struct st_blow_tries *t, const struct st_blow_plan *plan);
/* The next experiment; *left: there is one. -1: memory is exhausted. */
st_status st_blow_tries_next(struct st_blow_tries *t, struct st_blow_run *next, bool *left);
/* The calls with noise, in the run of the selection, of an experiment with the function. */
uint64_t st_blow_noisy_calls(const struct st_blow *b, uint32_t function);
/* The longest that one noise in the function may last, by --max-slowdown; 0: it has no limit. */
double st_blow_tries_most_ns(const struct st_blow_tries *t, uint32_t function);
/* Expected duration of the noise in ns; yields are expected to take their mean so far. */
double st_blow_tries_ns(const struct st_blow_tries *t, struct st_blow_noise noise);
/*
 * information.c: the information that an experiment with noise of `ns` in each call is expected to
 * give about the function's slope, in nats by the time that the run takes (1: a run without noise,
 * or with `windows` any window). INFINITY: nothing is known of the slope yet.
 */
double st_blow_information(const struct st_blow_finding *f, double ns, bool windows);
/*
 * worth.c: the benefit of another experiment with a virtual speed-up of `percent`: the width of the
 * interval of the gain, times the greatest gain that it allows. Before the first one, both are the
 * greatest gain that a tried speed-up of more than that allows. INFINITY: nothing is known; 0 if no
 * experiment with it was without a fault.
 * `gains` has the gains of the percents that were tried, in ascending order.
 */
double st_blow_speedup_worth(const struct st_blow_tried_gain *gains, size_t n, uint64_t percent);
/* Fills in the worths of a function's speed-ups, by the runs so far. -1: memory is exhausted. */
st_status st_blow_worths(const struct st_blow *b, struct st_blow_try *try);
void st_blow_tries_free(struct st_blow_tries *t);

/*
 * Draws one of n candidates, which are sorted by ascending fitness. They are divided into five
 * intervals with the weights 5, 4, 3, 2 and 1; within an interval all have the same chance. Fewer
 * than five candidates all have the same chance.
 */
size_t st_blow_weighted(uint64_t *random, size_t n);

#endif
