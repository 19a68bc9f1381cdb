/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of many functions changed, by their values in repeated runs of two versions.
 *
 * The test of each function assumes no distribution: if the version made no difference, every
 * value could as well belong to the other version, so all divisions of the values into two samples
 * of these sizes are equally likely. P is the share of divisions in which the ranks of the two
 * samples are at least as far apart (the test of Mann and Whitney; with ties the same by mean
 * ranks). Ranks are used because the times of a busy machine have outliers.
 *
 * The size of a change is Hodges' and Lehmann's shift with Moses' interval, which follow from the
 * same ranks. The P of all functions are adjusted by the method of Benjamini and Hochberg, so that
 * on average at most a share alpha of the reported changes is false. A function is not tested if it
 * cannot have changed by the smallest effect that matters, because its mean cost over all runs of
 * both versions is less than half of that. This selection does not depend on the version, so it
 * preserves the level (Bourgon, Gentleman and Huber, PNAS 107 (2010), 9546), and the adjustment of
 * the other functions is smaller.
 *
 * Counts that are equal in all runs of a version need no test: their difference is exact.
 */
#ifndef STROBE_CHECK_DISTRIBUTION_H
#define STROBE_CHECK_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "check/finding.h"
#include "stats/robust.h"

/* Costs of a function in each run of the baseline and of the target. */
struct st_sample_pair {
	const double *from, *to;
	size_t n_from, n_to;
	/* Costs of the whole program in the same unit; effects are shares of the baseline's. For a
	 * series that is no part of a whole, these are its own medians. */
	double whole_from, whole_to;
	bool counts; /* counts of events, which are exact: equal values have no noise */
};

struct st_distribution_choice {
	double alpha;    /* share of false changes among the reported ones */
	double smallest; /* share of the whole: smaller effects do not matter */
	double level;    /* of the intervals */
	size_t rounds;   /* random divisions, if there are too many to try all */
	uint64_t seed;
};

/* The default of the smallest effect that matters, and the multiple of it that is severe. */
#define ST_DISTRIBUTION_SMALLEST 0.02
#define ST_DISTRIBUTION_SEVERE 5
#define ST_DISTRIBUTION_USUAL                                                                      \
	(struct st_distribution_choice)                                                            \
	{                                                                                          \
		.alpha = 0.05, .smallest = ST_DISTRIBUTION_SMALLEST, .level = 0.95,                \
		.rounds = 20000, .seed = 1                                                         \
	}

/* The evidence for the kind. */
enum st_distribution_evidence {
	ST_EVIDENCE_TEST,  /* p, q */
	ST_EVIDENCE_COUNT, /* counts that are equal in all runs of each version */
	ST_EVIDENCE_SMALL, /* its cost is too small to matter */
	ST_EVIDENCE_FEW,   /* no difference could be significant with this number of runs */
};

struct st_distribution {
	enum st_finding_kind kind;
	enum st_distribution_evidence evidence;
	double from, to;          /* medians; NAN: no value */
	struct st_interval shift; /* of the target from the baseline; ends NAN: not known */
	double p, q;              /* NAN: not tested */
	double least_p;           /* the least P that is possible with this number of runs */
};

/*
 * Degradation: q <= alpha, and the shift is at least `smallest` of the baseline's whole; severe if
 * the whole interval is beyond ST_DISTRIBUTION_SEVERE times that. Maybe: q <= alpha and only an end
 * of the interval reaches it. No change: the interval lies within it. Unknown: otherwise.
 * The result follows from the seed. ST_FAILED: no memory.
 */
st_status st_distribution_compare(const struct st_sample_pair *pairs, size_t n,
                                  const struct st_distribution_choice *how,
                                  struct st_distribution *out);

/* The least possible P: 2 divided by the number of divisions. */
double st_distribution_least_p(size_t n_from, size_t n_to);
/* The number of runs of each version with which one change among the tests can be significant. */
size_t st_distribution_runs_needed(size_t tests, double alpha);

#endif
