/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kernels: how much a value counts that is u bandwidths away. Density estimates by them (Silverman,
 * Density Estimation for Statistics and Data Analysis, 1986), and the weights of local regressions
 * (Fan and Gijbels, Local Polynomial Modelling and Its Applications, 1996).
 */
#ifndef STROBE_STATS_KERNEL_H
#define STROBE_STATS_KERNEL_H

#include <stddef.h>

#include "base/status.h"

#define ST_KERNELS(K)                                                                              \
	K(NORMAL, "normal")                                                                        \
	K(EPANECHNIKOV, "epanechnikov")                                                            \
	K(TRICUBE, "tricube")                                                                      \
	K(EPANECHNIKOV4, "epanechnikov4")                                                          \
	K(NORMAL4, "normal4")

enum st_kernel {
#define K(id, name) ST_KERNEL_##id,
	ST_KERNELS(K)
#undef K
	        ST_KERNEL_COUNT
};

/* Its integral is 1. Those of order 4 are less than 0 in places. */
double st_kernel_at(enum st_kernel kernel, double u);

/* Rules of thumb by A = min(sd, IQR / 1.349), of values of a normal distribution: 1.059 A n^-1/5
 * (Scott) and 0.9 A n^-1/5 (Silverman). sorted: n >= 2 values. */
double st_bandwidth_scott(const double *sorted, size_t n);
double st_bandwidth_silverman(const double *sorted, size_t n);

/* The density of the values at `at`. */
double st_density(enum st_kernel kernel, const double *v, size_t n, double bandwidth, double at);

/*
 * The weights of the n points, x in any order, in the value of a local polynomial of degree 0
 * (Nadaraya and Watson) or 1 or 2 at `at`: the value is the sum of weight times y. w: how much each
 * point counts there, which is replaced. ST_FAILED: no point counts.
 */
st_status st_local_weights(const double *x, size_t n, double at, unsigned degree, double *w);

/* How much points count by a kernel; and by LOESS (Cleveland, Journal of the American Statistical
 * Association 74 (1979), 829): by the tricube of the distance, in units of the distance of the
 * point that is farthest of the nearest floor(span n + 1e-5). x is sorted. */
void st_kernel_counts(enum st_kernel kernel, const double *x, size_t n, double bandwidth, double at,
                      double *w);
void st_loess_counts(const double *x, size_t n, double span, double at, double *w);

#endif
