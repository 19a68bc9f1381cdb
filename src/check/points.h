/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The single measurements of a location as points, and the models of both versions. */
#ifndef STROBE_CHECK_POINTS_H
#define STROBE_CHECK_POINTS_H

#include "check/check.h"
#include "model/choice.h"
#include "model/smooth.h"

/* A model for a comparison does not become better with more points than this: that many are taken
 * evenly from the order of measuring. */
enum { ST_CHECK_MOST_POINTS = 1000 };

struct st_check_points {
	double *x, *y;
	size_t n;
};

/* x: the feature, NULL: the default of the series; "sequence": the order of measuring. most:
 * points, 0: all. n is 0 when there are none. ST_FAILED: memory is exhausted. The caller frees in
 * both cases. */
st_status st_check_points_of(struct st_check_points *out, const struct st_check_item *item,
                             const char *x, size_t most);
void st_check_points_free(struct st_check_points *p);

/* Points and models of both versions. */
struct st_check_models {
	struct st_check_points points[ST_SIDES]; /* in the order of x */
	struct st_choice choices[ST_SIDES];
	bool kept[ST_SIDES];  /* the choice is the one that the profile keeps */
	double x_low, x_high; /* the range that both versions have in common */
};

/* exponents: also the exponents of the choices are fitted. *why: NULL, or the reason why the
 * location cannot be compared by its models. ST_FAILED: memory is exhausted. The caller frees in
 * both cases. */
st_status st_check_models_of(struct st_check_models *m, const struct st_check_subject *s,
                             const char *x, bool exponents, const char **why);
void st_check_models_free(struct st_check_models *m);
/* The best model of a side. */
const struct st_regression *st_check_best(const struct st_check_models *m, int side);
/* The share of the variance that the model explains; of a constant 1, which has none to explain. */
double st_check_fit(const struct st_regression *r);

#endif
