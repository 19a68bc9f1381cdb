/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: forests of calling contexts. */
#ifndef STROBE_WIRE_RESULTS_CONTEXTS_H
#define STROBE_WIRE_RESULTS_CONTEXTS_H

#include <stdint.h>

enum {
	ST_MAX_LABELS = 4 << 20, /* of nodes */
	ST_MAX_NODES = 32 << 20, /* of forests of contexts */
	ST_MAX_LOOPS = 1 << 20,  /* among them */
};

/* A label is an address, and above that 1 + the index of the mapping that it had code of; 0 where
 * that says nothing (labels that are no addresses, code made at run time, later mappings). */
enum { ST_LABEL_ADDRESS_BITS = 48, ST_LABEL_MAPS = 0x7fff };
/* Of the artificial root; of the contexts that stand for pruned ones; of callers that could not be
 * found on a sampled stack. */
enum { ST_LABEL_ROOT = 1, ST_LABEL_PRUNED = 2, ST_LABEL_UNKNOWN = 3 };
/* From here on: of an enum st_stack_kind, for the kernel's work and waits below the program's
 * functions. */
enum { ST_LABEL_KINDS = 16 };

/* The label of a basic block is another: its highest bit is set, the bytes of the block's code
 * stand above its address, for which 47 bits are enough. A longer block is of unknown length: a
 * label as others are. */
enum { ST_BLOCK_ADDRESS_BITS = 47, ST_BLOCK_MOST_BYTES = 0xffff };
#define ST_LABEL_IS_BLOCK (1ul << 63)
static inline uint64_t
st_label_of_block(uint64_t address, uint32_t bytes)
{
	if (bytes > ST_BLOCK_MOST_BYTES)
		return address;
	return ST_LABEL_IS_BLOCK | (uint64_t)bytes << ST_BLOCK_ADDRESS_BITS | address;
}

/* What one node has counted is being added to another: when `from` is set, that has nothing any
 * more, and `to` has what is here, whatever they themselves say. */
struct st_moved {
	uint32_t from, to;
	uint64_t count, ticks, instructions;
};

struct st_context_results {
	uint32_t n_labels, n_nodes; /* label 0 and node 0 are none */
	uint32_t n_loops;
	uint32_t has_costs;     /* not 0: some node may have one */
	uint64_t loops_dropped; /* that found no space, or whose heads were pruned */
	uint64_t pruned;        /* nodes that were taken back, or found no space */
	uint64_t suppressed;    /* activations that were not followed: rt/budget/suppress.h */
	struct st_moved moved;
};

#endif
