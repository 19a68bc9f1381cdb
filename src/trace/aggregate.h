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
/*
 * The same from an engine, which knows a function by the number that st_trace_declare gives it, and
 * where the return address lies. A return ends the activations of the same place: of a function,
 * and of those that jumped to it at their end; what lies below the stack pointer has been left
 * without a return (src/tools/calltimes.c). Where nothing began, the return is of no interest: its
 * call was before the trace, or was not to be traced.
 */
struct st_trace_event {
	uint64_t ns, sp;
	int64_t tid, pid;
	uint32_t function; /* of an entry */
	/* Of an entry, the return address; 0: it is the one of the activation at the same place,
	 * which has jumped there. */
	uint64_t back;
	bool jumps_to_itself; /* the function may jump to its own beginning */
};

struct st_trace_limits {
	uint64_t depth;    /* of calls that are traced within each other; 0: none */
	uint64_t followed; /* of returns that the engine can wait for in a thread; 0: none */
	bool has_scope;    /* other calls count only while `scope` runs in their process */
	uint32_t scope;
};

/* Before the first event. */
void st_trace_limit(struct st_trace_aggregate *a, const struct st_trace_limits *limits);
/* The number of a function. Its texts outlive the trace. ST_TRACE_NOBODY: memory is exhausted. */
uint32_t st_trace_declare(struct st_trace_aggregate *a, const struct st_trace_function *about);
st_status st_trace_event_entry(struct st_trace_aggregate *a, const struct st_trace_event *event);
st_status st_trace_event_return(struct st_trace_aggregate *a, const struct st_trace_event *event);
/* The same of what a pair of static probes encloses; of a single one both at once. They are apart
 * from the functions of the thread, in which they may begin and end anywhere. */
st_status st_trace_static_begin(struct st_trace_aggregate *a, const struct st_trace_event *event);
st_status st_trace_static_end(struct st_trace_aggregate *a, const struct st_trace_event *event);
/* The thread ends, or becomes another program, and with it what is under way. */
st_status st_trace_event_end(struct st_trace_aggregate *a, const struct st_trace_event *event);
/* The same of all threads. */
st_status st_trace_events_end(struct st_trace_aggregate *a, uint64_t ns);

/* A thread or process begins or ends; pid and ppid -1: not said. */
st_status st_trace_lane(struct st_trace_aggregate *a, const struct st_trace_lane *lane,
                        const char *name, size_t n);
/* Counts the activations that have not ended as lost. The caller frees *t by st_trace_free. The
 * aggregate is empty afterwards. */
st_status st_trace_aggregate_end(struct st_trace_aggregate *a, struct st_trace *t);

#endif
