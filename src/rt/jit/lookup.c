/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lookup of indirect branches: from a program address to its pad, in two tables of cache
 * addresses.
 *
 * Jumps and calls load from one, returns from the other; entry by entry they say the same, except
 * that returns enter a pad at its start and jumps after its first instruction. An entry leads to
 * the first of a chain of pads: a pad compares the whole address, without touching the flags, and
 * a branch that is not meant for it goes on to the next, at last to rt_stub_miss. So an entry may
 * be out of date for a moment while other threads branch: a pad that matches is always right, and
 * a branch that misses asks under rt.lock.
 *
 * Empty tables are the same in all processes, and mapped from one file: a process has pages of its
 * own only for entries that it has set. So an empty entry leads to a pad that lies after the
 * tables, whatever the runtime's address.
 */
#include <asm/unistd.h>

#include "rt/jit/jit.h"
#include "rt/jit/sequence.h"

/* The index is the low half of the low half of the address: one instruction. */
enum { N_ENTRIES = 1 << 16 };
_Static_assert(N_VERSIONS * 2 * N_ENTRIES * 8 == ST_LOOKUP_BYTES, "an address in each entry");

enum { TABLE_BYTES = N_ENTRIES * 8 };

uint64_t
jit_lookup_table(enum version version, bool returns)
{
	return rt.lookup + (2 * (uint64_t)version + returns) * TABLE_BYTES;
}

static uint64_t *
lookup_entry(enum version version, bool returns, uint32_t index)
{
	return (uint64_t *)jit_lookup_table(version, returns) + index;
}

static void
set_entry(enum version version, uint32_t index, uint64_t jump_to, uint64_t return_to)
{
	/* The pad is complete when it can be found. */
	__atomic_store_n(lookup_entry(version, false, index), jump_to, __ATOMIC_RELEASE);
	__atomic_store_n(lookup_entry(version, true, index), return_to, __ATOMIC_RELEASE);
}

/* As the controller has made them: control/shared.c. */
static void
empty_entry(enum version version, uint32_t index)
{
	uint64_t pad = rt.lookup + ST_LOOKUP_BYTES;
	set_entry(version, index, pad + PAD_JUMP_ENTRY, pad);
}

void
jit_lookup_reset(void)
{
	SYS(__NR_madvise, rt.lookup, ST_LOOKUP_BYTES, 4 /* MADV_DONTNEED */);
}

/* The rel32 of the jump by which a pad passes other targets on. */
static uint32_t *
link_of(uint32_t pad)
{
	return (uint32_t *)cache_write(pad + sequence_pad_check_end(pad) - 4);
}

/* The next pad of the chain, or 0. */
static uint32_t
next_pad(uint32_t pad)
{
	uint64_t to =
	        cache_addr(pad + sequence_pad_check_end(pad)) + (uint64_t)(int32_t)*link_of(pad);
	return in_cache(to) ? (uint32_t)(to - rt.target.area) - PAD_JUMP_ENTRY : 0;
}

static void
set_next(uint32_t pad, uint64_t to)
{
	uint64_t rel = to - cache_addr(pad + sequence_pad_check_end(pad));
	__atomic_store_n(link_of(pad), (uint32_t)rel, __ATOMIC_RELEASE);
}

/* The first pad of the chain, or 0. */
static uint32_t
head_of(enum version version, uint32_t index)
{
	uint64_t to = *lookup_entry(version, false, index);
	return in_cache(to) ? (uint32_t)(to - rt.target.area) - PAD_JUMP_ENTRY : 0;
}

uint32_t
jit_lookup_pad(enum version version, uint64_t pc)
{
	uint32_t p = head_of(version, (uint16_t)pc);
	while (p && sequence_pad_target(p) != pc)
		p = next_pad(p);
	return p;
}

void
jit_lookup_set(enum version version, uint64_t pc, uint32_t pad)
{
	uint32_t index = (uint16_t)pc;
	if (rt.stress & ST_STRESS_lookup)
		return;
	for (uint32_t p = head_of(version, index); p; p = next_pad(p))
		if (p == pad)
			return;
	uint32_t head = head_of(version, index);
	set_next(pad, head ? cache_addr(head) + PAD_JUMP_ENTRY : (uint64_t)rt_stub_miss);
	set_entry(version, index, cache_addr(pad) + PAD_JUMP_ENTRY, cache_addr(pad));
}

void
jit_lookup_clear(enum version version, uint64_t pc, uint32_t pad)
{
	uint32_t index = (uint16_t)pc, before = 0;
	for (uint32_t p = head_of(version, index); p; before = p, p = next_pad(p)) {
		if (p != pad)
			continue;
		uint32_t next = next_pad(p);
		if (before)
			set_next(before,
			         next ? cache_addr(next) + PAD_JUMP_ENTRY : (uint64_t)rt_stub_miss);
		else if (next)
			set_entry(version, index, cache_addr(next) + PAD_JUMP_ENTRY,
			          cache_addr(next));
		else
			empty_entry(version, index);
		return;
	}
}
