/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call stacks that the tool alloc keeps. */
#ifndef STROBE_TOOLS_ALLOC_H
#define STROBE_TOOLS_ALLOC_H

#include <strobe/tool.h>

enum { MOST_FRAMES = 256 };
/* In place of the callers that are not known. */
#define ALLOC_CUT 1ull

/* The calls that are under way, the innermost first. */
struct alloc_path {
	uint64_t calls[MOST_FRAMES];
	unsigned n;
	int cut;         /* there are further callers, which are not known */
	int interrupted; /* the caller of the last one did not call it: a signal came there */
};

/* Allocations of one call stack. */
struct alloc_stack {
	struct alloc_stack *next;
	uint64_t frame; /* the number of the allocation function's frame */
	uint64_t live;
	/* What was live when most of all was, which was the peak of that number. */
	uint64_t at_peak, peaks;
};

/* The number of a frame, which follows from its callers, so that processes that fork left with the
 * same code have the same numbers. */
static inline uint64_t
alloc_frame(uint64_t parent, uint64_t call)
{
	uint64_t hash = (parent ^ call) * 0x9e3779b97f4a7c15;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93;
	hash ^= hash >> 29;
	return hash > ALLOC_CUT ? hash : hash + 2;
}

#endif
