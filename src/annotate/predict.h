/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of annotations for given values of the features. */
#ifndef STROBE_ANNOTATE_PREDICT_H
#define STROBE_ANNOTATE_PREDICT_H

#include "annotate/annotation.h"

struct st_ann_prediction {
	double mean, sd;  /* NAN: no condition holds; sd is also NAN if the model has no spread */
	double low, high; /* interval of the given level, of a time not below 0; NAN where sd is */
	bool inside;      /* all values are in the observed ranges */
	double left_out;  /* share of the records that the models of the scope do not describe */
};

/* level: probability of the interval, 0.95 for example. Returns ST_FAILED with *e if a needed
 * feature has no value, or a model is undefined there. */
st_status st_ann_predict(const struct st_ann_annotation *a, const struct st_ann_names *names,
                         double level, struct st_ann_prediction *out, struct st_error *e);

/* Returns the probability of a value up to y in a scope; NAN: a model has no spread or is undefined
 * there. */
double st_ann_scope_cdf(const struct st_ann_scope *s, const struct st_ann_names *names, double y);

/* Returns the scope whose condition holds; NULL: none does. */
const struct st_ann_scope *st_ann_scope_of(const struct st_ann_annotation *a,
                                           const struct st_ann_names *names);
/* Returns whether all values lie in the observed ranges. */
bool st_ann_is_observed(const struct st_ann_annotation *a, const struct st_ann_names *names);
/* Compute the mean and the standard deviation of a model, which is 0 if it has none, and of a
 * scope, which is NAN then. They return false if the model has no value for these features. */
bool st_ann_model_moments(const struct st_ann_model *m, const struct st_ann_names *names,
                          double *mean, double *sd);
bool st_ann_scope_moments(const struct st_ann_scope *s, const struct st_ann_names *names,
                          double *mean, double *sd);
/* Computes the central interval of a model; NAN: it has no spread. */
void st_ann_model_interval(const struct st_ann_model *m, const struct st_ann_names *names,
                           double level, double *low, double *high);
/* Returns the logarithm of the density of y; NAN: the model has no spread. */
double st_ann_model_log_density(const struct st_ann_model *m, const struct st_ann_names *names,
                                double y);

#endif
