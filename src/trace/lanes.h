/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls of threads as slices of a timeline: a lane for each thread, in it a row for each level
 * of nesting. There are never more than about twice as many slices as wanted: neighbours of a row
 * that together are not wider than `width_ns` are merged into one, and the width grows as it must.
 */
#ifndef STROBE_TRACE_LANES_H
#define STROBE_TRACE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/status.h"
#include "base/vec.h"
#include "profile/profile.h"

enum {
	ST_LANE_LEVELS = 250,         /* calls that are nested deeper have no slice */
	ST_LANE_SEVERAL = UINT32_MAX, /* the function of a slice of calls of several functions */
};

struct st_lane_slice {
	uint64_t begin_ns, end_ns, calls;
	uint32_t function;
};

/* A call that is under way. */
struct st_lane_call {
	uint64_t begin_ns, depth;
	uint32_t function;
};

struct st_lane_row {
	ST_VEC(struct st_lane_slice) slices; /* ascending, one after the other */
};

struct st_lane {
	int64_t pid, tid;
	uint64_t last_ns; /* time of the last event */
	ST_VEC(struct st_lane_row) rows;
	ST_VEC(struct st_lane_call) open; /* the innermost last */
};

struct st_lanes {
	ST_VEC(struct st_lane) lanes; /* in the order in which they began */
	struct st_hashmap index;
	size_t most;               /* slices that are wanted */
	size_t slices;             /* that there are */
	uint64_t width_ns;         /* of merged slices, at most; 0: none was merged */
	uint64_t begin_ns, end_ns; /* of all events */
	uint64_t events, calls;    /* calls: those that began */
	uint64_t too_deep;         /* of them: nested too deep for a slice */
	bool too_many;             /* even the widest slices are too many: there are none */
};

/* An entry or a return, in the order of their thread. */
struct st_lane_event {
	int64_t pid, tid;
	uint64_t ns, depth; /* of the call; 1: the outermost */
	uint32_t function;
	bool returns;
};

/* All zeros but `most` has no lane. -1: memory is exhausted. */
st_status st_lanes_add(struct st_lanes *l, const struct st_lane_event *v);
/* Ends what is under way, with the last event of its thread, and merges down to `most` slices. */
st_status st_lanes_finish(struct st_lanes *l);
/* The lane of the thread, until another one is added; NULL: it has none. */
struct st_lane *st_lanes_find(const struct st_lanes *l, int64_t pid, int64_t tid);
/* The name of its thread in the profile; NULL: the profile does not have the thread. */
const char *st_lane_thread_name(const struct st_lane *lane, const struct st_profile *p);
void st_lanes_free(struct st_lanes *l);

#endif
