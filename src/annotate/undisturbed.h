/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times of calls that were disturbed, for instance by an interrupt. An analysis and a comparison
 * leave a few of them out.
 */
#ifndef STROBE_ANNOTATE_UNDISTURBED_H
#define STROBE_ANNOTATE_UNDISTURBED_H

#include <stdbool.h>
#include <stddef.h>

#include "annotate/formulate.h"

struct st_ann_leaves;

/* Returns whether disturbances only add to a metric of this unit, as they do to times. */
bool st_ann_only_grows(const char *unit);
/* The largest share of the records that is left out because they were disturbed. */
#define ST_ANN_DISTURBED_MOST 0.3

/* Does what st_ann_divide does, for a metric of time: disturbed records are left out if the
 * formulas then explain the others much better. */
st_status st_ann_divide_times(const struct st_ann_problem *p, struct st_ann_rows rows,
                              struct st_ann_leaves *out);

#endif
