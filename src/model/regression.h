/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A regression of one kind: parameters, how well they fit, and how sure they are.
 *
 * All kinds minimise the squares of y's own residuals, so that they can be compared with each
 * other. A power or an exponential begins as a line through logarithms and is then improved by
 * Gauss and Newton's method.
 */
#ifndef STROBE_MODEL_REGRESSION_H
#define STROBE_MODEL_REGRESSION_H

#include "base/error.h"
#include "model/growth.h"
#include "stats/robust.h"

/* Points in any order. */
struct st_points {
	const double *x, *y;
	size_t n;
	const double *weights; /* of the squares of their residuals; NULL: all are 1 */
	/* If there are weights, they are (level / y)^2 of the curve's y: residuals are proportional
	 * to it, and have the standard deviation s where y is `level`. 0: they are alike
	 * everywhere. */
	double level;
	/* By kinds: r^2 as Perun has it of the same points without weights, where that is known, so
	 * that they need not be fitted again. NULL: it is not. */
	const double *r_square_perun;
};

/* A line through logarithms, as tools have it that do not improve it. */
struct st_logarithmic_fit {
	double b[2];
	double r_square; /* of the logarithms */
	size_t n;        /* points with a positive y */
};

struct st_regression {
	enum st_growth kind;
	size_t n, left_out; /* points; those with x <= 0, where the kind has none */
	double x_start, x_end;
	double b[ST_GROWTH_PARAMETERS], se[ST_GROWTH_PARAMETERS], p[ST_GROWTH_PARAMETERS];
	double s;              /* standard deviation of the residuals */
	double sse, tss;       /* squares of the residuals, without weights, and about the mean */
	double squares;        /* the least ones, of residuals with their weights */
	double level;          /* of the points */
	double r_square;       /* 1 - SSE / TSS */
	double r_square_cv;    /* the same of residuals of points that the fit does not know */
	double r_square_perun; /* as Perun defines it: docs/models.md */
	double aicc, bic;
	struct st_logarithmic_fit logarithms; /* of a power or an exponential */
	/* For st_regression_at: y = a[0] exp(a[1] u), where u is x or ln x, less centre. */
	double a[2], centre;
	double inverse[ST_GROWTH_PARAMETERS][ST_GROWTH_PARAMETERS]; /* of what the bands need */
};

/* ST_FAILED with *e when the points do not determine the parameters: fewer than three of them, for
 * example. */
st_status st_regression_fit(enum st_growth kind, const struct st_points *points,
                            struct st_regression *r, struct st_error *e);

double st_regression_at(const struct st_regression *r, double x);
/* The interval of that level (0.95) that has the curve at x, or (prediction) a new point there.
 * Its ends are NAN when no degree of freedom is left. */
struct st_interval st_regression_band(const struct st_regression *r, double x, double level,
                                      bool prediction);
/* The same of a parameter. */
struct st_interval st_regression_parameter(const struct st_regression *r, size_t i, double level);
/* The area under the curve from low to high; exact. NAN outside of the kind's x. */
double st_regression_integral(const struct st_regression *r, double low, double high);

/* Inside: the row of a kind that is linear in its parameters. */
void st_regression_row(enum st_growth kind, double x, double *row);
/* Inside: power and exponential. */
st_status st_regression_curve(enum st_growth kind, const struct st_points *points,
                              struct st_regression *r, struct st_error *e);
void st_regression_gradient(const struct st_regression *r, double x, double *row);

#endif
