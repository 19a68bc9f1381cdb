/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace from entries and returns, one after the other: by which engines that deliver records, and
 * raw files, come to the same numbers as those that add up while the program runs.
 *
 * Inclusive time is that from entry to return; exclusive time is that less the inclusive time of
 * what the activation called itself, in the same thread. A return of a function further up the
 * stack ends that one: what lies above it has been left without a return, is counted as lost and
 * charged to nobody. A return of a function that is not on the stack is ignored, and counted as
 * stray.
 */
#ifndef STROBE_TRACE_AGGREGATE_H
#define STROBE_TRACE_AGGREGATE_H

#include "trace/trace.h"

struct st_trace_aggregate;

/* NULL: memory is exhausted. */
struct st_trace_aggregate *st_trace_aggregate_new(bool per_thread);
void st_trace_aggregate_free(struct st_trace_aggregate *a);

/* Thread `tid` enters or returns from the function of that name (n bytes) at that time. */
st_status st_trace_enter(struct st_trace_aggregate *a, int64_t tid, const char *name, size_t n,
                         uint64_t ns);
st_status st_trace_return(struct st_trace_aggregate *a, int64_t tid, const char *name, size_t n,
                          uint64_t ns);
/* A thread or process begins or ends; pid and ppid -1: not said. */
st_status st_trace_lane(struct st_trace_aggregate *a, const struct st_trace_lane *lane,
                        const char *name, size_t n);
/* What is still under way is counted as lost. *t is the caller's, to be freed by st_trace_free; the
 * aggregate is empty then. */
st_status st_trace_aggregate_end(struct st_trace_aggregate *a, struct st_trace *t);

#endif
