/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the records of a function to its annotation. */
#ifndef STROBE_ANNOTATE_ANALYSE_H
#define STROBE_ANNOTATE_ANALYSE_H

#include "annotate/annotation.h"
#include "annotate/formulate.h"

/* Analyses one metric of one function. Returns ST_FAILED with *e if there are too few records, for
 * example. The caller frees `out` in both cases. */
st_status st_ann_analyse(const struct st_ann_records *r, size_t metric,
                         const struct st_ann_options *options, struct st_ann_annotation *out,
                         struct st_error *e);

#endif
