/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan: everything that the controller decides before the program's first instruction under the
 * engine. The controller writes it, the runtime reads it, and nobody changes it while the program
 * runs: struct st_plan lies in the results, struct st_boot goes to the runtime's first instruction.
 */
#ifndef STROBE_WIRE_PLAN_H
#define STROBE_WIRE_PLAN_H

#include <stdint.h>

#include "wire/budget.h"

/* Stress modes: every mechanism of the engine made to run all the time. Given to `strobe run
 * --stress a,b`. */
#define ST_STRESSES(ST_STRESS)                                                                     \
	ST_STRESS(blocks, 1u, "translate in fragments of two instructions")                        \
	ST_STRESS(cache, 2u, "use a tiny code cache, which is flushed when it is full")            \
	ST_STRESS(links, 4u, "do not link blocks to each other")                                   \
	ST_STRESS(flush, 8u, "flush the whole cache after every thousand dispatches")              \
	ST_STRESS(lookup, 16u, "use no lookup table for indirect branches")                        \
	ST_STRESS(threads, 32u, "emit thread-safe code from the start")                            \
	ST_STRESS(far, 64u, "treat every rip-relative operand as out of reach")                    \
	ST_STRESS(versions, 128u, "let threads run instrumented and plain code in turn")           \
	ST_STRESS(watch, 256u, "with --unique and a budget, set breakpoints from the start")       \
	ST_STRESS(suppress, 512u, "with strobe paths, follow only a third of the contexts")

enum {
#define ST_STRESS(name, bit, text) ST_STRESS_##name = bit,
	ST_STRESSES(ST_STRESS)
#undef ST_STRESS
};

enum { ST_MAX_TOOLS = 8 }; /* at once */
#define ST_TOOL_LOADED 0xffffffffu

enum { ST_MOST_LAST = 4096 }; /* blocks that are not measured again yet: plan.unique_last */

/* The region of interest, plan.region_by. Off at the start unless by nothing; by functions, by the
 * controller, by the program's own calls (include/strobe/region.h). LIMITED: only code in
 * ST_ENTRY_CHOSEN functions is instrumented. */
enum {
	ST_REGION_BY_FUNCTION = 1,
	ST_REGION_BY_CONTROLLER = 2,
	ST_REGION_BY_PROGRAM = 4,
	ST_REGION_OFF_AT_START = 8,
	ST_REGION_LIMITED = 16,
};

struct st_plan {
	uint32_t stress;      /* ST_STRESS_* */
	uint32_t follow;      /* not 0: children are taken along, and what processes execute */
	uint32_t follow_exec; /* not 0: what the process itself executes (execve) is taken along */
	uint32_t serves;      /* not 0: a fork server, struct st_serve; without both of these */

	uint32_t n_tools;
	uint32_t n_options; /* bytes of the strings that hold the options, from their beginning */
	uint32_t tools[ST_MAX_TOOLS];        /* index of a built-in tool, or ST_TOOL_LOADED */
	uint32_t tool_options[ST_MAX_TOOLS]; /* offset into the strings of "name=value" texts, one
	                                        after the other, an empty one at the end; 0: none */
	uint64_t tool_entry[ST_MAX_TOOLS];   /* of a loaded tool: its strobe_tool in the target */

	uint32_t sample_hz;     /* samples per second of CPU time; 0: none */
	uint32_t take_stacks;   /* not 0: samples in the program's code come with its stack */
	uint32_t take_waits;    /* not 0: so does what threads wait for in system calls */
	uint32_t wants_entries; /* not 0: the controller is asked for functions (struct st_entry)
	                           after each new executable mapping */

	uint32_t unique;       /* not 0: each block is measured once (--unique) */
	uint32_t unique_last;  /* and again after this many other blocks, at most ST_MOST_LAST;
	                          0: never */
	uint32_t one_coverage; /* not 0: the sections `coverage` and `leaders` are one memory for
	                          all processes of the run; those of this file are not used */

	uint32_t suppresses; /* not 0: contexts that a log has (results/known.h) need not be
	                        followed */

	uint32_t region_by; /* ST_REGION_* */
	uint32_t threads;   /* which threads are measured: offset into the strings of a list that
	                       rt/budget/measured_threads.c explains; 0: all */

	struct st_budget_plan budget;
};

#define ST_BOOT_MAGIC 0x3154424f4f42u

/* What the controller has mapped and found, and the program's registers: a copy of it lies after
 * the results' header, of which the runtime gets the address. */
struct st_boot {
	uint64_t magic;
	uint64_t area;        /* base of the area of wire/area.h */
	uint64_t cache_alias; /* the code cache again, writable */
	uint64_t results;     /* the results, whole file mapped */
	uint64_t lookup;      /* the lookup tables of indirect branches, below 2 GiB: for jumps
	                         and calls, for returns; then the same for plain code */
	uint64_t pool;        /* of a budget that processes share, else 0 */
	uint64_t runtime_end; /* end of the runtime's image, for address tests */
	uint64_t own_space;   /* bytes of address space that the controller has mapped */
	uint64_t own_data;    /* of it private and writable */
	uint64_t threads;     /* of an attached process: its struct st_attached, the first one's is
	                         the thread that enters the runtime at its entry */
	uint32_t attached;    /* not 0: a process that was running: its number of threads */
	uint32_t channel;     /* descriptor of the socket to the controller; 0: none */
	int32_t results_fd;   /* descriptor of the results in the target, closed by the runtime once
	                         it is set up */
	uint32_t controller;  /* its pid */
	uint64_t regs[16];    /* general registers in hardware order */
	uint64_t rflags, pc;
	/* RLIMIT_AS and RLIMIT_DATA as the program has them, soft and hard: lifted until the
	 * runtime sets them again, with space for itself. 0: not limited. */
	uint64_t limits[2][2];
};

#endif
