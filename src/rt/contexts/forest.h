/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread's forest, in three parts: its trees (forest.c), the memory they are in (nodes.c), and
 * what is done when there is no more of that (prune.c). */
#ifndef STROBE_RT_CONTEXTS_FOREST_H
#define STROBE_RT_CONTEXTS_FOREST_H

#include "rt/tool/tool.h"

/* Nodes that are not used, zeroed but for `next`: single ones, and the first of STROBE_FORK_NODES
 * in a row. */
struct spare_nodes {
	uint32_t one, n_ones;
	uint32_t row, n_rows;
};

struct forest {
	struct forest *next_forest;
	uint32_t node;            /* the thread's */
	uint32_t aside;           /* strobe_aside_node; 0: none yet */
	uint32_t pruned;          /* strobe_pruned_node */
	uint32_t forks;           /* the newest; `next`: the one before */
	uint32_t held;            /* nodes that it has been given, used or not */
	uint32_t next, end;       /* numbers that it may use next */
	struct spare_nodes spare; /* and others */
	uint32_t patience;        /* number of steps for which pruning is not worth it */
	uint32_t kept;            /* nodes that the tool has asked to keep: each is a look at it */
	bool asked;               /* another thread has too little */
	bool ended;               /* the thread has: anybody may prune it */
	strobe_map children;      /* by parent << 32 | label; of nodes with many: by
	                             parent << 32, not 0 */
};

/* The process' forests. tools_lock held. */
extern struct forest *all_forests;
struct forest *forest_of(struct thread *t);

/* ---- nodes.c ---- */

/* So many in a row, 1 or STROBE_FORK_NODES, zeroed; 0: there is no room. */
uint32_t nodes_take(struct forest *f, uint32_t n);
/* The same for what a thread cannot be without: beyond the bound, if need be. */
uint32_t nodes_take_basic(struct forest *f);
/* One, or STROBE_FORK_NODES of them, that the forest has had. tools_lock held. */
void nodes_give(struct forest *f, uint32_t first, uint32_t n);
/* The thread has ended: what it has not used. */
void nodes_give_unused(struct forest *f);
/* Has it what a step may take? Gets more from the process'. */
bool nodes_enough(struct forest *f);
/* The largest number of nodes in the process. */
uint32_t nodes_bound(void);
void nodes_forget(void);

/* ---- known.c ---- */

/* A label, or a node, has been made. */
void known_note_label(uint32_t label, uint64_t address);
void known_note_node(uint32_t node, uint32_t parent, uint32_t label);
void known_forget(void);

#endif
