/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded entries and returns of functions (`strobe trace --events`) in formats of other tools. */
#ifndef STROBE_EXPORT_TRACE_EVENTS_H
#define STROBE_EXPORT_TRACE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct st_profile;
struct st_row_reader;

/* An entry, or a return. Texts live as long as the reader, or as the event if it is `room`. */
struct st_trace_call_event {
	int64_t pid, tid;
	uint32_t process; /* its number in the run: after execve another one */
	uint64_t ns;      /* since the first process began */
	const char *name, *image;
	uint32_t image_index; /* of the reader's profile; UINT32_MAX: none */
	uint64_t offset;      /* in the image */
	bool returns;
	uint64_t depth; /* of the call; 1: the outermost */
	char room[24];  /* for the name of a function that has none */
};

/* 0, or -1 with *e: the rows are none of a trace. */
st_status st_trace_check_events(struct st_row_reader *rows, struct st_error *e);
/* The next one: 1; 0: that was the last; -1 with *e. */
int st_trace_next_event(struct st_row_reader *rows, struct st_trace_call_event *event,
                        struct st_error *e);

/* The Trace Event Format, as Perfetto (ui.perfetto.dev) and chrome://tracing read it: nested slices
 * for each thread. `run` has the names of the processes. -1 with *e: the rows are none of a trace,
 * damaged, or memory is exhausted. */
st_status st_trace_write_timeline(const struct st_profile *run, struct st_row_reader *rows,
                                  FILE *out, struct st_error *e);
/* A raw file: trace/raw.h. The same. */
st_status st_trace_write_raw(struct st_row_reader *rows, FILE *out, struct st_error *e);

#endif
