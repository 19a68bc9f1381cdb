/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contexts of two profiles that differ most. */
#ifndef STROBE_REPORT_CONTEXTS_DIFF_H
#define STROBE_REPORT_CONTEXTS_DIFF_H

#include "base/status.h"
#include "contexts/compare.h"
#include "report/text.h"

/* M(identifier, "word", field of the weight, with what is below, "what it is called in a title") */
#define ST_DIFF_METRICS(M)                                                                         \
	M(COUNT, "count", count, false, "activations")                                             \
	M(TIME, "time", self_ns, false, "their own time")                                          \
	M(TOTAL_TIME, "total-time", self_ns, true, "time, with what they called")                  \
	M(INSTRUCTIONS, "instructions", instructions, false, "their own instructions")             \
	M(TOTAL_INSTRUCTIONS, "total-instructions", instructions, true,                            \
	  "instructions, with what they called")

enum st_diff_metric {
#define M(id, word, field, total, title) ST_DIFF_##id,
	ST_DIFF_METRICS(M)
#undef M
	        ST_DIFF_METRIC_COUNT
};

struct st_diff_report {
	const struct st_comparison *comparison;
	const char *names[ST_SIDES]; /* of the files */
	enum st_diff_metric metric;
	bool shares; /* ranked by the shares that contexts have of their own side's whole */
	size_t top;  /* 0: all */
	struct st_style style;
};

const char *st_diff_metric_name(enum st_diff_metric metric);
/* The one of that name, ST_DIFF_METRIC_COUNT: there is none. */
enum st_diff_metric st_diff_metric_named(const char *name);
/* The quantity measured in both: time, else instructions, else activations. */
enum st_diff_metric st_diff_metric_usual(const struct st_contexts *a, const struct st_contexts *b);
/* Whether both have it. 0, or -1 with *e. */
st_status st_diff_metric_check(const struct st_diff_report *r, struct st_error *e);

/* Into a file that may be full; the caller looks at it. 0, or -1 with *e. */
st_status st_diff_print(const struct st_diff_report *r, FILE *out, struct st_error *e);
st_status st_diff_json(const struct st_diff_report *r, FILE *out, struct st_error *e);

/* ---- what both need ---- */

struct st_diff_row {
	const struct st_compared_trees *trees;
	uint32_t node;
	double change; /* what it is ranked by: B less A */
};

struct st_diff_rows {
	struct st_diff_row *v; /* contexts that differ, most first */
	size_t n;
	size_t appeared, vanished, same; /* of all contexts; all others changed */
	uint64_t whole[ST_SIDES];
};

/* 0, or -1 with *e. The caller frees v. */
st_status st_diff_list(const struct st_diff_report *r, struct st_diff_rows *rows,
                       struct st_error *e);
uint64_t st_diff_value(const struct st_diff_report *r, const struct st_diff_row *row, int side);
/* The same as a share of its side's whole, 0 to 1. */
double st_diff_share(const struct st_diff_report *r, const struct st_diff_rows *rows,
                     const struct st_diff_row *row, int side);
/* "appeared", "vanished" or "changed". */
const char *st_diff_state(const struct st_diff_row *row);

#endif
