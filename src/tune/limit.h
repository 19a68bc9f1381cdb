/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search for a limit: the largest budget under which a program still serves well enough, or the
 * best threshold that it keeps under one.
 */
#ifndef STROBE_TUNE_LIMIT_H
#define STROBE_TUNE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/vec.h"
#include "report/text.h"

/* A threshold must be kept in this share of the readings, of which there must be at least
 * ST_LIMIT_READINGS. */
#define ST_LIMIT_KEPT 0.99
enum { ST_LIMIT_LEVELS = 100, ST_LIMIT_READINGS = 10 };

/* With the budget or the threshold that was found, further runs share a log (--unique-log): at most
 * ST_LIMIT_RUNS, until this share of the instructions has been measured. */
enum { ST_LIMIT_RUNS = 10 };
#define ST_LIMIT_COVERED 0.99

/* The readings of the source in one or several runs. */
struct st_quality {
	size_t readings, kept;
	double median; /* of several runs: the mean of theirs */
	double worst;  /* the best threshold that enough of the readings keep; of several runs the
	                  worst of theirs */
};

/* A budget or threshold that was tried. */
struct st_limit_step {
	double level; /* share of the period, or threshold */
	struct st_quality quality;
	uint64_t instructions; /* of those that the reference has, in the last run */
	bool holds;
};

struct st_limit {
	bool of_threshold; /* else of the budget */
	bool lower;        /* the metric is to be at most the threshold, else at least */
	const char *tool, *source, *policy, *command;
	double threshold;      /* as it was given */
	double budget, period; /* share, the most; seconds */
	size_t repeat;
	uint64_t instructions; /* that the program executes at all */
	struct st_quality native;
	ST_VEC(struct st_limit_step) steps; /* in the order of their runs */
	bool complete;                      /* the search came to its end */
	bool found;
	size_t best; /* the step */
	/* Of the instructions that the program executes, how many had been measured after each of
	 * n_runs runs with the best level that share a log. */
	uint64_t covered[ST_LIMIT_RUNS];
	size_t n_runs;
};

/* Sums up readings of a source, which are sorted for it. values: n of them. */
struct st_quality st_quality_of(double *values, size_t n, double threshold, bool lower);
/* Takes another run's along. */
void st_quality_add(struct st_quality *sum, const struct st_quality *one, bool lower);
bool st_quality_holds(const struct st_quality *q);

/*
 * The largest i of 1 to n with test(i) > 0, if that is so for all below it: n first, then by
 * halves. 0: there is none; -1: a test failed (it returned less than 0).
 */
int st_limit_search(int n, int (*test)(void *arg, int i), void *arg);
/* After how many of these runs this share of the instructions had been measured; 0: after none. */
size_t st_limit_runs_to(const struct st_limit *l, double share);
/* The level i of ST_LIMIT_LEVELS; 0: the threshold as it was given. */
double st_limit_level(const struct st_limit *l, int i);

void st_limit_print(const struct st_limit *l, FILE *out, struct st_style style);
/* malloc'ed; NULL and *e on failure. */
char *st_limit_json(const struct st_limit *l, struct st_error *e);

#endif
