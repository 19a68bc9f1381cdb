/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the methods that compare models have in common. */
#ifndef STROBE_CHECK_BY_MODELS_H
#define STROBE_CHECK_BY_MODELS_H

#include "check/points.h"

/* Compares one location; f has its costs and calls. ST_FAILED: memory is exhausted. */
typedef st_status st_compare_models(struct st_finding *f, const struct st_check_models *m,
                                    const struct st_check_how *how);

/* A finding for each location: what cannot be compared is Unknown with its cause, what only one
 * version has is new or gone. */
st_status st_check_each_model(struct st_check_result *out, enum st_check_method method,
                              const struct st_check_how *how, st_compare_models *compare);
/* The kind of a location that only one version has; false: both have it. */
bool st_finding_set_new_or_gone(struct st_finding *f);
/* Up to `maybe` no change, up to `full` a possible one, beyond that one. */
enum st_finding_kind st_finding_by_size(double relative, double maybe, double full);

#endif
