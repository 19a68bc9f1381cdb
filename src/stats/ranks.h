/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether two samples differ, without a distribution being supposed. All are two-sided. */
#ifndef STROBE_STATS_RANKS_H
#define STROBE_STATS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * Mann and Whitney's test by ranks (Annals of Mathematical Statistics 18 (1947), 50). exact: P is
 * exact, as it is without ties and with at most ST_RANKS_EXACT values on each side; otherwise it is
 * that of the normal distribution, with corrections for ties and continuity.
 */
enum { ST_RANKS_EXACT = 49 };
struct st_rank_test {
	double u;        /* pairs in which b is greater than a, ties counted half */
	double superior; /* the same as a share of all pairs: how probable it is that b is greater
	                  */
	double p;
	bool exact;
};

/* ST_FAILED: a side has no value, or no memory. */
st_status st_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
                          struct st_rank_test *out);

/*
 * The permutation test of the difference of the means: how probable a difference at least as great
 * is when each value could as well belong to the other sample (Good, Permutation, Parametric and
 * Bootstrap Tests of Hypotheses, 3rd edition, chapter 3). All divisions are tried when there are at
 * most `rounds` of them, otherwise that many by chance; P is then (hits + 1) / (rounds + 1), and
 * follows from the seed. ST_FAILED: a side has no value, or no memory.
 */
struct st_permutation_test {
	double difference; /* of b's mean less a's */
	double p;
	bool exact;
};
st_status st_permutation_test(const double *a, size_t n_a, const double *b, size_t n_b,
                              size_t rounds, uint64_t seed, struct st_permutation_test *out);

/*
 * P of n tests, adjusted for their number, in the order of p; out may be p. Holm (Scandinavian
 * Journal of Statistics 6 (1979), 65) bounds the probability of any false rejection, Benjamini and
 * Hochberg (Journal of the Royal Statistical Society B 57 (1995), 289) the share of false ones
 * among the rejections. NAN is no test, and remains. ST_FAILED: no memory.
 */
st_status st_holm(const double *p, size_t n, double *out);
st_status st_benjamini_hochberg(const double *p, size_t n, double *out);

#endif
