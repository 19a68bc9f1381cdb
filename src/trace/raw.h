/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw files of tracers: a line for each event,
 *
 *	TYPE TID [PID [PPID]] TIME;NAME
 *
 * TYPE 0: a function is entered, 1: it returns; 2: a static probe is passed, 3 and 4: the begin and
 * the end of what a pair of static probes encloses; 5 and 6: a thread begins, ends; 7 and 8: a
 * process. Lines that begin with # and empty lines are skipped; "#unit ns" or "#unit us" says in
 * what unit TIME is.
 */
#ifndef STROBE_TRACE_RAW_H
#define STROBE_TRACE_RAW_H

#include "trace/trace.h"

enum st_trace_unit { ST_TRACE_UNIT_OF_FILE, ST_TRACE_NS, ST_TRACE_US };

/*
 * Reads a raw file. Lines that cannot be understood are counted in t->malformed_lines. unit: of the
 * times, ST_TRACE_UNIT_OF_FILE: as the file says, else nanoseconds. -1 with *e: it cannot be read,
 * no line of it can be understood, or memory is exhausted.
 */
st_status st_trace_read_raw(struct st_trace *t, const char *path, enum st_trace_unit unit,
                            bool per_thread, struct st_error *e);

#endif
