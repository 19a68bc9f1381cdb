/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles whose costs are known by calling context, whichever tool measured them, as contexts with
 * one metric: of strobe paths, strobe mem, and repeated measurements with stacks of calls. */
#ifndef STROBE_VIEWS_COSTS_H
#define STROBE_VIEWS_COSTS_H

#include "contexts/contexts.h"
#include "mem/mem.h"

struct st_costs {
	struct st_contexts contexts;
	struct st_mem mem;  /* that contexts may refer to */
	const char *metric; /* "time", "peak" */
	const char *unit;   /* "ns", "B", "" */
	size_t field;       /* of struct st_weight */
	bool lines;         /* calls from several lines are apart */
	double scale;       /* what its numbers are multiplied with */
};

/*
 * name: of the profile, for messages. metric: NULL: the usual one. lines: calls from several lines
 * of a function are several contexts, where lines of calls are known. -1 with *e: the profile has
 * no calling contexts, or not this metric. The caller frees in both cases, before the profile.
 */
st_status st_costs_open(struct st_costs *c, const struct st_profile *p, const char *name,
                        const char *metric, bool lines, struct st_error *e);
void st_costs_free(struct st_costs *c);
/* Of the metric, without what is below. */
double st_costs_value(const struct st_costs *c, const struct st_weight *w);

/* Inside: contexts of measurements with stacks. */
st_status st_costs_of_series(struct st_costs *c, const struct st_profile *p, const char *name,
                             const char *metric, bool lines, struct st_error *e);

#endif
