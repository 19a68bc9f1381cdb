/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trees of labels with weights, and the operations on them of Valtchev, "IHPP" (BSc thesis,
 * Sapienza 2012), sections 3.2 and 3.3.
 *
 * Nodes are numbered from 0 in the order in which they were made, so a parent comes before its
 * children. A path from a root is there once.
 */
#ifndef STROBE_CONTEXTS_FOREST_H
#define STROBE_CONTEXTS_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashmap.h"

enum { ST_NO_NODE = UINT32_MAX };

/* Activations, and what they cost by themselves. */
struct st_weight {
	uint64_t count, self_ns, instructions;
};

struct st_tree_node {
	uint32_t label;
	uint32_t parent, first, last, next; /* children in the order in which they were made */
	uint32_t loop;                      /* the caller's; 0 at first */
	struct st_weight weight;
	uint64_t top; /* activations during which it was the top region of another context */
	/* Of the node and all below it: see st_forest_total. */
	uint64_t total_ns, total_instructions;
};

struct st_forest {
	struct st_tree_node *nodes;
	uint32_t n, room;
	uint32_t first, last;    /* roots */
	struct st_hashmap index; /* of nodes, by parent and label */
	bool out_of_memory;      /* and so not complete */
};

void st_forest_init(struct st_forest *f);
void st_forest_free(struct st_forest *f);
/* The node behind a path's last node, or a root (parent ST_NO_NODE), made when there is none.
 * ST_NO_NODE when memory is exhausted. */
uint32_t st_forest_child(struct st_forest *f, uint32_t parent, uint32_t label);
/* The same, ST_NO_NODE when there is none. */
uint32_t st_forest_find(const struct st_forest *f, uint32_t parent, uint32_t label);
void st_forest_add(struct st_forest *f, uint32_t node, const struct st_weight *w);
/*
 * The operation inv_k (definition 6): adds to `out` the reversed path of at most k + 1 labels that
 * leads to the node, with its weight at each of its nodes.
 */
void st_forest_invert(const struct st_forest *f, uint32_t node, uint32_t k,
                      const struct st_weight *w, struct st_forest *out);
/* Takes away the nodes whose marks do not have the bit. Those above one that has it have it, too.
 * Numbers of nodes change; totals stay as they are. */
void st_forest_keep(struct st_forest *f, const unsigned char *marks, unsigned char bit);
/* Adds up what is below each node. */
void st_forest_total(struct st_forest *f);

#endif
