/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that the methods that compare models share. */
#ifndef STROBE_CHECK_BY_MODELS_H
#define STROBE_CHECK_BY_MODELS_H

#include "check/points.h"

/* Compares one location; f has its costs and calls. ST_FAILED: memory is exhausted. */
typedef st_status st_compare_models(struct st_finding *f, const struct st_check_models *m,
                                    const struct st_check_how *how);

/* Adds a finding for each location: a location that cannot be compared is Unknown with its cause,
 * a location that only one version has is new or gone. */
st_status st_check_each_model(struct st_check_result *out, enum st_check_method method,
                              const struct st_check_how *how, st_compare_models *compare);
/* Sets the kind of a location that only one version has. Returns false if both have it. */
bool st_finding_set_new_or_gone(struct st_finding *f);
/* Up to `maybe` there is no change, up to `full` a possible change, above `full` a change. */
enum st_finding_kind st_finding_by_size(double relative, double maybe, double full);

#endif
