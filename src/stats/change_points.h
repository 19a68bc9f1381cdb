/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a series of values changes. */
#ifndef STROBE_STATS_CHANGE_POINTS_H
#define STROBE_STATS_CHANGE_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * Change points by the energy distance of what lies before and after (E-divisive: Matteson and
 * James, Journal of the American Statistical Association 109 (2014), 334): the best split of a
 * segment is a change if at most a share `alpha` of random orders of its values have a better one;
 * both parts are then looked at in the same way. It finds changes of the level and of the spread,
 * and no outlier makes one. A segment has at least `least` values (2 or more). The result follows
 * from the seed.
 */
struct st_change_point {
	size_t at; /* the first value of the new segment */
	double p;
};

/* changes: n of them at most, in the order of the series. The time grows with rounds * n^2.
 * ST_FAILED: no memory, or least is less than 2. */
st_status st_change_points(const double *v, size_t n, size_t least, size_t rounds, double alpha,
                           uint64_t seed, struct st_change_point *changes, size_t *n_changes);

#endif
