/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints cost annotations and predictions: docs/annotations.md, docs/json.md. */
#ifndef STROBE_REPORT_ANNOTATION_H
#define STROBE_REPORT_ANNOTATION_H

#include <jansson.h>

#include "annotate/annotation.h"
#include "annotate/picture.h"
#include "annotate/predict.h"

/* Return NULL when memory is exhausted. */
json_t *st_annotation_json(const struct st_ann_annotation *a);
/* why: the reason for which there is no annotation; NULL: there is one. */
json_t *st_annotation_picture_json(const struct st_ann_records *r, size_t metric,
                                   const struct st_ann_annotation *a, const char *why,
                                   const struct st_ann_picture *p);
json_t *st_prediction_json(const struct st_ann_prediction *p);

/* Print a Markdown table, and a C comment for the source of the function. ST_FAILED: no memory. */
st_status st_annotation_markdown(const struct st_ann_annotation *a, FILE *out);
st_status st_annotation_comment(const struct st_ann_annotation *a, FILE *out);

#endif
