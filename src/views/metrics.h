/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hands out each metric of the functions and locations of a profile of any kind, with its values.
 */
#ifndef STROBE_VIEWS_METRICS_H
#define STROBE_VIEWS_METRICS_H

#include "base/error.h"
#include "profile/profile.h"

/* The origin of a value. */
enum st_metric_source {
	ST_METRIC_COUNTER,  /* counters of tools, of the program as a whole */
	ST_METRIC_FUNCTION, /* functions of a profile */
	ST_METRIC_TRACE,    /* functions of a trace, of all threads together */
	ST_METRIC_MEMORY,   /* functions that ask for memory */
	ST_METRIC_TABLE,    /* rows of tables of tools */
	ST_METRIC_SERIES,   /* repeated measurements */
	ST_METRIC_SOURCES
};

/* The uncertainty of a value. */
enum st_metric_noise {
	ST_METRIC_EXACT,   /* a count: another run of the same work has the same */
	ST_METRIC_SAMPLED, /* a number of samples */
	ST_METRIC_NOISY,   /* a measured value, such as a time */
};

/* The values of a metric at a location. Texts are valid during the call only; NULL: unknown. */
struct st_metric_values {
	enum st_metric_source source;
	enum st_metric_noise noise;
	bool greatest;             /* of values at one location, the greatest counts */
	bool additive;             /* values of all locations add up to the total */
	const char *table;         /* name of a tool's table; NULL: no table */
	const char *location;      /* image:file:...:line as far as known, or the function */
	const char *lasting;       /* the location without what differs from run to run: addresses
	                            * of locks, threads; NULL: nothing does */
	const char *function;      /* NULL: the location is no function */
	const char *metric, *unit; /* "instructions", ""; "exclusive", "ns"; "peak", "B" */
	const char *image, *build_id, *file; /* of the function */
	uint64_t offset;                     /* in the image */
	const struct st_series *series;      /* NULL: no repeated measurements */
	const double *values;
	size_t n;
};

struct st_metrics_taker {
	/* Returns ST_FAILED when memory is exhausted; no further call follows. */
	st_status (*take)(void *of, const struct st_metric_values *v);
	void *of;
};

/*
 * Hands out all values of the profile, in the order of the sources above: counters; of functions
 * instructions, calls and samples; of a trace exclusive and inclusive time, and calls; of
 * allocations peak, live and allocated bytes, and calls; of tables each sum, the keys being the
 * location; each series. -1 with *e: memory is exhausted.
 */
st_status st_metrics_each(const struct st_profile *p, const struct st_metrics_taker *taker,
                          struct st_error *e);
/* Whether a location or function has that name, or fits the shell pattern. name NULL: false. */
bool st_metrics_fit(const char *pattern, const char *name);

#endif
