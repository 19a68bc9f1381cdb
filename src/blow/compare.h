/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two campaigns compared: whether they rank the functions alike. */
#ifndef STROBE_BLOW_COMPARE_H
#define STROBE_BLOW_COMPARE_H

#include "base/error.h"
#include "blow/progress.h"

/* The result for a function: its slope, in causal mode its gain at the first progress point if it
 * takes no time, and for a speed-up its fitness, which has no interval. */
struct st_blow_effect {
	double at, low, high; /* with the 95 % interval; at is NAN if it was not measured */
	double rank;          /* 1: the greatest; equal results share the mean of their ranks */
};
/* A function that both campaigns have measured. */
struct st_blow_pair {
	uint32_t function; /* of the first campaign */
	struct st_blow_effect effects[2];
};
struct st_blow_comparison {
	ST_VEC(struct st_blow_pair) pairs; /* by the rank in the first campaign */
	size_t unmeasured;                 /* functions of both that one could not measure */
	size_t alone[2];                   /* functions that only this campaign has tried */
	/* Spearman's rank correlation, NAN with fewer than two different results; and its 95 %
	 * interval, NAN with fewer than four functions or if the order is the same or reversed. */
	double correlation, low, high;
};
/* The name of the result that the mode compares: "slope", "gain" or "fitness". */
const char *st_blow_effect_name(const struct st_blow *b);
/* Functions are the same if symbol and file name of the image are. The caller frees pairs.v. -1
 * with *e: the campaigns are of different modes or progress points, or memory is exhausted. */
st_status st_blow_compare(const struct st_blow *a, const struct st_blow *b,
                          struct st_blow_comparison *out, struct st_error *e);
/* Whether the intervals of the two results have no value in common. */
bool st_blow_differs(const struct st_blow_pair *pair);

#endif
