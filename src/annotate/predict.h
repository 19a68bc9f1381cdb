/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an annotation predicts for values of the features. */
#ifndef STROBE_ANNOTATE_PREDICT_H
#define STROBE_ANNOTATE_PREDICT_H

#include "annotate/annotation.h"

struct st_ann_prediction {
	double mean, sd;  /* NAN: no scope holds; sd NAN: the annotation does not say */
	double low, high; /* the interval of that level; NAN: the same */
	bool inside;      /* the values are within what was observed */
};

/* The scope that holds; NULL: none does. */
const struct st_ann_scope *st_ann_scope_of(const struct st_ann_annotation *a,
                                           const struct st_ann_names *names);
/* level: of the interval, 0.95. ST_FAILED with *e: a feature that is needed has no value, or a
 * model has no value there. */
st_status st_ann_predict(const struct st_ann_annotation *a, const struct st_ann_names *names,
                         double level, struct st_ann_prediction *out, struct st_error *e);

/* The probability of a value up to y in a scope; NAN: its models have no spread or no value. */
double st_ann_scope_cdf(const struct st_ann_scope *s, const struct st_ann_names *names, double y);
/* Names are those of declarations, or their paths, of which records or arguments give the values:
 * whether all that conditions and models need are there; *missing: one that is not. */
bool st_ann_has_names(const struct st_ann_annotation *a, const struct st_ann_names *names,
                      const char **missing);

#endif
