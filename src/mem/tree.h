/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations as a tree of calls: from the program's begin to the allocation functions, or from
 * these to their callers. Frames of one function and line below one node are one node. */
#ifndef STROBE_MEM_TREE_H
#define STROBE_MEM_TREE_H

#include "mem/mem.h"

struct st_mem_amounts {
	uint64_t calls, bytes, live, peak;
};

/* A node comes after its parent. */
struct st_mem_node {
	uint32_t frame;            /* one of its frames; ST_MEM_NONE: node 0, the root */
	uint32_t parent;           /* ST_MEM_NONE: it is the root */
	uint32_t first, next;      /* child and sibling, the most calls first; ST_MEM_NONE: none */
	uint32_t depth;            /* of the root 0 */
	struct st_mem_amounts own; /* of contexts that end here */
	struct st_mem_amounts subtree; /* the same with those below */
};

struct st_mem_tree {
	ST_VEC(struct st_mem_node) nodes;
};

/* callers: the allocation functions are below the root, and their callers below them. -1: memory
 * is exhausted. The caller frees in both cases. */
st_status st_mem_tree_make(struct st_mem_tree *t, const struct st_mem *m, bool callers);
void st_mem_tree_free(struct st_mem_tree *t);

#endif
