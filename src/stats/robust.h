/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where values lie and how far they spread, also when some of them are far off. */
#ifndef STROBE_STATS_ROBUST_H
#define STROBE_STATS_ROBUST_H

#include <stddef.h>

#include "base/status.h"

/* An estimate and the interval that it lies in. */
struct st_interval {
	double at, low, high;
};

/* The share k / n, with the interval of Clopper and Pearson (Biometrika 26 (1934), 404). n 0: the
 * interval is from 0 to 1. */
struct st_interval st_share(size_t k, size_t n, double level);

void st_sort_values(double *v, size_t n);

/* Of n > 0 values. sd: with n - 1; NAN of one value. */
double st_mean(const double *v, size_t n);
double st_sd(const double *v, size_t n);

/* Of sorted values, n > 0: the quantile q, 0 to 1, between the two values that it falls between
 * (type 7 of Hyndman and Fan, American Statistician 50 (1996), 361, as R and NumPy have it). */
double st_sorted_quantile(const double *sorted, size_t n, double q);

/* The same of values in any order, which are left alone. NAN: no memory. */
double st_median(const double *v, size_t n);
double st_quantile(const double *v, size_t n, double q);
double st_iqr(const double *v, size_t n);
/* The median of the distances from the median, times 1.4826: of a normal distribution that is its
 * standard deviation. */
double st_mad(const double *v, size_t n);

/*
 * Hodges and Lehmann's estimates (Annals of Mathematical Statistics 34 (1963), 598): the median of
 * the means of all pairs; of two samples, that of all differences b - a. `shift` also has an
 * interval of that level (Moses' distribution-free one, by the normal approximation of the rank
 * sum). Time and memory grow with n^2: at most ST_PAIRS_MOST pairs are taken. ST_FAILED: no memory,
 * or more pairs.
 */
enum { ST_PAIRS_MOST = 1 << 24 };
st_status st_hodges_lehmann(const double *v, size_t n, double *centre);
st_status st_shift(const double *a, size_t n_a, const double *b, size_t n_b, double level,
                   struct st_interval *shift);

#endif
