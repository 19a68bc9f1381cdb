/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The overhead of the probes of a campaign: its first runs without noise are compared with runs
 * without probes, which are made in pairs with them, so that a machine that slows down meanwhile
 * affects both.
 */
#ifndef STROBE_BLOW_OVERHEAD_H
#define STROBE_BLOW_OVERHEAD_H

#include "blow/blow.h"

/* An increase by the probes, and its 95 % interval, as shares of the time without probes; NAN: not
 * known. */
struct st_blow_increase {
	double at, low, high;
	bool unclear; /* it is not known because the pairs differ too much from each other */
};
struct st_blow_overhead {
	size_t pairs;                     /* that could be compared */
	struct st_blow_increase run, cpu; /* of the run time, and of the CPU time */
};

/* By the mean of the logarithms of the ratios of the pairs. */
struct st_blow_overhead st_blow_overhead_of(const struct st_blow *b);

/* Whether the next run is one without probes, given the numbers of runs with and without them so
 * far and those that are wanted. The two kinds take turns in being the first one of a pair. */
bool st_blow_is_plain_next(size_t quiet, size_t plain, size_t quiet_wanted, size_t plain_wanted);

#endif
