/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures how much the machine disturbs measurements: times a loop of constant work repeatedly. */
#ifndef STROBE_JOB_DISTURBANCE_H
#define STROBE_JOB_DISTURBANCE_H

#include <stddef.h>

#include "base/error.h"
#include "job/environment.h"

struct st_disturbance {
	size_t rounds;
	double median;                  /* of a round, s */
	double median_low, median_high; /* its 95 % interval */
	double least, most;
	double tenth; /* nine tenths of all rounds took at most this, s */
	double away;  /* share of the time in which the loop was not on a CPU */
	struct st_load load;
};

/* Measures for about `seconds`. Fails when memory is exhausted. */
st_status st_disturbance_measure(double seconds, struct st_disturbance *out);
/* Sets all members except `away` and `load` from given times, which are sorted. */
st_status st_disturbance_of(double *times, size_t n, struct st_disturbance *out);

#endif
