/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call graph of a profile: nodes are functions, edges are calls from one function to another.
 *
 * `self` is the metric of the function alone, `total` with everything that it called; the value of
 * an edge is what the calls cost (contexts/pairs.h): self and the values of the edges that leave a
 * function add up to its total, however it recurs.
 */
#ifndef STROBE_VIEWS_CALLGRAPH_H
#define STROBE_VIEWS_CALLGRAPH_H

#include "profile/profile.h"
#include "trace/trace.h"
#include "views/costs.h"

struct st_callgraph_node {
	const char *name, *image; /* image NULL: unknown */
	double self, total;
	uint64_t calls;
	bool recursive; /* it calls itself, directly or through others */
};

struct st_callgraph_edge {
	uint32_t from, to;
	double value;
	uint64_t calls;
};

struct st_callgraph {
	const char *metric, *unit;
	bool counted; /* numbers of calls are known */
	bool alone;   /* only these are known */
	double all;   /* the sum of `self` */
	size_t n_functions;
	ST_VEC(struct st_callgraph_node) nodes;
	ST_VEC(struct st_callgraph_edge) edges;

	/* The owners of the names of nodes. */
	struct st_costs costs;
	struct st_trace trace;
	bool has_costs, has_trace;
};

/* name: names the profile in messages. metric NULL: the first that the profile has. ST_FAILED with
 * *e: the profile has no calls, or not this metric. The caller frees in both cases, before the
 * profile. */
st_status st_callgraph_open(struct st_callgraph *g, const struct st_profile *p, const char *name,
                            const char *metric, struct st_error *e);
void st_callgraph_free(struct st_callgraph *g);

enum { ST_CALLGRAPH_NONE = UINT32_MAX };

/* The function that matches the name or shell pattern; of several, the one with the greatest total;
 * ST_CALLGRAPH_NONE: there is none. */
uint32_t st_callgraph_find(const struct st_callgraph *g, const char *name);

/* The choice of functions: those whose total is at least the share `least` of all, at most `most`
 * of them, and with a centre only those within `levels` calls of it. */
struct st_callgraph_choice {
	double least;
	uint32_t centre; /* ST_CALLGRAPH_NONE: none */
	size_t levels, most;
};

/*
 * Calls of less than half of the share, and those from and to functions that are not drawn, are
 * calls from the node `others_from` and to the node `others_to`, so that the edges of each function
 * keep their sum; the `self` of the latter is that of all functions that are not drawn.
 */
struct st_callgraph_chosen {
	ST_VEC(uint32_t) nodes; /* of the graph, by total, the greatest first */
	uint32_t others_to,
	        others_from; /* their numbers, after the nodes; ST_CALLGRAPH_NONE: none */
	double others_self;
	ST_VEC(struct st_callgraph_edge) edges; /* between numbers in `nodes` */
	size_t left_out;                        /* functions that fit and are more than `most` */
};

/* ST_FAILED: memory is exhausted. The caller frees in both cases. */
st_status st_callgraph_choose(const struct st_callgraph *g, const struct st_callgraph_choice *c,
                              struct st_callgraph_chosen *chosen);
void st_callgraph_chosen_free(struct st_callgraph_chosen *chosen);

#endif
