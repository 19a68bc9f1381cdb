/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forests of calling contexts, as they lie in the results. */
#ifndef STROBE_WIRE_RESULTS_FOREST_H
#define STROBE_WIRE_RESULTS_FOREST_H

#include <stdint.h>

/*
 * A forest: trees of contexts, such as who called whom. Its nodes are numbered from 1 on, and have
 * labels, which are numbers of addresses. What a tool does with `link` and `level` is its own
 * matter. The roots of a thread's trees are the children of the thread's node, whose label is 0,
 * and whose link is the thread's number.
 */
typedef struct {
	uint64_t count;
	uint32_t label, parent, child, next; /* child: the newest; next: sibling */
	uint32_t link, level;
	uint32_t recent[8]; /* strobe_remember; by the lowest bits of labels */
} strobe_node;
/* Label of those that are not in the forest: STROBE_FORK_NODES in a row, which have what does not
 * fit into another's `recent`, by the next bits. */
static const uint32_t STROBE_FORK = UINT32_MAX;
enum { STROBE_FORK_NODES = 4, STROBE_FORK_SLOTS = 8 * STROBE_FORK_NODES };
/* The exclusive cost of a node. */
typedef struct {
	uint64_t ticks, instructions;
} strobe_cost;
/*
 * A loop: a node, the head, that is gone back to. An entry of it goes there otherwise; its
 * iterations are how often the head is then executed until the next entry. histogram: the
 * number of entries by iterations, in powers of two: 1, 2 to 3, 4 to 7; the last class has all that
 * is more. The last entry is not in it as long as the head's count is above `base`: that are its
 * iterations.
 */
enum { STROBE_LOOP_CLASSES = 32 };
typedef struct {
	uint32_t head;
	uint32_t unused;
	uint64_t base;
	uint64_t least, most; /* iterations of one entry; 0: of none */
	uint64_t open; /* the least of entries in the histogram that may have more; 0: none */
	uint64_t histogram[STROBE_LOOP_CLASSES];
} strobe_loop;
/* The class of a number that is not 0. */
static inline uint32_t
strobe_loop_class(uint64_t iterations)
{
	uint32_t log = 63 - (uint32_t)__builtin_clzl(iterations);
	return log < STROBE_LOOP_CLASSES ? log : STROBE_LOOP_CLASSES - 1;
}
/* 0: nothing is remembered. */
static inline uint32_t
strobe_recall(const strobe_node *nodes, uint32_t from, uint32_t label)
{
	uint32_t to = nodes[from].recent[label & 7];
	uint32_t slot = label / 8 % STROBE_FORK_SLOTS;
	if (nodes[to].label == STROBE_FORK)
		to = nodes[to + slot / 8].recent[slot % 8];
	return nodes[to].label == label ? to : 0;
}

#endif
