/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace of function calls as tables for people, and as JSON. */
#ifndef STROBE_REPORT_TRACE_H
#define STROBE_REPORT_TRACE_H

#include <jansson.h>
#include <stdio.h>

#include "trace/plan.h"
#include "trace/trace.h"

/* Two tables: functions by exclusive time, callers and callees by inclusive time; `top` rows of
 * each at most, 0: all. Then what has to be known of the numbers, and of the functions that could
 * not be traced the first few, or all. */
void st_trace_text(const struct st_trace *t, size_t top, bool all_refused, FILE *out);
/* The trace as docs/json.md has it. NULL: no memory. */
json_t *st_trace_object(const struct st_trace *t, const struct st_profile *p);
/* The same as text. -1 with *e: memory is exhausted. */
st_status st_trace_json(const struct st_trace *t, const struct st_profile *p, FILE *out,
                        struct st_error *e);

/* The functions that would be traced, a line for each. */
void st_trace_plan_text(const struct st_trace_plan *plan, FILE *out);
/* The same as JSON. */
st_status st_trace_plan_json(const struct st_trace_plan *plan, FILE *out, struct st_error *e);

#endif
