/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that are left out by where they are in the call graph of an earlier trace. The level of
 * a function is the number of calls by which it is reached at least, 0 for those that no traced
 * function has called. Half of the levels, rounded, but at least two, are kept:
 *   - top-down: the first ones; of these only functions that call others, if the trace has more
 *     than 20 functions;
 *   - bottom-up: functions from which a chain of at least this many functions leads down to one
 *     that calls no other, both included.
 * Or, match: all functions that have been called.
 */
#ifndef STROBE_TRACE_SHAPE_H
#define STROBE_TRACE_SHAPE_H

#include "trace/trace.h"

enum st_trace_shape {
	ST_SHAPE_NONE,
	ST_SHAPE_TOP_DOWN,
	ST_SHAPE_BOTTOM_UP,
	ST_SHAPE_MATCH,
};

/* Its name, as --shape takes it. ST_SHAPE_NONE: none has it. */
enum st_trace_shape st_trace_shape_named(const char *name);

struct st_trace_graph {
	enum st_trace_shape shape;
	uint32_t *level;  /* by functions of the trace; UINT32_MAX: not known */
	uint32_t *height; /* calls down to a function that calls no other, at least; the same */
	uint32_t levels, kept;
	size_t functions;
};

/* -1: memory is exhausted. The caller frees in any case. */
st_status st_trace_graph_make(struct st_trace_graph *g, const struct st_trace *t,
                              enum st_trace_shape shape);
void st_trace_graph_free(struct st_trace_graph *g);
/* Is the function left out? The reason is a part of a sentence. */
bool st_trace_graph_leaves_out(const struct st_trace_graph *g, uint32_t function, char *reason,
                               size_t room);

#endif
