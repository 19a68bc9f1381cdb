/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The control-flow graph of one function, read from its code: what can follow what. Where the code
 * does not say what follows (jumps through tables, what calls do), that is said of the node, and
 * left to who asks the graph.
 */
#ifndef STROBE_RECONSTRUCT_GRAPH_H
#define STROBE_RECONSTRUCT_GRAPH_H

#include "base/status.h"
#include "reconstruct/code.h"

enum { ST_NO_NODE = UINT32_MAX };

struct st_node {
	struct st_piece piece;
	uint32_t next[2]; /* in the same function; ST_NO_NODE */
	bool leaves;      /* it may be the last of its function: a return, a jump elsewhere */
};

struct st_graph {
	struct st_image *image;
	const struct st_function *function;
	ST_VEC(struct st_node) nodes; /* ordered by where they start */
	ST_VEC(uint32_t) entries;     /* where the function is entered from outside */
	/* Calls of the function may be gone on with anywhere in it: it has landing pads of
	 * exceptions, or calls what returns twice. */
	bool comes_anywhere;
};

/* The graph of the function that the addresses belong to; a node begins at each of them. 0, or -1
 * when there is no such function, its code cannot be read, or memory is exhausted. */
st_status st_graph_build(struct st_graph *g, struct st_code *c, uint32_t image,
                         const uint64_t *starts, size_t n);
void st_graph_free(struct st_graph *g);
/* The node that begins at an address; ST_NO_NODE. */
uint32_t st_graph_at(const struct st_graph *g, uint64_t address);
/* The node in which straight code from a node on comes to its branch. */
uint32_t st_graph_last(const struct st_graph *g, uint32_t node);
/* The node of the call behind which an address lies; ST_NO_NODE. */
uint32_t st_graph_call_before(const struct st_graph *g, uint64_t address);

#endif
