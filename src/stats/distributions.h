/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits families of distributions to values, with tests of the fit. */
#ifndef STROBE_STATS_DISTRIBUTIONS_H
#define STROBE_STATS_DISTRIBUTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum st_family { ST_FAMILY_NORMAL, ST_FAMILY_EXPONENTIAL, ST_FAMILY_LOGNORMAL, ST_FAMILY_BINOMIAL };

/* a and b are, of the family normal: mean and standard deviation; exponential: mean, none;
 * lognormal: mean and standard deviation of the natural logarithm; binomial: N and p. */
struct st_family_fit {
	enum st_family family;
	double a, b;
	double minus_log_likelihood;
	size_t parameters; /* number of estimated parameters */
	double p;          /* p-value of the test of fit; NAN: not tested */
};

/* The probability of a value up to y; the logarithm of the density, or probability, of y; the mean;
 * the standard deviation. */
double st_family_cdf(enum st_family family, double a, double b, double y);
double st_family_log_density(enum st_family family, double a, double b, double y);
double st_family_mean(enum st_family family, double a, double b);
double st_family_sd(enum st_family family, double a, double b);

/*
 * Finds the family that fits n >= 2 values best, by BIC, with parameters of maximum likelihood. The
 * families exponential and lognormal are tried for values above 0 only, and binomial with a known
 * N. bound: this N; 0: it is not known. p is the probability that values of this family are at
 * least as far from it, by Anderson and Darling's test with parameters estimated from the same
 * values (Stephens, in D'Agostino and Stephens, Goodness-of-Fit Techniques, 1986, chapter 4), or by
 * a chi-square test of binomial counts. ST_FAILED: no memory.
 */
st_status st_family_find(const double *v, size_t n, double bound, struct st_family_fit *out);

/* Kolmogorov and Smirnov's test that n values are uniform from 0 to 1: P by Marsaglia, Tsang and
 * Wang's approximation of Stephens for finite n. u is sorted by it. */
double st_uniform_p(double *u, size_t n);

#endif
