/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals by drawing from the sample again and again. */
#ifndef STROBE_STATS_BOOTSTRAP_H
#define STROBE_STATS_BOOTSTRAP_H

#include <stdint.h>

#include "stats/robust.h"

/*
 * The bias-corrected and accelerated bootstrap interval (BCa: Efron, Journal of the American
 * Statistical Association 82 (1987), 171) of a statistic of n >= 2 values, which must not depend on
 * their order. It follows from the seed. ST_FAILED: too few values, no rounds, or no memory.
 */
st_status st_bootstrap(const double *v, size_t n, double (*statistic)(const double *v, size_t n),
                       size_t rounds, uint64_t seed, double level, struct st_interval *out);

#endif
