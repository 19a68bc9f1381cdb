/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs between two profiles, of any kind that both are of: one metric, location by
 * location, B less A, as a table with the formats of all tables (report/grid.h).
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

struct st_difference_choice {
	const char *names[ST_SIDES]; /* of the profiles, for messages */
	const char *metric;          /* NULL: the usual one; of measurements all */
	const char *table;           /* of tools; NULL: the usual one */
	bool shares;                 /* values are shares of their own side's whole */
};

struct st_difference_row {
	char *location;
	char *image; /* its file's name; NULL: none */
	char *metric, *unit;
	double value[ST_SIDES]; /* a sum, or a median; NAN: it is not there */
	size_t n[ST_SIDES];
	double change;    /* what is not there counts as 0 */
	double low, high; /* the interval of the change, 95 %; NAN: not known */
	double share;     /* change as a share of A's whole; NAN: there is no whole */
	bool exact;
};

struct st_difference {
	ST_VEC(struct st_difference_row) rows; /* that differ, the greatest change first */
	size_t same;                           /* how many do not */
	double whole[ST_SIDES];                /* NAN: values do not add up */
	char *about;                           /* a sentence with the metric and the wholes */
	bool shares;
};

/* -1 with *e: the profiles have nothing in common, or memory is exhausted. The caller frees in both
 * cases. */
st_status st_difference_make(struct st_difference *d, const struct st_profile *a,
                             const struct st_profile *b, const struct st_difference_choice *choice,
                             struct st_error *e);
/* Of calling contexts: the rows of strobe diff. */
st_status st_difference_of_contexts(struct st_difference *d, const struct st_diff_report *r,
                                    struct st_error *e);
void st_difference_free(struct st_difference *d);

/* As a table, which refers to d. -1: no memory; st_grid_free in both cases. */
st_status st_difference_grid(struct st_grid *g, const struct st_difference *d);

/* Inside: which metric is compared. The caller frees in both cases. */
struct st_difference_metric {
	enum st_metric_source source;
	char *table, *metric; /* NULL: all of that source */
	char *first;          /* the first metric of that source */
	char *others;         /* metrics of this source that could be, too: ", a, b" */
};
st_status st_difference_choose(struct st_difference_metric *m,
                               const struct st_profile *const both[ST_SIDES],
                               const struct st_difference_choice *choice, struct st_error *e);
void st_difference_metric_free(struct st_difference_metric *m);

/* Inside: what of one metric a profile has. */
struct st_difference_item {
	char *name;  /* as people read it */
	char *key;   /* what it is matched by; NULL: it has no name */
	char *image; /* NULL: none */
	char *build_id, *file, *metric, *unit;
	uint64_t offset;
	enum st_metric_noise noise;
	bool additive, sum; /* sum: its values are added up */
	ST_VEC(double) values;
};
struct st_difference_items {
	ST_VEC(struct st_difference_item) v;
};
st_status st_difference_collect(struct st_difference_items *items, const struct st_profile *p,
                                enum st_metric_source source, const char *table, const char *metric,
                                struct st_error *e);
void st_difference_items_free(struct st_difference_items *items);

#endif
