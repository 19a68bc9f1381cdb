/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests whether values y grow faster than g, an expression of features. If they grow as g, y is a
 * straight line over g; if they grow faster, it bends upwards.
 *
 * A parabola is fitted to y over g. The bend is the share of the growth, from the least g to the
 * largest, that lies above the straight line with which the parabola begins: 0 for y = a + b g, and
 * 1 for y = g^2 from 0. It is compared with the bend of g log g at the same g, the slowest growth
 * that counts as faster.
 */
#ifndef STROBE_ANNOTATE_GROWTH_H
#define STROBE_ANNOTATE_GROWTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum st_ann_growth_verdict {
	ST_ANN_GROWTH_WITHIN,     /* growth as g log g, or faster, is excluded */
	ST_ANN_GROWTH_FASTER,     /* the bend is above half of that of g log g */
	ST_ANN_GROWTH_FEW_VALUES, /* fewer than three clearly different g, or four records */
	ST_ANN_GROWTH_NARROW,     /* the largest g is less than twice the least, or below 0 */
	ST_ANN_GROWTH_UNCERTAIN   /* the interval of the bend has both */
};

/* Probability of the verdict ST_ANN_GROWTH_FASTER if y grows as g. */
extern const double st_ann_growth_alarm;

struct st_ann_growth {
	enum st_ann_growth_verdict verdict;
	double low, high; /* the least and the largest g */
	/* The bend with its interval, of the level 1 - 2 alarm; NAN: y does not grow, or there are
	 * too few values. */
	double bend, bend_low, bend_high;
	double faster; /* the bend of g log g */
};

/* g and y: n finite values, in any order; g is changed. ST_FAILED: no memory. */
st_status st_ann_growth_judge(double *g, const double *y, size_t n, struct st_ann_growth *out);

#endif
