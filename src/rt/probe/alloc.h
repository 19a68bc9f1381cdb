/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations of memory: what the files alloc*.c share. */
#ifndef STROBE_RT_PROBE_ALLOC_H
#define STROBE_RT_PROBE_ALLOC_H

#include "rt/probe/probe.h"
#include "wire/alloc.h"

/* A call of an allocation function, as entry.S leaves it on the stack. */
struct probe_alloc_call {
	uint64_t kind, size, argument; /* set at the entry, for the return */
	uint64_t old;                  /* the block that is reallocated, as in a region; 0: none */
	uint64_t numbers[2];
	uint64_t r11, r10, r9, r8, rcx, rdx, rsi, rdi, rax;
	uint64_t stub, function; /* where the stub goes on, and the function's number */
	uint64_t caller;         /* the return address */
};

static inline struct st_alloc_area *
probe_alloc_area(void)
{
	return probe_at(probe_area()->allocations);
}

/* alloc_blocks.c. The lock is held for all of them. */

/* A block of memory, in one number: its context and its size. */
static inline uint64_t
probe_block(uint32_t context, uint64_t size)
{
	return (uint64_t)context << ST_ALLOC_SIZE_BITS | size;
}
static inline uint32_t
probe_block_context(uint64_t block)
{
	return (uint32_t)(block >> ST_ALLOC_SIZE_BITS);
}
static inline uint64_t
probe_block_size(uint64_t block)
{
	return block & ((1ull << ST_ALLOC_SIZE_BITS) - 1);
}

/* The place that keeps a block, in its region. */
struct probe_block_place {
	struct st_alloc_region *region;
	uint64_t *at; /* 0 there: no block; NULL: no region */
};

/* Returns the place of the block at the address. */
struct probe_block_place probe_block_find(struct st_alloc_area *a, uint64_t address);
/* The same with a region made for it. NULL: there is no room. */
struct probe_block_place probe_block_place(struct st_alloc_area *a, uint64_t address);

/* Puts a block in its place; block 0: takes it out. */
static inline void
probe_block_put(struct probe_block_place place, uint64_t address, uint64_t block)
{
	struct st_alloc_region *r = place.region;
	const uint64_t size = probe_block_size(block);
	const uint64_t end = (address & ((1ull << ST_ALLOC_REGION_BITS) - 1)) + size;
	if (block && (!r->live || end > r->reach))
		r->reach = end;
	r->live += size - probe_block_size(*place.at);
	*place.at = block;
}
/* The processor is told that the place will be asked for: most of the time for a call goes to
 * fetching it. Without the lock. */
void probe_block_expect(const struct st_alloc_area *a, uint64_t address);
/* Counts memory as live, and no longer so. */
void probe_count_live(struct st_alloc_area *a, uint32_t context, uint64_t size);
void probe_count_freed(struct st_alloc_area *a, uint32_t context, uint64_t size);
/* Takes the pages of [from, to) from those that are mapped, and counts them as freed. */
void probe_unmap_pages(struct st_alloc_area *a, uint64_t from, uint64_t to);
/* Adds them. False: there is no room. */
bool probe_map_pages(struct st_alloc_area *a, uint64_t from, uint64_t to, uint32_t context);

/* alloc_stack.c */

/* The callers of the function whose return address lies at `slot`: as many as were not there at the
 * thread's last allocation, in own->fresh. What is kept of that becomes own->n. *cut: the rest is
 * not known. */
uint32_t probe_stack_walk(struct st_alloc_area *a, struct st_alloc_thread *own, uint64_t slot,
                          uint64_t bp, bool *cut);
/* The context of these callers and the function at `start`; 0: there is no room. The lock is held.
 */
uint32_t probe_stack_context(struct st_alloc_area *a, struct st_alloc_thread *own, uint32_t fresh,
                             bool cut, uint64_t start);

/* alloc.c, for the assembly. */
uint64_t probe_alloc_begin(struct probe_alloc_call *call, uint64_t bp);
void probe_alloc_end(struct probe_alloc_call *call, uint64_t bp);

#endif
