/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cost annotations for people and programs: docs/annotations.md, docs/json.md. */
#ifndef STROBE_REPORT_ANNOTATION_H
#define STROBE_REPORT_ANNOTATION_H

#include <jansson.h>

#include "annotate/annotation.h"
#include "annotate/predict.h"

/* NULL: memory is exhausted. */
json_t *st_annotation_json(const struct st_ann_annotation *a);
json_t *st_prediction_json(const struct st_ann_prediction *p);

/* A table in Markdown; a comment in C to stand above the function. ST_FAILED: no memory. */
st_status st_annotation_markdown(const struct st_ann_annotation *a, FILE *out);
st_status st_annotation_comment(const struct st_ann_annotation *a, FILE *out);

#endif
