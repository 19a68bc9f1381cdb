/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linear least squares. Rows are rotated into a triangle one after the other (QR decomposition by
 * Givens rotations: Golub and Van Loan, Matrix Computations, section 5.1), in the 64 bits of
 * precision that long double has, so that any number of points needs no memory and the
 * ill-conditioned polynomials of NIST's reference data sets come out to seven digits and more.
 */
#ifndef STROBE_STATS_LEAST_SQUARES_H
#define STROBE_STATS_LEAST_SQUARES_H

#include <math.h>
#include <stddef.h>

#include "base/error.h"

enum { ST_LS_MOST = 32 }; /* parameters */

/* Rows so far: the triangle, with what y has on it as the last column. */
struct st_ls_rows {
	size_t n, p;
	long double r[ST_LS_MOST + 1][ST_LS_MOST + 1];
	long double mean, tss; /* of y, about its mean */
};

/* Rotates a row into a row r of a triangle, so that the row's element at `at` becomes 0. Both end
 * with the element `last`. The squares of doubles neither overflow nor vanish in a long double, so
 * that the care of hypotl, which took a third of the time of a model, is not needed. */
static inline void
st_ls_rotate(long double *r, long double *row, size_t at, size_t last)
{
	const long double length = sqrtl(r[at] * r[at] + row[at] * row[at]);
	const long double cosine = r[at] / length, sine = row[at] / length;
	for (size_t k = at; k <= last; k++) {
		const long double above = r[k];
		r[k] = cosine * above + sine * row[k];
		row[k] = cosine * row[k] - sine * above;
	}
}

/* The first column of a row is 1 where the model has an intercept. */
void st_ls_begin(struct st_ls_rows *rows, size_t p);
void st_ls_add(struct st_ls_rows *rows, const double *x, double y);

struct st_ls {
	size_t n, p;
	double b[ST_LS_MOST], se[ST_LS_MOST]; /* parameters, their standard errors */
	/* Of the parameters, for residuals of variance 1: times s * s it is their covariance. */
	double inverse[ST_LS_MOST][ST_LS_MOST];
	double sse, tss; /* squares of the residuals, and of y about its mean */
	double s; /* standard deviation of the residuals; NAN: no degree of freedom is left */
};

/* ST_FAILED with *e when there are fewer points than parameters, or when the points do not
 * determine the parameters: a column is a combination of others. */
st_status st_ls_solve(const struct st_ls_rows *rows, struct st_ls *out, struct st_error *e);

/* The leverage of a point with this row: 0 to 1. */
double st_ls_leverage(const struct st_ls *fit, const double *x);

/* The probability of a parameter at least as far from 0, if it were 0: Student's t, two sides. */
double st_ls_p(const struct st_ls *fit, size_t parameter);

/* The quantile of Student's t that leaves (1 - level) / 2 on each side. */
double st_student(double level, double df);

/*
 * Criteria for choosing between models of the same points with k parameters, the variance of the
 * residuals among them; the smaller the better. AICc: Hurvich and Tsai, Biometrika 76 (1989), 297;
 * infinite when there are too few points for it.
 */
double st_aicc(size_t n, double sse, size_t k);
double st_bic(size_t n, double sse, size_t k);

#endif
