/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which calls are timed so that all probes together cost no more than is allowed: by how often each
 * function was called a while ago. Nothing here knows of processes.
 *
 * The functions that are called most often are timed at every n-th call, so that no function has
 * more timed calls than a threshold; the threshold is as high as the cost allows. If counting alone
 * costs too much, the probes of those that are called most often are to be taken out.
 */
#ifndef STROBE_PROBE_LIMIT_H
#define STROBE_PROBE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* So seldom that calls are as good as only counted. */
enum { ST_LIMIT_MOST_EVERY = 2000000000 };

/* Of a call, in whatever unit. */
struct st_limit_costs {
	double timed, counted;
};

struct st_limited {
	uint64_t calls; /* in the time that has passed */
	uint32_t every; /* 1 of `every` calls is timed; 0: none is, whatever the limit */
	uint32_t least; /* `every` is to be no less */
	bool drops;     /* the probe is to be taken out */
	bool gone;      /* it has been */
};

/* Sets `every` of each function, as if the same calls came again and were to cost `allowed` at
 * most, and `drops`, if their counting alone costs more than `counting`. -1: memory is exhausted.
 */
st_status st_limit(struct st_limited *functions, size_t n, const struct st_limit_costs *costs,
                   double allowed, double counting);

#endif
