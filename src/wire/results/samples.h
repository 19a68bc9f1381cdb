/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: samples, and copies of the stack for them. */
#ifndef STROBE_WIRE_RESULTS_SAMPLES_H
#define STROBE_WIRE_RESULTS_SAMPLES_H

#include <stdint.h>

enum {
	ST_MAX_SAMPLES = 4 << 20, /* samples kept; later ones are counted as dropped */
	ST_STACK_RING = 2 << 20,  /* bytes of the ring of stacks */
	ST_STACK_MOST = 64 << 10, /* bytes of stack copied at a sample */
	ST_STACK_ALIGN = 128,     /* records of the ring start at multiples of this */
};

enum { ST_SAMPLE_CODE = 0, ST_SAMPLE_RUNTIME = 1, ST_SAMPLE_SYSCALL = 2 };
struct st_sample {
	uint64_t pc;     /* program address, also when the engine's own code was running for it */
	uint32_t thread; /* index of the thread record */
	uint8_t where; /* ST_SAMPLE_*: at an instruction of the program, at one of the engine's (in
	                  the runtime, or put into translated code), in a system call */
	uint8_t end;   /* enum st_block_end of the block under way */
	uint8_t insns; /* of the block under way; 0: none was */
	uint8_t added; /* what tools have put into it: machine instructions for each eight of the
	                  program's; 255: or more */
};
/*
 * Why a stack was taken: a sample found the thread in the program's code, or in a system call, or
 * the thread has waited in one. K(identifier, name in a tree of stacks)
 */
#define ST_STACK_KINDS(K)                                                                          \
	K(CODE, "[code]")                                                                          \
	K(KERNEL, "[kernel]")                                                                      \
	K(SLEEP, "[sleep]")                                                                        \
	K(FUTEX, "[futex]")                                                                        \
	K(POLL, "[poll]")                                                                          \
	K(CHILD, "[child]")                                                                        \
	K(SIGNAL, "[signal]")                                                                      \
	K(IO, "[I/O]")                                                                             \
	K(LOCK, "[lock]")                                                                          \
	K(OTHER, "[other]")
enum st_stack_kind {
#define K(id, name) ST_STACK_##id,
	ST_STACK_KINDS(K)
#undef K
	        ST_STACK_KIND_COUNT
};

/*
 * A record of the ring of stacks: the registers that unwinding needs, and after them the program's
 * stack from rsp upwards. Valid once `mark` is the record's position + 1, which is written last.
 */
struct st_stack {
	uint64_t mark;
	uint32_t space;  /* bytes up to the next record */
	uint32_t bytes;  /* of stack that follow */
	uint32_t filler; /* not 0: an empty record up to the end of the ring */
	uint32_t cut;    /* not 0: the stack goes on after what was copied */
	uint64_t pc, rsp, rbp, rbx, r12, r13, r14, r15;
	uint32_t thread; /* index of the thread record */
	uint32_t kind;   /* enum st_stack_kind */
	uint64_t waited; /* ns; of a sample 0 */
	uint32_t padding[6];
};

/* A seccomp filter was in force when the process began. */
enum { ST_SAMPLES_FILTERED = 1 << 16 };

struct st_sample_results {
	uint64_t n; /* may exceed ST_MAX_SAMPLES: the rest was dropped */
	/* The ring of stacks: positions count bytes from the beginning of the run. */
	uint64_t stack_head;     /* up to where the runtime has reserved */
	uint64_t stack_tail;     /* up to where the controller has given back */
	uint64_t stacks_dropped; /* that found no space in the ring */
	int32_t refused;         /* why threads have a timer and no perf event: an errno,
	                            ST_SAMPLES_FILTERED, or 0: no event was asked for */
};

#endif
