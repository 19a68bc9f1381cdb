/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the nodes that every path through a function's graph must pass between two points that are
 * known to have been executed.
 */
#ifndef STROBE_RECONSTRUCT_WAYS_H
#define STROBE_RECONSTRUCT_WAYS_H

#include "base/status.h"
#include "reconstruct/graph.h"

/* Stands for the outside of the function where a node is asked for. */
enum { ST_OUTSIDE = UINT32_MAX - 1 };

struct st_ways_asked {
	const uint32_t *from; /* the nodes that can have come first; ST_OUTSIDE: the function was
	                         left at once */
	size_t n;
	uint32_t to;    /* a node, or ST_OUTSIDE */
	bool renewed;   /* the function may have been left, and entered again, in between */
	bool returning; /* no call ends in any other way than by coming back */
};

struct st_ways {
	/* Nodes that every way passes, without `to`, in the order in which they are first passed.
	 */
	ST_VEC(uint32_t) must;
	/* There is one way, so `must` is it, and each node in it was passed once. */
	bool exact;
	/* What else may have been passed: nodes, and among all that may or must have been passed
	 * calls, and jumps of which the code does not say where they go. */
	size_t open, calls, indirect;
};

/* 0, or -1 when there is no way at all, or memory is exhausted. */
st_status st_ways_find(struct st_ways *w, const struct st_graph *g,
                       const struct st_ways_asked *asked);
void st_ways_free(struct st_ways *w);

#endif
