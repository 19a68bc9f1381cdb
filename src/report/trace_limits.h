/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The actions that kept a trace's budget, as text and as JSON. */
#ifndef STROBE_REPORT_TRACE_LIMITS_H
#define STROBE_REPORT_TRACE_LIMITS_H

#include <jansson.h>
#include <stdio.h>

#include "trace/trace.h"

/* The cost of the probes, and `top` rows (0: all) of functions whose calls were not all timed. */
void st_trace_limits_text(const struct st_trace *t, size_t top, FILE *out);
/* The keys `budget`, `sampled` and `dropped`, if there was a budget. 0, or not when there is no
 * memory. */
int st_trace_add_limits(json_t *root, const struct st_trace *t);

#endif
