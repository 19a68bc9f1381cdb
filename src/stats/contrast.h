/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Least squares with up to three coefficients, and the uncertainty of sums of them (contrasts)
 * where the values need not have the same variance.
 *
 * The variance is the larger one of two estimates: the usual one, and HC3 (MacKinnon and White,
 * Journal of Econometrics 29 (1985), 305), in which each value has the variance of its own
 * residual. The degrees of freedom are Satterthwaite's, of the share that each value has in the
 * variance; the lower one is taken for equal spreads and for spreads that the caller gives. If one
 * value determines a contrast, they are near 0, and its interval is accordingly wide. Values
 * without residuals, such as exact counts, have n - p degrees of freedom.
 */
#ifndef STROBE_STATS_CONTRAST_H
#define STROBE_STATS_CONTRAST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { ST_CONTRAST_MOST = 3 };

struct st_contrast_fit {
	size_t n, p;
	const double *x; /* n rows of p */
	const double *y, *spread;
	double inverse[ST_CONTRAST_MOST][ST_CONTRAST_MOST]; /* of X'X */
	double b[ST_CONTRAST_MOST];
	double variance; /* of the residuals; rounding does not make it 0 */
	bool exact;      /* there are no residuals */
};

struct st_contrast {
	double value, se, df; /* df 0: no interval can be given */
};

/* Fits y = x b. spread: relative standard deviations that the n values may have; NULL: equal ones.
 * The arrays must stay as long as the fit is used. ST_FAILED: n <= p, or the columns are not
 * independent. */
st_status st_contrast_fit(const double *x, const double *y, const double *spread, size_t n,
                          size_t p, struct st_contrast_fit *out);

/* Returns the estimate of the sum of weights[k] * b[k]. */
struct st_contrast st_contrast_find(const struct st_contrast_fit *f, const double *weights);

/* Returns the quantile of Student's distribution by which se is multiplied for a one-sided error of
 * alpha. INFINITY: there is less than one degree of freedom. */
double st_contrast_quantile(double alpha, double df);

#endif
