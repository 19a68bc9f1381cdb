/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a campaign went on over time: a moment for each second, or for more of them if it is long. */
#ifndef STROBE_FUZZ_SERIES_H
#define STROBE_FUZZ_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/vec.h"

struct st_fuzz_moment {
	double seconds; /* since the campaign began */
	size_t executions, interesting, hangs, faults;
	size_t blocks; /* different basic blocks that were executed */
	double most;   /* greatest growth of an input so far, as a ratio */
};

struct st_fuzz_series {
	ST_VEC(struct st_fuzz_moment) list;
	double step; /* seconds between moments; 0: 1 */
};

/* Adds the moment if it is a step after the last one, or if it is the last of all. ST_FAILED: no
 * memory. */
st_status st_fuzz_series_add(struct st_fuzz_series *s, const struct st_fuzz_moment *m, bool last);

#endif
