/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Translated code as every folder may know it: what a decoded block is, the versions of its
 * translation, and what may be asked of the translations. jit has it. */
#ifndef STROBE_RT_CODE_H
#define STROBE_RT_CODE_H

#include "rt/arch/x86_64/decode.h"
#include "rt/rt.h"

enum {
	MAX_BLOCK_INSNS = 128,  /* of one translated fragment */
	MAX_BLOCK_BYTES = 1024, /* less than a page: a fragment touches two pages at most */
};

/*
 * Two translations of the same code can be in the cache at once. Each leads only to blocks of its
 * own version, and has lookup tables of its own: a thread changes between them in the dispatcher.
 */
enum version {
	VERSION_TOOLS, /* with what the tools ask for */
	VERSION_PLAIN, /* the program and nothing else */
	N_VERSIONS,
	VERSION_NONE = N_VERSIONS /* of the lookup: nothing is found */
};

/* Where a conditional branch goes. */
enum direction { DIRECTION_TAKEN, DIRECTION_NOT_TAKEN };

/* The offset, from the thread, of the counter slot of an id (a block's, or another count's). */
static inline uint32_t
counter_field(uint32_t id)
{
	return ST_THREAD_PRIVATE + id * 8;
}

/* The program's code as decoded for one block. */
struct build {
	uint64_t pc;
	uint32_t n, bytes, extent;
	uint32_t map;
	uint8_t end; /* enum st_block_end */
	bool more;   /* cut short: a continuation follows */
	bool writable,
	        checked;  /* code that may change; that must be compared before each execution */
	bool tracked;     /* with --unique: it is known which instructions have been measured */
	bool seen;        /* with --unique: all of it has been measured; else nothing of it has */
	uint64_t target;  /* direct target */
	uint8_t copy[15]; /* of the code, if it is checked: one instruction */
	uint32_t whole_insns, whole_bytes;       /* of the whole basic block */
	uint8_t flags_live[MAX_BLOCK_INSNS + 1]; /* ST_F_* live before instruction i */
	struct st_insn insn[MAX_BLOCK_INSNS];
	uint16_t at[MAX_BLOCK_INSNS + 1]; /* offset of instruction i */
};

/* May it raise a fault, so that a handler sees the state before it? Errs on the side of true. */
bool jit_may_fault(const struct st_insn *in, const uint8_t *code);

/* The block's index, or 0. */
uint32_t jit_find(uint64_t pc, enum version version);
/* Of the cache: how often it has been flushed. */
uint32_t jit_generation(void);
/* Drops the block, and those that it falls into. */
void jit_drop(uint32_t block);
/* Drops every block with code in [start, end). Its threads leave it at its next exit. */
void jit_invalidate(uint64_t start, uint64_t end);
/* The exit of a block that tools see once leads out again: `armed` stood there before. */
void jit_arm_first(uint32_t exit, uint16_t armed);
/* t->resume is where the program may come back to, but not now; and no longer. */
void jit_suspend_resume(struct thread *t);

#endif
