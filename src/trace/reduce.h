/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that an earlier trace shows to be called too often for what they tell. Left out is one
 * that was called
 *   - more than 100,000 times;
 *   - more than 1000 times, if its calls all last about as long (the middle half of them lies
 *     within 5 % of the median), or not long (the median is at most 10 us);
 *   - once in each call of its only caller, and for most of it (the median is at least 0.8 of the
 *     caller's).
 * Or by the shape of its call graph: shape.h.
 */
#ifndef STROBE_TRACE_REDUCE_H
#define STROBE_TRACE_REDUCE_H

#include "base/error.h"
#include "symbol/symbol.h"
#include "trace/shape.h"
#include "trace/trace.h"

struct st_trace_reduction;

/* Opens a reduction by a profile or a raw file of an earlier trace (path NULL: none); with
 * ST_SHAPE_NONE it uses the call counts of functions. skips_constant: also leave out functions by
 * their code (st_image_is_constant). NULL with *e. */
struct st_trace_reduction *st_trace_reduction_open(const char *path, enum st_trace_shape shape,
                                                   bool skips_constant, struct st_error *e);
void st_trace_reduction_close(struct st_trace_reduction *r);
/* Is the function left out? Functions are the same if their names and the base names of their
 * images are; raw files have no images. */
bool st_trace_leaves_out(struct st_trace_reduction *r, struct st_image *image, const char *path,
                         const struct st_function *f);
/* Adds those of which this was true to t->refused. -1: memory is exhausted. */
st_status st_trace_add_left_out(const struct st_trace_reduction *r, struct st_trace *t);

#endif
