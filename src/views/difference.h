/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares two profiles of one kind: one metric, location by location, B less A, as a table with
 * the formats of all tables (report/grid.h).
 *
 * Locations of functions are matched by check/match.h, all others by their names.
 */
#ifndef STROBE_VIEWS_DIFFERENCE_H
#define STROBE_VIEWS_DIFFERENCE_H

#include "check/match.h"
#include "contexts/compare.h"
#include "profile/profile.h"
#include "report/contexts_diff.h"
#include "report/grid.h"
#include "views/metrics.h"

/* The locations that are compared; usual: functions, or what the profiles have instead. */
enum st_difference_by { ST_BY_USUAL, ST_BY_FUNCTION, ST_BY_LINE, ST_BY_CONTEXT };

struct st_difference_choice {
	const char *names[ST_SIDES]; /* of the profiles in messages */
	const char *metric;          /* NULL: the first in both; all of measurements and counters */
	const char *table;           /* of a tool; NULL: the first in both */
	bool shares;                 /* compare shares of the total of each side */
	enum st_difference_by by;
};

struct st_difference_row {
	char *location;
	char *image; /* file name; NULL: none */
	char *metric, *unit;
	double value[ST_SIDES]; /* a sum, or a median; NAN: the side has none */
	size_t n[ST_SIDES];
	double change;    /* a missing value counts as 0 */
	double low, high; /* the 95 % interval of the change; NAN: unknown */
	double share;     /* change / whole[ST_A]; NAN: values do not add up */
	bool exact;
};

struct st_difference {
	ST_VEC(struct st_difference_row) rows; /* that differ, the greatest change first */
	size_t same;                           /* number of equal rows, which are not listed */
	double whole[ST_SIDES];                /* totals; NAN: values do not add up */
	char *about;                           /* the heading, with the metric and the totals */
	bool shares;
};

/* -1 with *e: the profiles have nothing in common, or memory is exhausted. The caller frees in both
 * cases. */
st_status st_difference_make(struct st_difference *d, const struct st_profile *a,
                             const struct st_profile *b, const struct st_difference_choice *choice,
                             struct st_error *e);
/* Makes a difference of calling contexts. */
st_status st_difference_of_contexts(struct st_difference *d, const struct st_diff_report *r,
                                    struct st_error *e);
void st_difference_free(struct st_difference *d);

/* Makes a table that refers to d. ST_FAILED: no memory; st_grid_free in both cases. */
st_status st_difference_grid(struct st_grid *g, const struct st_difference *d);

/* Internal: the compared metric. The caller frees in both cases. */
struct st_difference_metric {
	enum st_metric_source source;
	char *table, *metric; /* NULL: all of that source */
	char *first;          /* the first metric of that source */
	char *others;         /* further metrics of this source: ", a, b" */
};
st_status st_difference_choose(struct st_difference_metric *m,
                               const struct st_profile *const both[ST_SIDES],
                               const struct st_difference_choice *choice, struct st_error *e);
void st_difference_metric_free(struct st_difference_metric *m);

/* Internal: a location of one profile with the values of one metric. */
struct st_difference_item {
	char *name;  /* for the table */
	char *key;   /* matched with the other side; NULL: a function without a name */
	char *image; /* NULL: none */
	char *build_id, *file, *metric, *unit;
	uint64_t offset;
	enum st_metric_noise noise;
	bool additive, sum, greatest; /* sum: its values are added up */
	ST_VEC(double) values;
};
struct st_difference_items {
	ST_VEC(struct st_difference_item) v;
};
st_status st_difference_collect(struct st_difference_items *items, const struct st_profile *p,
                                enum st_metric_source source, const char *table, const char *metric,
                                struct st_error *e);
/* Internal: whether the locations are source lines, contexts or functions of contexts, and the
 * items of these. */
bool st_difference_has_places(const struct st_profile *const both[ST_SIDES],
                              const struct st_difference_choice *c);
st_status st_difference_collect_places(struct st_difference_items items[ST_SIDES],
                                       struct st_difference_metric *chosen,
                                       const struct st_profile *const both[ST_SIDES],
                                       const struct st_difference_choice *c, struct st_error *e);
void st_difference_items_free(struct st_difference_items *items);

#endif
