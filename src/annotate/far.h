/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds records that cost far more than other records with about the same prediction. Medians of
 * the neighbours decide, so that neither many such records nor a model that they have bent hide
 * them.
 */
#ifndef STROBE_ANNOTATE_FAR_H
#define STROBE_ANNOTATE_FAR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Fewer records have too few neighbours to judge by. */
enum { ST_ANN_FAR_LEAST = 8 };

/* Marks the records that are far above the neighbours in the order of the predictions. Where far
 * more of the neighbours are than elsewhere, none is marked: this is what the calls cost there.
 * residuals: measured less predicted; far: false on entry; *marked: their number. Fails when memory
 * is exhausted. */
st_status st_ann_mark_far(const double *predicted, const double *residuals, size_t n, bool *far,
                          size_t *marked);

#endif
