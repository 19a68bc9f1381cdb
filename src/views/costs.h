/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the calling contexts of a profile of strobe paths or strobe mem, or of repeated
 * measurements with stacks of calls, as contexts with one metric. */
#ifndef STROBE_VIEWS_COSTS_H
#define STROBE_VIEWS_COSTS_H

#include "contexts/contexts.h"
#include "mem/mem.h"

struct st_costs {
	struct st_contexts contexts;
	struct st_mem mem;  /* contexts may refer to it */
	const char *metric; /* "time", "peak" */
	const char *unit;   /* "ns", "B", "" */
	size_t field;       /* offset in struct st_weight */
	bool lines;         /* calls from several lines are several contexts */
	double scale;       /* factor from the number in the weight to the unit */
};

/*
 * name: names the profile in messages. metric NULL: the first that the profile has. lines: calls
 * from several lines of a function are several contexts, where lines of calls are known. -1 with
 * *e: the profile has no calling contexts, or not this metric. The caller frees in both cases,
 * before the profile.
 */
st_status st_costs_open(struct st_costs *c, const struct st_profile *p, const char *name,
                        const char *metric, bool lines, struct st_error *e);
void st_costs_free(struct st_costs *c);
/* Returns the value of the metric, without the contexts below. */
double st_costs_value(const struct st_costs *c, const struct st_weight *w);

/* Internal: makes contexts of measurements with stacks. */
st_status st_costs_of_series(struct st_costs *c, const struct st_profile *p, const char *name,
                             const char *metric, bool lines, struct st_error *e);

#endif
