/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of many functions changed, by what was measured of each in repeated runs of two versions.
 *
 * Each function has a test that supposes no distribution: if the version made no difference, every
 * value could as well belong to the other one, so all divisions of the values into two samples of
 * these sizes are equally likely. P is the share of divisions in which the ranks of the two samples
 * are at least as far apart (the test of Mann and Whitney; with ties the same by mean ranks). Ranks
 * are taken because the times of a busy machine have values that are far off.
 *
 * The size of a change is Hodges' and Lehmann's shift with Moses' interval, which follow from the
 * same ranks. P of all functions are adjusted after Benjamini and Hochberg, so that of the changes
 * that are reported a share of at most alpha is false on average. A function that cannot have
 * changed by the smallest effect that matters, because it does not cost half of that on average
 * over all runs of both versions, is not tested: this selection does not depend on the version, so
 * it takes nothing from the level (Bourgon, Gentleman and Huber, PNAS 107 (2010), 9546), and the
 * other functions pay for fewer tests.
 *
 * Counts that are equal in all runs of a version need no test: their difference is known.
 */
#ifndef STROBE_CHECK_DISTRIBUTION_H
#define STROBE_CHECK_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "check/finding.h"
#include "stats/robust.h"

/* Values of a function, one for each run: cost of the baseline, of the target. */
struct st_sample_pair {
	const double *from, *to;
	size_t n_from, n_to;
	/* What the whole program costs with each, in the same unit: effects are shares of the
	 * baseline's. If a series stands for itself: its own medians. */
	double whole_from, whole_to;
	bool counts; /* counts of events: equal ones are the same without a doubt */
};

struct st_distribution_choice {
	double alpha;    /* share of false changes among those that are reported */
	double smallest; /* share of the whole: smaller effects do not matter */
	double level;    /* of the intervals */
	size_t rounds;   /* divisions that are tried by chance where there are too many of them */
	uint64_t seed;
};

/* The smallest effect that matters where the user says nothing, and how much more is severe. */
#define ST_DISTRIBUTION_SMALLEST 0.02
#define ST_DISTRIBUTION_SEVERE 5
#define ST_DISTRIBUTION_USUAL                                                                      \
	(struct st_distribution_choice)                                                            \
	{                                                                                          \
		.alpha = 0.05, .smallest = ST_DISTRIBUTION_SMALLEST, .level = 0.95,                \
		.rounds = 20000, .seed = 1                                                         \
	}

/* How the kind is known. */
enum st_distribution_evidence {
	ST_EVIDENCE_TEST,  /* p, q */
	ST_EVIDENCE_COUNT, /* counts that are equal in all runs of each version */
	ST_EVIDENCE_SMALL, /* it costs too little to matter */
	ST_EVIDENCE_FEW,   /* so few runs that no difference could be told from chance */
};

struct st_distribution {
	enum st_finding_kind kind;
	enum st_distribution_evidence evidence;
	double from, to;          /* medians; NAN: no value */
	struct st_interval shift; /* of the target from the baseline; ends NAN: not known */
	double p, q;              /* NAN: not tested */
	double least_p;           /* the least one that this number of runs can have */
};

/*
 * Degradation: q <= alpha, and the shift is at least `smallest` of the baseline's whole; severe if
 * the whole interval is beyond ST_DISTRIBUTION_SEVERE times that. Maybe: q <= alpha and only an end
 * of the interval reaches it. No change: the interval lies within it. Unknown: all else.
 * The result follows from the seed. ST_FAILED: no memory.
 */
st_status st_distribution_compare(const struct st_sample_pair *pairs, size_t n,
                                  const struct st_distribution_choice *how,
                                  struct st_distribution *out);

/* The least P of so many values on each side: 2 divided by the number of divisions. */
double st_distribution_least_p(size_t n_from, size_t n_to);
/* How many runs each version needs, so that one change among that many tests can be told. */
size_t st_distribution_runs_needed(size_t tests, double alpha);

#endif
