/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stacks of a process as a tree, so that equal stacks are one: each sample counts at the node
 * of its innermost frame. The number of nodes is limited.
 */
#ifndef STROBE_COLLECT_STACKTREE_H
#define STROBE_COLLECT_STACKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/status.h"
#include "base/vec.h"
#include "wire/results/samples.h"

enum {
	ST_STACK_NO_PARENT = UINT32_MAX,
	/* In place of a frame: callers that could not be found; frames for which the tree had no
	 * room. */
	ST_FRAME_UNKNOWN = UINT32_MAX - 1,
	ST_FRAME_PRUNED = UINT32_MAX,
	/* Below the innermost frame of a stack that is not a sample in the program's code: this
	 * plus its enum st_stack_kind. */
	ST_FRAME_KINDS = UINT32_MAX - 32,
};

/* A stack of more levels than this has each place once in its middle: see
 * st_stack_tree_condense. */
#define ST_STACK_LEVELS 512

struct st_stack_node {
	uint32_t parent; /* comes before it; ST_STACK_NO_PARENT: it is the root of a thread */
	uint32_t frame;  /* number or ST_FRAME_*; of a root: the index of the thread's record */
	uint64_t count;  /* samples whose innermost frame this is */
	uint64_t waited; /* ns */
};

struct st_stack_tree {
	ST_VEC(struct st_stack_node) nodes;
	struct st_hashmap index; /* of nodes, by parent and frame */
	ST_VEC(uint64_t) seen;   /* by frame: 1 + the number of the last stack that had it */
	uint64_t added;          /* stacks of all kinds */
	uint64_t stacks;         /* samples in the program's code added so far */
	uint64_t incomplete;     /* of these: not followed to their end */
	uint64_t pruned;         /* of these: the tree had no room for their inner frames */
};

/* Shortens a path, outermost frame first, that is deeper than ST_STACK_LEVELS: its first and its
 * last quarter of that many frames stay, and between them those that are not yet on the path. Which
 * places are on the stack stays true. Returns how many frames there are then, or 0: no memory. */
size_t st_stack_tree_condense(struct st_stack_tree *t, uint32_t *path, size_t n);
/* The attributes of a stack, apart from its frames. */
struct st_stack_about {
	uint32_t thread;
	bool whole; /* the outermost frame is the thread's first */
	enum st_stack_kind kind;
	uint64_t waited; /* ns */
};
/* Whether a frame stands for a kind of stacks. */
static inline bool
st_frame_is_kind(uint32_t frame)
{
	return frame >= ST_FRAME_KINDS && frame < ST_FRAME_UNKNOWN;
}
static inline enum st_stack_kind
st_frame_kind(uint32_t frame)
{
	return st_frame_is_kind(frame) ? (enum st_stack_kind)(frame - (uint32_t)ST_FRAME_KINDS)
	                               : ST_STACK_CODE;
}
/* Counts a stack of a thread, outermost frame first. Nodes are only made while there are fewer than
 * `most`, except those that say what is missing, or what kind of stack it is. 0, or -1: no memory.
 */
st_status st_stack_tree_add(struct st_stack_tree *t, const struct st_stack_about *about,
                            const uint32_t *path, size_t n, size_t most);
void st_stack_tree_free(struct st_stack_tree *t);

#endif
