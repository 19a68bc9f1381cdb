/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What noise has shown, as tables for people and as JSON. */
#ifndef STROBE_REPORT_BLOW_H
#define STROBE_REPORT_BLOW_H

#include <jansson.h>
#include <stdio.h>

#include "blow/campaign.h"

/* Orders of functions. S(identifier, "word") */
#define ST_BLOW_SORTS(S)                                                                           \
	S(SLOPE, "slope")                                                                          \
	S(FITNESS, "fitness")                                                                      \
	S(SHARE, "share")
enum st_blow_sort {
#define S(id, word) ST_BLOW_BY_##id,
	ST_BLOW_SORTS(S)
#undef S
	        ST_BLOW_SORT_COUNT
};

struct st_blow_view {
	enum st_blow_sort sort;
	size_t top; /* rows; 0: all */
	bool full;  /* names are not shortened */
};

/* The functions that noise was put into, in the order of the view. */
struct st_blow_row {
	uint32_t function;
	struct st_blow_finding finding;
	double gain; /* of the greatest virtual speed-up; NAN: it was not tried */
};
struct st_blow_rows {
	ST_VEC(struct st_blow_row) list;
};
/* -1: memory is exhausted. The caller frees list.v. */
st_status st_blow_order(const struct st_blow *b, enum st_blow_sort sort, struct st_blow_rows *out);

/* The runs, the functions of most, the faults, and what has to be known of the numbers. */
st_status st_blow_text_print(const struct st_blow *b, const struct st_blow_view *view, FILE *out);
/* All functions, and those that get noise, with their names; times: and the mean time of a call. */
void st_blow_functions_print(const struct st_blow *b, bool times, FILE *out);
/* As docs/json.md has it. -1 with *e: memory is exhausted. */
st_status st_blow_json(const struct st_blow *b, const struct st_profile *p, FILE *out,
                       struct st_error *e);

#endif
