/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the locations of several profiles with the greatest values of a metric, matched by their
 * names. */
#ifndef STROBE_VIEWS_LOCATIONS_H
#define STROBE_VIEWS_LOCATIONS_H

#include "plot/charts.h"
#include "views/metrics.h"

struct st_locations_choice {
	const char *metric; /* NULL: the first in the first and the last profile */
	const char *of;     /* a name or shell pattern; NULL: all locations */
	size_t top;         /* number of locations; 0: all */
};

struct st_locations {
	ST_VEC(char *) names; /* the one with the greatest value first */
	double *values;       /* values[profile * names.n + location]; NAN: none */
	/* Indexed as values are: of medians of repeated measurements. NULL: no value has any. */
	struct st_plot_value *spread;
	char *metric, *unit;
	size_t left_out; /* number of locations */
};

/* ST_FAILED with *e: the profiles have no metric in common, or no location fits. The caller frees
 * in both cases. */
st_status st_locations_make(struct st_locations *l, const struct st_profile *const *profiles,
                            const char *const *names, size_t n,
                            const struct st_locations_choice *choice, struct st_error *e);
void st_locations_free(struct st_locations *l);

#endif
