/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded entries and returns of functions (`strobe trace --events`) as the calling contexts that
 * they make up, for the formats of contexts. */
#ifndef STROBE_EXPORT_TRACE_STACKS_H
#define STROBE_EXPORT_TRACE_STACKS_H

#include <stdio.h>

#include "base/error.h"
#include "export/contexts.h"

struct st_profile;
struct st_row_reader;

/*
 * A context is a stack of calls in a thread. It is worth the own time of its calls that returned,
 * by the rule of the tables. `run` has the threads and where functions stand in the source; `rows`
 * NULL: nothing was called. What is too much for the limit is left out and counted in *cut.
 * -1 with *e: the rows are none of a trace, damaged, or memory is exhausted.
 */
st_status st_trace_write_stacks(const struct st_profile *run, struct st_row_reader *rows,
                                const struct st_context_format *format,
                                const struct st_context_limit *limit, struct st_context_cut *cut,
                                FILE *out, struct st_error *e);

#endif
