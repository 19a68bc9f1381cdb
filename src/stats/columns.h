/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Least squares for many models of the same points. One pass over the points rotates all columns
 * into a triangle. The fit of any subset of columns then needs the triangle only, so that its time
 * does not grow with the number of points, and it is as exact as a fit of the points.
 */
#ifndef STROBE_STATS_COLUMNS_H
#define STROBE_STATS_COLUMNS_H

#include <stddef.h>

#include "stats/least_squares.h"

struct st_columns {
	size_t n, p;             /* points, columns without y */
	long double *r;          /* p + 1 rows of p + 1 */
	long double *row;        /* space for one */
	long double mean, tss;   /* of y, about its weighted mean */
	long double weight;      /* sum of the weights */
	long double log_weights; /* sum of the weights' logarithms */
};

/* The caller frees in both cases. ST_FAILED: no memory. */
st_status st_columns_begin(struct st_columns *c, size_t p);
/* weight: factor of the point's squared residual; 1 for an unweighted fit. */
void st_columns_add(struct st_columns *c, const double *x, double y, double weight);
void st_columns_free(struct st_columns *c);

/* The fit by k <= ST_LS_MOST of the columns. Fails as st_ls_solve does. */
st_status st_columns_solve(const struct st_columns *c, const size_t *chosen, size_t k,
                           struct st_ls *out, struct st_error *e);

#endif
