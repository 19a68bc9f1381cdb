/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sequential tests by betting: evidence that may be looked at after every value.
 *
 * Evidence is a wealth that begins at 1 and is bet on one side of a centre c at each value x: it is
 * multiplied by 1 + g(x - c), where g is odd and between -1 and 1. If each value is symmetric about
 * c given the earlier ones, the bets are fair: the wealth has the expectation 1, and by Ville's
 * inequality (Etude critique de la notion de collectif, 1939) the probability that it ever reaches
 * 1 / alpha is at most alpha, however often it is looked at. Nothing else is assumed: values may
 * drift, depend on each other and have outliers. The method is
 * that of Waudby-Smith and Ramdas (Journal of the Royal Statistical Society B 86 (2024), 1), here
 * for a centre of symmetry; g(d) = 0.95 tanh(d / s), and the wealth is divided equally between
 * several scales s, so that none has to be chosen.
 */
#ifndef STROBE_STATS_BETTING_H
#define STROBE_STATS_BETTING_H

#include <stddef.h>

#include "stats/robust.h"

/* Return the logarithm of the evidence that the centre of the n values is above (below) `centre`.
 * The scales suit logarithms of ratios: differences from 0.001 to 1 give the most evidence. */
double st_bet_above(const double *v, size_t n, double centre);
double st_bet_below(const double *v, size_t n, double centre);

/* Computes the interval of centres that neither bet refutes, each at (1 - level) / 2; `at` is the
 * estimate of Hodges and Lehmann. An end is infinite if the values cannot refute any centre on its
 * side. ST_FAILED: no memory, or no value. */
st_status st_bet_interval(const double *v, size_t n, double level, struct st_interval *out);

#endif
