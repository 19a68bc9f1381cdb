/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of repeated measurements: their middle, its interval, their spread. */
#ifndef STROBE_STATS_SPREAD_H
#define STROBE_STATS_SPREAD_H

#include <stddef.h>

#include "base/status.h"

/* NAN: that many values do not tell it. */
struct st_spread {
	size_t n; /* values that are numbers */
	double sum, mean, median, least, most;
	double deviation;               /* standard deviation of the values, by n - 1; from n = 2 */
	double mean_low, mean_high;     /* 95 % confidence interval by Student's t; from n = 2 */
	double median_low, median_high; /* at least 95 %, by order statistics; from n = 6 */
};

/* Of n values; NANs are left out. Fails when memory is exhausted. */
st_status st_spread_of(const double *values, size_t n, struct st_spread *out);

#endif
