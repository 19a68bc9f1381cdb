/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a history as series over versions, and the change points of each series. */
#ifndef STROBE_CLI_HISTORY_SERIES_H
#define STROBE_CLI_HISTORY_SERIES_H

#include "cli/history.h"
#include "stats/change_points.h"

/* With fewer than seven values, no change can be significant: of seven values, one of 35 divisions
 * into three and four is as clear as the best one. */
enum { ST_HISTORY_FEWEST = 7 };

/* The values of one location, metric, configuration and machine, the oldest version first. */
struct st_history_series {
	const struct st_history_group *first;
	ST_VEC(const struct st_history_group *) groups; /* one for each version with values */
	ST_VEC(double) medians;                         /* of each group */
	struct st_change_point *changes;                /* indices are those of the groups */
	size_t n_changes;
};

struct st_history_series_list {
	ST_VEC(struct st_history_series) v;
	size_t left_out; /* number of series that are not in the list */
	struct st_history_naming naming;
};

/* Makes the series of versions that are in the history, at most `most` (0: all), and finds their
 * change points. The values have to outlive the list. ST_FAILED: memory is exhausted. The caller
 * frees in both cases. */
st_status st_history_series_make(struct st_history_series_list *all,
                                 const struct st_history_values *values, size_t most);
void st_history_series_free(struct st_history_series_list *all);

/* A change with the medians of the values between it and the changes before and after it. */
struct st_history_change {
	size_t at;      /* index of the first group after the change */
	size_t commits; /* number of versions in the range from the group before to that one */
	double from, to, p;
};
struct st_history_change st_history_change_of(const struct st_history_series *s, size_t i);
/* The change in relation to the value before it; NAN: that value is 0. */
double st_history_change_relative(const struct st_history_change *c);

#endif
