/* SPDX-License-Identifier: MIT */
/*
 * The tool API, first form. A tool is one C file that includes this header and nothing else.
 *
 *	#include <strobe/tool.h>
 *
 *	STROBE_COUNTER(blocks, "blocks executed");
 *	STROBE_COUNTER(instructions, "instructions executed");
 *
 *	static void
 *	on_block(strobe_block *b)
 *	{
 *		strobe_count(strobe_block_entry(b), &blocks, 1);
 *		strobe_count(strobe_block_entry(b), &instructions, strobe_block_length(b));
 *	}
 *
 *	STROBE_TOOL(bbcount, .help = "count basic blocks and instructions", .block = on_block);
 *
 * The functions of a tool run in the program under analysis, when the engine translates code: they
 *may call what this header declares, must not touch the program, and must not keep pointers to a
 *block. What they ask for is emitted inline: all constant counts of a block together cost one
 *increment, and counts are exact with any number of threads.
 *
 * Versions: 1 (first form): counters, the block event, sampling.
 */
#ifndef STROBE_TOOL_H
#define STROBE_TOOL_H

#include <stdint.h>

#define STROBE_ABI 1

/* A basic block of the program, as it is about to be translated. Valid only during the block event.
 * It ends at a branch, call, return or system call; an instruction with a rep prefix counts once.
 */
typedef struct strobe_block strobe_block;

/* A place in a block where an action can be asked for. */
typedef struct {
	strobe_block *block;
	uint32_t index; /* instructions of the block that have been executed when the place is
	                   reached */
} strobe_point;

/* A 64-bit sum over the run. Declare it with STROBE_COUNTER; the fields are the engine's. */
typedef struct {
	const char *name, *help;
	uint32_t id; /* 0 until first used */
} strobe_counter;

#define STROBE_COUNTER(identifier, text) static strobe_counter identifier = {#identifier, text, 0}

/* The place before the block's first instruction. */
strobe_point strobe_block_entry(strobe_block *b);
/* Instructions in the block, its last one included. At least 1. */
uint32_t strobe_block_length(const strobe_block *b);
/* The program's address of the block's first instruction. */
uint64_t strobe_block_address(const strobe_block *b);
/* Adds amount to the counter each time the program passes the place. */
void strobe_count(strobe_point at, strobe_counter *counter, uint32_t amount);

typedef struct {
	uint32_t abi;
	const char *name, *help;
	void (*block)(strobe_block *b); /* a basic block is being translated; NULL: no interest */
	uint32_t sample_hz;   /* samples of the program's PC per second of CPU time and thread that
	                         the tool   would like; 0: none */
	uint32_t keep_blocks; /* not 0: the report uses each block's own count, not only the
	                         counters' sums */
} strobe_tool;

#define STROBE_TOOL(identifier, ...)                                                               \
	strobe_tool strobe_tool_##identifier = {.abi = STROBE_ABI, .name = #identifier, __VA_ARGS__}

#endif
