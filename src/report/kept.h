/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models that a profile keeps, for people and for other programs. */
#ifndef STROBE_REPORT_KEPT_H
#define STROBE_REPORT_KEPT_H

#include "profile/profile.h"
#include "report/model.h"
#include "report/report.h"

/* A kept answer as a model that can be printed. It points into itself and must not be moved. */
struct st_kept_shown {
	struct st_model_subject subject;
	struct st_choice choice;
	struct st_model_report report;
};

/* file: where the profile is, for the reader. ST_FAILED: the answer has models that this version
 * does not know, or parts of it are missing. */
st_status st_kept_show(const struct st_profile *p, size_t answer, const char *file,
                       struct st_kept_shown *out);

/* "by strobe 0.1.0 on 2026-11-26 at 23:40 UTC". */
void st_kept_print_source(const struct st_kept_answer *a, FILE *out);
json_t *st_kept_source_json(const struct st_kept_answer *a);

/* A line for each answer, at most r->top of them, if there are any. */
void st_report_kept(const struct st_report *r, FILE *out);
/* Adds the key "models", if there are any. 0, or -1. */
st_status st_json_add_kept(json_t *root, const struct st_profile *p);

#endif
