/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The entries and returns that probes record, as rows of the stream `events`: in the same file as
 * those that the tool `calltimes` makes in the code cache.
 */
#ifndef STROBE_TRACE_PROBE_ROWS_H
#define STROBE_TRACE_PROBE_ROWS_H

#include "probe/probes.h"
#include "rows/rowfile.h"

struct st_probe_rows;

/* Begins to take what a process, which runs, records; `writer` and `probes` outlive it. NULL: no
 * memory. */
struct st_probe_rows *st_probe_rows_begin(struct st_probes *probes, struct st_row_writer *writer);
/* The process records nothing any more: takes what is left. -1: there was no memory for some. */
st_status st_probe_rows_end(struct st_probe_rows *r);

#endif
