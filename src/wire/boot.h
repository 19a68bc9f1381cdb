/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the controller hands to the runtime when it injects it: addresses of what it has mapped, the
 * plan, and the program's registers. The controller writes one of these at the start of the
 * runtime's data before it lets it run.
 */
#ifndef STROBE_WIRE_BOOT_H
#define STROBE_WIRE_BOOT_H

#include <stdint.h>

#define ST_BOOT_MAGIC 0x3154424f4f42u

/* Where things lie in the region that holds the code cache, relative to its base. Everything that
 * translated code addresses rip-relative lies within it, so it is smaller than 2 GiB. */
enum {
	ST_REGION_HOT = 0,             /* translated code */
	ST_REGION_WARM = 144 << 20,    /* call thunks and entry pads */
	ST_REGION_COLD = 192 << 20,    /* exits that are not linked yet */
	ST_REGION_RUNTIME = 256 << 20, /* the runtime's image */
	ST_REGION_TOOLS = 264 << 20,   /* loaded tools: the i-th at i * ST_TOOL_ROOM */
	ST_REGION_MAIN = 288 << 20,    /* the first thread's area */
	ST_REGION_SIZE = 384 << 20,
	ST_CACHE_SIZE = ST_REGION_RUNTIME, /* hot and cold: mapped twice */
	ST_TOOL_ROOM = 2 << 20,
	/* A thread's area: its private structure, then its counters, which are a part of the
	   results. */
	ST_THREAD_PRIVATE = 16 << 10,
	ST_LOOKUP_BYTES = 1 << 19, /* of each of the two lookup tables */
};

/* Where the controller puts what is large and need not be near: the cache again, the results. */
#define ST_TABLES 0x7e9000000000ull
#define ST_TABLES_END 0x7ee000000000ull

struct st_boot {
	uint64_t magic;
	uint64_t region;      /* base of the region */
	uint64_t cache_alias; /* the code cache again, writable */
	uint64_t results;     /* the results, whole file mapped */
	uint64_t lookup;      /* the lookup tables of indirect branches, ST_LOOKUP_BYTES each:
	                         for jumps and calls, for returns; below 2 GiB */
	uint32_t stress;      /* ST_STRESS_* */
	uint32_t follow;      /* take children along */
	uint32_t channel;   /* descriptor of the socket to the controller, for following; 0: none */
	int32_t results_fd; /* descriptor of the results in the target, closed by the runtime once
	                       it is set up */
	uint32_t controller; /* its pid */
	uint32_t attached;   /* not 0: not at a program's first instruction */
	uint64_t regs[16];   /* general registers in hardware order */
	uint64_t rflags, pc;
	uint64_t own_space; /* bytes of address space that the controller has mapped */
	uint64_t own_data;  /* of it private and writable */
	/* RLIMIT_AS and RLIMIT_DATA as the program has them, soft and hard: lifted until the
	 * runtime sets them again, with room for itself. 0: not limited. */
	uint64_t limits[2][2];
	uint64_t runtime_end; /* end of the runtime's image, for address tests */
};

#endif
