/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where in the address space the live blocks of the heap lie, over time. The runtime counts live
 * bytes for each region of 64 KiB; these are added up in ranges of equal size. There are at most
 * ST_MEM_RANGES ranges and ST_MEM_TIMES times: with more of them, the size of the ranges is
 * doubled, or every second time is left out.
 */
#ifndef STROBE_MEM_PLACES_H
#define STROBE_MEM_PLACES_H

#include "mem/mem.h"

enum { ST_MEM_RANGES = 128, ST_MEM_TIMES = 128 };

struct st_mem_places_time {
	uint64_t ns;
	uint64_t live[ST_MEM_RANGES];
};

struct st_mem_places {
	uint32_t shift;               /* a range has 1 << shift bytes; 0: nothing was taken */
	uint32_t n;                   /* ranges */
	uint64_t keys[ST_MEM_RANGES]; /* address >> shift, in no order */
	uint32_t last;                /* the range that was found last */
	ST_VEC(struct st_mem_places_time) times;
	uint64_t seen, next, stride; /* calls, the call that is taken next, and its distance */
};

/* Takes what is live now, unless calls are left out. `last`: the call is not left out. */
void st_mem_places_take(struct st_mem_places *p, const struct st_alloc_area *a, uint64_t ns,
                        bool last);
/* Copies it to m->places and m->range_bytes. ST_FAILED: memory is exhausted. */
st_status st_mem_places_copy(const struct st_mem_places *p, struct st_mem *m);
void st_mem_places_free(struct st_mem_places *p);

#endif
