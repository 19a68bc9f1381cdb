/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded entries and returns of functions (`strobe trace --events`) in formats of other tools. */
#ifndef STROBE_EXPORT_TRACE_EVENTS_H
#define STROBE_EXPORT_TRACE_EVENTS_H

#include <stdio.h>

#include "base/error.h"

struct st_profile;
struct st_row_reader;

/* The Trace Event Format, as Perfetto (ui.perfetto.dev) and chrome://tracing read it: nested slices
 * for each thread. `run` has the names of the processes. -1 with *e: the rows are none of a trace,
 * damaged, or memory is exhausted. */
st_status st_trace_write_timeline(const struct st_profile *run, struct st_row_reader *rows,
                                  FILE *out, struct st_error *e);
/* A raw file: trace/raw.h. The same. */
st_status st_trace_write_raw(struct st_row_reader *rows, FILE *out, struct st_error *e);

#endif
