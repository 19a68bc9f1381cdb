/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sequential tests by betting: evidence that may be looked at after every value.
 *
 * Evidence is a wealth that begins at 1 and is put on one side of a centre c at each value x: it is
 * multiplied by 1 + g(x - c), where g is odd and between -1 and 1. If values are symmetric about c,
 * whatever has been seen before, no such bet is in anyone's favour: the wealth has the expectation
 * 1, and by Ville's inequality (Etude critique de la notion de collectif, 1939) the probability
 * that it ever reaches 1 / alpha is at most alpha, at however many values one looks. Nothing else
 * is supposed of the values: they may drift, depend on each other and have outliers. The method is
 * that of Waudby-Smith and Ramdas (Journal of the Royal Statistical Society B 86 (2024), 1), here
 * for a centre of symmetry; g(d) = 0.95 tanh(d / s), and the wealth is divided equally between
 * several scales s, so that none has to be chosen.
 */
#ifndef STROBE_STATS_BETTING_H
#define STROBE_STATS_BETTING_H

#include <stddef.h>

#include "stats/robust.h"

/* The logarithm of the evidence that the centre of the n values is above (below) `centre`. It is
 * made for values such as logarithms of ratios: differences from 0.001 to 1 tell most. */
double st_bet_above(const double *v, size_t n, double centre);
double st_bet_below(const double *v, size_t n, double centre);

/* The centres that neither bet has refuted at 1 - (1 - level) / 2 each; `at` is the estimate of
 * Hodges and Lehmann. An end is infinite where all values together cannot refute it. ST_FAILED: no
 * memory, or no value. */
st_status st_bet_interval(const double *v, size_t n, double level, struct st_interval *out);

#endif
