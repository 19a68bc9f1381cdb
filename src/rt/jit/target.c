/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting where indirect branches go, at their targets: few branches lead to one target, though
 * one branch leads to many. A branch leaves its number, its site, in the thread; the target's pad
 * compares that with the one it knows, and counts; if it is another, control goes along a chain of
 * such code, at its end to rt_stub_miss, which counts by itself and makes the next of the chain.
 */
#include "rt/jit/sequence.h"
#include "rt/jit/unit.h"

/* Where the code at the offset sends other sites: the rel32 of its jump. */
static uint32_t *
other_of(uint32_t at)
{
	return (uint32_t *)cache_write(sequence_count_hit(at) - 4);
}

/* The next of the chain, or 0. */
static uint32_t
next_of(uint32_t at)
{
	uint64_t to = cache_addr(sequence_count_hit(at)) + (uint64_t)(int32_t)*other_of(at);
	return in_cache(to) ? (uint32_t)(to - rt.region) : 0;
}

/* Code for the site, behind which control goes on as behind the pad's own. */
static uint32_t
new_link(uint32_t block, uint32_t first, uint32_t site, uint32_t tally)
{
	struct emit e = warm_begin();
	warm_mark(&e, WARM_TARGET, block);
	uint32_t start = e.off;
	sequence_count_site(&e, site, counter_field(tally));
	emit_jmp(&e, cache_addr(sequence_count_done(first) + 2 * emit_field_len()));
	warm_end(&e);
	return start;
}

void
jit_learn_target(uint32_t block, uint32_t site, uint32_t tally)
{
	const struct block *b = &jit.blocks[block];
	uint32_t pad = jit_lookup_pad(b->version, b->pc);
	if (!pad)
		return;
	uint32_t first = pad + sequence_pad_check_end(pad), at = first;
	if (!rt.threaded && sequence_counted_site(at) == NO_SITE) {
		sequence_give_site(at, site, counter_field(tally));
		return;
	}
	for (;;) {
		if (sequence_counted_site(at) == site)
			return; /* another thread has been faster */
		if (!next_of(at))
			break;
		at = next_of(at);
	}
	uint32_t rel = new_link(block, first, site, tally) - sequence_count_hit(at);
	__atomic_store_n(other_of(at), rel, __ATOMIC_RELEASE);
}
