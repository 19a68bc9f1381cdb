/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lookup of indirect branches: from a program address to its pad, in two tables of cache
 * addresses.
 *
 * Jumps and calls load from one, returns from the other; entry by entry they say the same, except
 * that returns enter a pad at its start and jumps behind its first instruction. An entry leads to
 * the first of a chain of pads: a pad compares the whole address, without touching the flags, and
 * a branch that is not meant for it goes on to the next, at last to rt_stub_miss. So an entry may
 * be out of date for a moment while other threads branch: a pad that matches is always right, and
 * a branch that misses asks under rt.lock.
 */
#include "rt/jit/jit.h"
#include "rt/jit/sequence.h"

/* The index is the low half of the low half of the address: one instruction. */
enum { N_ENTRIES = 1 << 16 };
_Static_assert(N_ENTRIES * 8 == ST_LOOKUP_BYTES, "an address in each entry");

static uint64_t *
jumps(void)
{
	return (uint64_t *)rt.lookup;
}

static uint64_t *
returns(void)
{
	return (uint64_t *)(rt.lookup + ST_LOOKUP_BYTES);
}

static void
set_entry(uint32_t index, uint64_t jump_to, uint64_t return_to)
{
	/* The pad is complete when it can be found. */
	__atomic_store_n(&jumps()[index], jump_to, __ATOMIC_RELEASE);
	__atomic_store_n(&returns()[index], return_to, __ATOMIC_RELEASE);
}

void
jit_lookup_reset(void)
{
	for (uint32_t i = 0; i < N_ENTRIES; i++)
		set_entry(i, (uint64_t)rt_stub_miss, cache_addr(0));
}

/* Where a pad sends those who are not meant for it: the rel32 of its jump. */
static uint32_t *
link_of(uint32_t pad)
{
	return (uint32_t *)cache_write(pad + sequence_pad_check_end(pad) - 4);
}

/* The next pad of the chain, or 0. */
static uint32_t
next_of(uint32_t pad)
{
	uint64_t to =
	        cache_addr(pad + sequence_pad_check_end(pad)) + (uint64_t)(int32_t)*link_of(pad);
	return in_cache(to) ? (uint32_t)(to - rt.region) - PAD_JUMP_ENTRY : 0;
}

static void
set_next(uint32_t pad, uint64_t to)
{
	uint64_t rel = to - cache_addr(pad + sequence_pad_check_end(pad));
	__atomic_store_n(link_of(pad), (uint32_t)rel, __ATOMIC_RELEASE);
}

/* The first pad of the chain, or 0. */
static uint32_t
head_of(uint32_t index)
{
	uint64_t to = jumps()[index];
	return in_cache(to) ? (uint32_t)(to - rt.region) - PAD_JUMP_ENTRY : 0;
}

void
jit_lookup_set(uint64_t pc, uint32_t pad)
{
	uint32_t index = (uint16_t)pc;
	if (rt.stress & ST_STRESS_lookup)
		return;
	for (uint32_t p = head_of(index); p; p = next_of(p))
		if (p == pad)
			return;
	set_next(pad, jumps()[index]);
	set_entry(index, cache_addr(pad) + PAD_JUMP_ENTRY, cache_addr(pad));
}

void
jit_lookup_clear(uint64_t pc, uint32_t pad)
{
	uint32_t index = (uint16_t)pc, before = 0;
	for (uint32_t p = head_of(index); p; before = p, p = next_of(p)) {
		if (p != pad)
			continue;
		uint32_t next = next_of(p);
		if (before)
			set_next(before,
			         next ? cache_addr(next) + PAD_JUMP_ENTRY : (uint64_t)rt_stub_miss);
		else if (next)
			set_entry(index, cache_addr(next) + PAD_JUMP_ENTRY, cache_addr(next));
		else
			set_entry(index, (uint64_t)rt_stub_miss, cache_addr(0));
		return;
	}
}
