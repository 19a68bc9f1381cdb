/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Subjects of a comparison: each location with its items of both versions, and the totals. */
#ifndef STROBE_CHECK_SUBJECT_H
#define STROBE_CHECK_SUBJECT_H

#include "check/side.h"

/* A location and metric. */
struct st_check_subject {
	const struct st_check_item *item[ST_SIDES]; /* NULL: that version does not have it */
	uint32_t metric;                            /* index into the subjects' */
	uint32_t image;                             /* index into the subjects', or ST_NO_IMAGE */
	bool renamed;                               /* it has another name, but the same code */
};

/* Costs of an image, or of all (image ST_NO_IMAGE), in each run. */
struct st_check_total {
	uint32_t metric, image;
	ST_VEC(double) runs[ST_SIDES];
};

struct st_check_subjects {
	const struct st_check_side *sides[ST_SIDES];
	ST_VEC(struct st_check_metric) metrics;
	ST_VEC(const char *) images; /* names of files */
	ST_VEC(struct st_check_subject) list;
	ST_VEC(struct st_check_total) totals; /* of additive metrics; of each the program's first */
};

/* of: the name of the only function or location to compare, or a shell pattern; NULL: all. The
 * totals are always those of all. Functions are matched by their names (match.h), and the remaining
 * ones by their code.
 * ST_FAILED: memory is exhausted. The caller frees in both cases. */
st_status st_check_match(struct st_check_subjects *out, const struct st_check_side sides[ST_SIDES],
                         const char *of);
/* Whether the name or the pattern fits the function of the subject, or its image. */
bool st_check_is_of(const struct st_check_subjects *s, const struct st_check_subject *subject,
                    const char *of);
void st_check_subjects_free(struct st_check_subjects *s);

/* The program's total of a metric; NULL: the metric is not additive. */
const struct st_check_total *st_check_whole(const struct st_check_subjects *s, uint32_t metric);
/* The name of the subject's function: that of the target if it has the function. */
const char *st_check_shown(const struct st_check_subject *s);

#endif
