/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The layout of the engine's memory in the program's address space: the area that holds the code
 * cache, and what lies far from it.
 */
#ifndef STROBE_WIRE_AREA_H
#define STROBE_WIRE_AREA_H

#include <stdint.h>

/* Where things lie in the area that holds the code cache, relative to its base. Everything that
 * translated code addresses rip-relative lies within it, so it is smaller than 2 GiB. */
enum {
	ST_AREA_HOT = 0,             /* translated code */
	ST_AREA_WARM = 144 << 20,    /* call thunks and entry pads */
	ST_AREA_COLD = 192 << 20,    /* exits that are not linked yet */
	ST_AREA_RUNTIME = 256 << 20, /* the runtime's image */
	ST_AREA_TOOLS = 264 << 20,   /* loaded tools: the i-th at i * ST_TOOL_SPACE */
	ST_AREA_POOL = 280 << 20,    /* the pool of a budget that processes share */
	ST_AREA_MAIN = 288 << 20,    /* the first thread's structure and counters */
	ST_AREA_SIZE = 384 << 20,
	ST_CACHE_SIZE = ST_AREA_RUNTIME, /* hot, warm and cold: mapped twice */
	ST_TOOL_SPACE = 2 << 20,
	/* A thread has its private structure, then its counters, which are a part of the results.
	 */
	ST_THREAD_PRIVATE = 16 << 10,
	ST_LOOKUP_BYTES = 2 << 20,                 /* of all the lookup tables */
	ST_LOOKUP_MAPPED = ST_LOOKUP_BYTES + 4096, /* and what empty entries lead to */
};

/* Where the controller puts what is large and need not be near: the cache again, the results. */
#define ST_TABLES 0x7e9000000000ull
#define ST_TABLES_END 0x7ee000000000ull
/* And what the runtime maps as it goes. */
#define ST_TABLES_LATER 0x7ec000000000ull

#endif
