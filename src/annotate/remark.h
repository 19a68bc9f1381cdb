/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A remark of an analysis for the reader of the annotation: what it did not find, and why. */
#ifndef STROBE_ANNOTATE_REMARK_H
#define STROBE_ANNOTATE_REMARK_H

#include "annotate/scopes.h"

/* Writes the remark about a division of the rows, to be freed by the caller; NULL: there is none.
 * slower: the number of processes that are left out, because the processor was slower.
 * Fails when memory is exhausted. */
st_status st_ann_remark(const struct st_ann_problem *p, struct st_ann_rows rows,
                        const struct st_ann_leaves *leaves, bool times, size_t slower, char **out);

#endif
