/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is compared: each location with what both versions have of it, and the whole. */
#ifndef STROBE_CHECK_SUBJECT_H
#define STROBE_CHECK_SUBJECT_H

#include "check/side.h"

/* A location and metric. */
struct st_check_subject {
	const struct st_check_item *item[ST_SIDES]; /* NULL: that version does not have it */
	uint32_t metric;                            /* index into the subjects' */
	uint32_t image;                             /* the same, ST_NO_IMAGE: none */
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

/* of: only the function or location of this name, or shell pattern; NULL: all. The totals are of
 * all. Functions are matched by their names (match.h), and those that are left over by their code.
 * ST_FAILED: memory is exhausted. The caller frees in both cases. */
st_status st_check_match(struct st_check_subjects *out, const struct st_check_side sides[ST_SIDES],
                         const char *of);
/* Whether it is the subject of that name, or of an image of that name, or fits the pattern. */
bool st_check_is_of(const struct st_check_subjects *s, const struct st_check_subject *subject,
                    const char *of);
void st_check_subjects_free(struct st_check_subjects *s);

/* The program's total of a metric; NULL: it is none that is added up. */
const struct st_check_total *st_check_whole(const struct st_check_subjects *s, uint32_t metric);
/* The name of the subject's function, by which the newer version knows it. */
const char *st_check_shown(const struct st_check_subject *s);

#endif
