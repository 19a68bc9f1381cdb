/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests whether a result of a search among few records is due to chance. A search tries many
 * features, bounds and classes, so that one of them may seem to describe records that depend on
 * nothing. The search is therefore repeated with the costs, or with what a model leaves of them, in
 * random orders. A result is accepted only if it is stronger than those of all repetitions.
 */
#ifndef STROBE_ANNOTATE_CHANCE_H
#define STROBE_ANNOTATE_CHANCE_H

#include "annotate/formulate.h"

/* Searches, and sets *strength: a stronger result has a larger value. The value is -INFINITY if
 * nothing was found. */
typedef st_status (*st_ann_search)(const struct st_ann_problem *p, struct st_ann_rows rows,
                                   double *strength);

/* Returns in *chance whether the search has a result of this strength in random orders as well.
 * around: the model whose residuals are shuffled; NULL: the costs are shuffled. Of many records
 * nothing is repeated, because the criteria of the searches are sufficient. */
st_status st_ann_is_chance(const struct st_ann_problem *p, struct st_ann_rows rows,
                           const struct st_ann_fit *around, st_ann_search search, double strength,
                           bool *chance);

/* The same for a formula of the rows. A fit without terms, or without residuals, is not due
 * to chance. */
st_status st_ann_fit_is_chance(const struct st_ann_problem *p, struct st_ann_rows rows,
                               const struct st_ann_fit *f, bool *chance);

#endif
