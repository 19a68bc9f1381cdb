/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which distribution values follow, and how well. */
#ifndef STROBE_STATS_DISTRIBUTIONS_H
#define STROBE_STATS_DISTRIBUTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum st_family { ST_FAMILY_NORMAL, ST_FAMILY_EXPONENTIAL, ST_FAMILY_LOGNORMAL, ST_FAMILY_BINOMIAL };

/* normal: mean, standard deviation; exponential: mean; lognormal: both of the natural logarithm;
 * binomial: N, p. */
struct st_family_fit {
	enum st_family family;
	double a, b;
	double minus_log_likelihood;
	size_t parameters; /* that were estimated */
	double p;          /* of the test of fit; NAN: there is none */
};

/* The probability of a value up to y, and what its density, or probability, has as logarithm. */
double st_family_cdf(enum st_family family, double a, double b, double y);
double st_family_log_density(enum st_family family, double a, double b, double y);
double st_family_mean(enum st_family family, double a, double b);
double st_family_sd(enum st_family family, double a, double b);

/*
 * The family that fits n >= 2 values best, by BIC, with parameters of maximum likelihood.
 * exponential and lognormal: for values above 0 only. bound: the N of binomial counts, when it is
 * known; 0: it is not. Anderson and Darling's test of fit, with parameters estimated from the same
 * values (Stephens, in D'Agostino and Stephens, Goodness-of-Fit Techniques, 1986, chapter 4), says
 * with p whether values of this family are as far from it; chi square says it of binomial counts.
 * ST_FAILED: no memory.
 */
st_status st_family_find(const double *v, size_t n, double bound, struct st_family_fit *out);

/* Kolmogorov and Smirnov's test that n values are uniform from 0 to 1: P by Marsaglia, Tsang and
 * Wang's approximation of Stephens for finite n. u is sorted by it. */
double st_uniform_p(double *u, size_t n);

#endif
