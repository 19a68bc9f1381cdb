/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Contexts that a log has (strobe paths --unique-log), as far as the runtime has to know them:
 * those below which nothing new is expected, and those above them. Written by the controller before
 * it says that the first image is done.
 *
 * A hash table: contexts by their parent and their function. Both have numbers, from 1 on;
 * functions have them in struct st_entry.
 */
#ifndef STROBE_WIRE_RESULTS_KNOWN_H
#define STROBE_WIRE_RESULTS_KNOWN_H

#include <stdint.h>

enum { ST_MAX_KNOWN = 1 << 22 }; /* slots */

struct st_known_context {
	uint32_t parent;   /* 0: the thread */
	uint32_t function; /* 0: the slot is empty */
	uint32_t context;
	uint32_t complete; /* not 0: nothing new is expected below */
};

struct st_known_results {
	uint32_t slots; /* a power of two; 0: nothing is known */
	/* One in ST_KNOWN_FOLLOWED activations of a complete context is followed nevertheless: the
	   first of them is another one in each run. */
	uint32_t phase;
};
enum { ST_KNOWN_FOLLOWED = 16 };

/* Where to look first; then in the slots behind it. */
static inline uint32_t
st_known_hash(uint32_t parent, uint32_t function, uint32_t slots)
{
	uint64_t key = (uint64_t)parent << 32 | function;
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (slots - 1);
}

#endif
