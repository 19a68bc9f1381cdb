/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stacks of samples say, for a terminal: who called a function and what it called, and the
 * stacks as a tree. */
#ifndef STROBE_REPORT_CALLERS_H
#define STROBE_REPORT_CALLERS_H

#include "base/status.h"
#include "contexts/pairs.h"
#include "report/report.h"

/* Callers and callees of all functions. */
struct st_callers {
	const struct st_report *r;
	struct st_contexts contexts;
	struct st_forest pairs;
	bool known; /* the profile has stacks of samples; else nothing is printed */
};

/* 0, or -1 with *e. To be closed in both cases. */
st_status st_callers_open(struct st_callers *c, const struct st_report *r, struct st_error *e);
void st_callers_close(struct st_callers *c);
/* Two tables: the callers of a function of the profile, and what it called. */
void st_callers_print(const struct st_callers *c, uint32_t function, FILE *out);

/* The stacks of all threads as a tree, of which r->top frames with the most samples are shown. 0,
 * or -1 with *e: the profile has none, or memory is exhausted. */
st_status st_report_stacks(const struct st_report *r, FILE *out, struct st_error *e);

#endif
