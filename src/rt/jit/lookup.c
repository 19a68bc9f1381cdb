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

/*
 * The index is made of these bits of the address: from LOW_BIT on, FIRST_BITS of them at first and
 * more as pads become many, so that a small program touches little memory. Without a fast pext it
 * is the 16 lowest bits.
 */
enum { LOW_BIT = 3, FIRST_BITS = 12, MAX_BITS = 17 };
_Static_assert(8ull << MAX_BITS == ST_LOOKUP_BYTES, "the tables are as large as the longest index");

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

static uint32_t
n_entries(void)
{
	return rt.lookup_plain ? 1u << 16 : (uint32_t)(jit.lookup_mask >> LOW_BIT) + 1;
}

static uint32_t
index_of(uint64_t pc)
{
	return rt.lookup_plain ? (uint16_t)pc : (uint32_t)((pc & jit.lookup_mask) >> LOW_BIT);
}

static void
set_entry(uint32_t index, uint64_t jump_to, uint64_t return_to)
{
	__atomic_store_n(&jumps()[index], jump_to, __ATOMIC_RELAXED);
	__atomic_store_n(&returns()[index], return_to, __ATOMIC_RELAXED);
}

static void
clear(void)
{
	for (uint32_t i = 0, n = n_entries(); i < n; i++)
		set_entry(i, (uint64_t)rt_stub_miss, cache_addr(0));
	jit.n_pads = 0;
}

void
jit_lookup_reset(void)
{
	jit.lookup_mask = ((1ull << FIRST_BITS) - 1) << LOW_BIT;
	clear();
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
	__atomic_store_n(link_of(pad), (uint32_t)rel, __ATOMIC_RELAXED);
}

/* The first pad of the chain, or 0. */
static uint32_t
head_of(uint32_t index)
{
	uint64_t to = jumps()[index];
	return in_cache(to) ? (uint32_t)(to - rt.region) - PAD_JUMP_ENTRY : 0;
}

static void
put(uint64_t pc, uint32_t pad)
{
	uint32_t index = index_of(pc);
	for (uint32_t p = head_of(index); p; p = next_of(p))
		if (p == pad)
			return;
	set_next(pad, jumps()[index]);
	set_entry(index, cache_addr(pad) + PAD_JUMP_ENTRY, cache_addr(pad));
	jit.n_pads++;
}

/* A longer index: every pad has to be entered anew. */
static void
grow(void)
{
	jit.lookup_mask = jit.lookup_mask << 1 | 1ull << LOW_BIT;
	clear();
	for (uint32_t i = 1; i < jit.n_blocks; i++) {
		const struct block *b = &jit.blocks[i];
		if (!(b->flags & BLOCK_VALID))
			continue;
		if (b->pad)
			put(b->pc, b->pad);
		if (b->landing)
			put(block_end(b), b->body + b->landing);
	}
}

void
jit_lookup_set(uint64_t pc, uint32_t pad)
{
	if (rt.stress & ST_STRESS_lookup)
		return;
	put(pc, pad);
	if (!rt.lookup_plain && n_entries() < 1u << MAX_BITS && jit.n_pads * 2 > n_entries())
		grow();
}

void
jit_lookup_clear(uint64_t pc, uint32_t pad)
{
	uint32_t index = index_of(pc), before = 0;
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
		jit.n_pads--;
		return;
	}
}
