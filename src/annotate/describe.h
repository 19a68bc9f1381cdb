/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal: turns scopes and fits into an annotation. */
#ifndef STROBE_ANNOTATE_DESCRIBE_H
#define STROBE_ANNOTATE_DESCRIBE_H

#include "annotate/scopes.h"

/* Adds a scope. Sets the flag in `used` of each feature that the scope needs. Fails when memory is
 * exhausted. */
st_status st_ann_describe_leaf(const struct st_ann_problem *p, const struct st_ann_leaf *leaf,
                               struct st_ann_annotation *out, bool *used);

#endif
