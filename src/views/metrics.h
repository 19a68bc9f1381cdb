/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a profile of any kind says of its functions and locations: each metric with its values. */
#ifndef STROBE_VIEWS_METRICS_H
#define STROBE_VIEWS_METRICS_H

#include "base/error.h"
#include "profile/profile.h"

/* The values of a metric at a location. Texts live during the call only. */
struct st_metric_values {
	const char *location;      /* image:file:...:line as it is known, or the function's name */
	const char *function;      /* NULL: unknown */
	const char *metric, *unit; /* "instructions", ""; "exclusive", "ns"; "peak", "B" */
	const double *values;
	size_t n;
	bool series; /* of repeated measurements */
};

struct st_metrics_taker {
	/* ST_FAILED: memory is exhausted, and nothing follows. */
	st_status (*take)(void *of, const struct st_metric_values *v);
	void *of;
};

/*
 * Hands out, in this order: the counters of tools, for the program as a whole; of functions
 * instructions, calls and samples; of a trace of functions exclusive and inclusive time and calls,
 * of all threads together; of allocations the peak, live and allocated bytes and calls of each
 * function; of repeated measurements each series. -1 with *e: memory is exhausted.
 */
st_status st_metrics_each(const struct st_profile *p, const struct st_metrics_taker *taker,
                          struct st_error *e);

#endif
