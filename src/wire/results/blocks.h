/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: basic blocks, what their executions add to counters, executions that ended early. */
#ifndef STROBE_WIRE_RESULTS_BLOCKS_H
#define STROBE_WIRE_RESULTS_BLOCKS_H

#include <stdint.h>

enum {
	ST_MAX_BLOCKS = 4 << 20,   /* block ids per process; id 0 is never used */
	ST_MAX_AMOUNTS = 32 << 20, /* what blocks add to counters and cells */
	ST_MAX_PARTIALS = 1 << 20, /* places where a block was left early */
	ST_FIRST_ID = 16,          /* the ids below are not blocks' */
};

/* How a block ends (the rule of `bbcount`: a block ends at every branch, call, return and system
 * call). */
enum st_block_end {
	ST_END_NONE = 0, /* ran off the end of executable memory, or into an instruction handed to
	                    native execution */
	ST_END_JUMP,     /* direct unconditional jump */
	ST_END_BRANCH,   /* conditional jump (jcc, loop, jrcxz) */
	ST_END_CALL,     /* direct call */
	ST_END_IJUMP,    /* indirect jump */
	ST_END_ICALL,    /* indirect call */
	ST_END_RETURN,
	ST_END_SYSCALL,
};

/* st_block.flags. SEEN: it has been executed, and its tools wanted to see that once. REFUSED: it
 * was not instrumented, because all of it has been seen. EDGE, INDIRECT: see below; TAKEN,
 * NOT_TAKEN: the way that it counts. */
enum {
	ST_BLOCK_COUNTED = 1,
	ST_BLOCK_TALLY = 2,
	ST_BLOCK_SEEN = 4,
	ST_BLOCK_REFUSED = 8,
	ST_BLOCK_EDGE = 16,
	ST_EDGE_TAKEN = 32,
	ST_EDGE_NOT_TAKEN = 64,
	ST_EDGE_WAYS = ST_EDGE_TAKEN | ST_EDGE_NOT_TAKEN,
	ST_BLOCK_INDIRECT = 128,
};

/*
 * A basic block as the program executed it. Executions of block b = sum over slots of
 * counters[slot][b]. Executions that a signal, a fault or a hand-over ended early are not counted
 * there but in a st_partial.
 * An id whose block has no bytes is a tally: what a condition let through, or an operand's sum.
 * A tally with ST_BLOCK_EDGE is a conditional branch, instruction n_insns of the basic block
 * `target` (an id). It counts one of the two ways that the branch can go: which one is known when
 * it has been executed once. The other one was gone all other times that the branch was executed.
 * A tally with ST_BLOCK_INDIRECT says how often an indirect branch, or a return, went to the
 * address `target`. It is the last instruction before the address `pc`, in the same mapping.
 */
struct st_block {
	uint64_t pc;    /* program address of its first instruction */
	uint32_t map;   /* index of the mapping; 0 is a valid index */
	uint32_t bytes; /* length of the program's code */
	uint32_t n_insns;
	uint16_t end; /* enum st_block_end */
	uint16_t flags;
	uint64_t target; /* program address of a direct jump, branch or call; else 0 */
};

/* What each execution of a block adds: `amount` at each of the points before its instructions first
 * to last - 1, to a cell (see ST_CELL); where last is first, once, at its entry. A point at
 * instruction i counts when i instructions before it, and the one after it, have been or are about
 * to be executed. Of a branch with ST_BLOCK_EDGE, first says for which way it is, 0: taken, 1: not
 * taken. */
struct st_amount {
	uint32_t block;
	uint16_t first, last;
	uint64_t cell;
	int64_t amount;
};

/* A number that grows: a counter (table 0, row = its index), or a cell of table - 1. */
#define ST_CELL(table, row, column)                                                                \
	((uint64_t)(table) << 40 | (uint64_t)(column) << 32 | (uint64_t)(row))
static inline uint32_t
st_cell_table(uint64_t cell)
{
	return (uint32_t)(cell >> 40);
}
static inline uint32_t
st_cell_column(uint64_t cell)
{
	return (uint32_t)(cell >> 32) & 0xff;
}
static inline uint32_t
st_cell_row(uint64_t cell)
{
	return (uint32_t)cell;
}

/* `times` executions of the block completed `insns` of its instructions and no more. They add the
 * amounts of the points before these, and of the block's entry if there are any. With
 * ST_PARTIAL_GOES_ON what follows, which has changed meanwhile, was executed as another block:
 * there the entry is counted. */
#define ST_PARTIAL_GOES_ON 0x80000000u
struct st_partial {
	uint32_t block, insns;
	int64_t times;
};

struct st_block_results {
	uint32_t n;         /* highest block id used + 1 */
	uint32_t counting;  /* not 0: some tool counts, so that blocks are listed */
	uint64_t n_amounts; /* may exceed ST_MAX_AMOUNTS: the rest was dropped */
	uint32_t n_partials;
};

#endif
