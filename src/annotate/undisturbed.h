/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times of calls that were disturbed, as by an interrupt: an analysis and a comparison leave a few
 * of them out.
 */
#ifndef STROBE_ANNOTATE_UNDISTURBED_H
#define STROBE_ANNOTATE_UNDISTURBED_H

#include <stdbool.h>
#include <stddef.h>

#include "annotate/formulate.h"

struct st_ann_leaves;

/* Returns whether disturbances only add to a metric of this unit, as they do to times. */
bool st_ann_only_grows(const char *unit);
/* Marks records that are far above the prediction and above the records with the nearest
 * predictions: disturbed ones. Returns their number: at most one in 50, or else none is marked.
 * residuals: measured less predicted; far: false on entry. */
size_t st_ann_mark_disturbed(const double *predicted, const double *residuals, size_t n, bool *far);
/* The largest share of records that is left out because they were disturbed. */
#define ST_ANN_DISTURBED_MOST (1.0 / 50)

/* Does what st_ann_divide does, for a metric of time: disturbed records are left out if the
 * formulas then explain the others much better. */
st_status st_ann_divide_times(const struct st_ann_problem *p, struct st_ann_rows rows,
                              struct st_ann_leaves *out);

#endif
