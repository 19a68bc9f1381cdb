/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting where indirect branches go, at their targets: few branches lead to one target, though
 * one branch leads to many. A branch leaves its number, its site, in the thread; the target's pad
 * compares that with the one it knows, and counts; if it is another, control goes along a chain of
 * such code, at its end to rt_stub_miss, which counts by itself and makes the next of the chain.
 *
 * Where chains are long and many go far along them, they are brought into order, the most frequent
 * site first: code that is far along counts how often it is reached, and comes here now and then.
 */
#include "rt/jit/sequence.h"
#include "rt/jit/unit.h"
#include "rt/tool/tool.h"

enum {
	NEAR = 3,        /* sites of a target that are not far */
	MOST_ORDER = 64, /* sites of a target that are brought into order */
	SOON = 2048,     /* far ones before the next chain is */
};

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
new_link(uint32_t block, uint32_t first, uint32_t site, bool far)
{
	uint32_t tally = target_tally(site, jit.blocks[block].pc);
	struct emit e = warm_begin();
	warm_mark(&e, WARM_TARGET, block);
	uint32_t start = e.off;
	sequence_count_site(&e, site, counter_field(tally), far);
	emit_jmp(&e, cache_addr(sequence_count_done(first) + 2 * emit_field_len()));
	warm_end(&e);
	return start;
}

struct place {
	uint32_t at, site, tally;
	uint64_t times;
};

/* Insertion sort: most of it is in order. Returns whether all of it was. */
static bool
sort(struct place *p, unsigned n)
{
	bool sorted = true;
	for (unsigned i = 1; i < n; i++) {
		struct place x = p[i];
		unsigned k = i;
		for (; k > 0 && p[k - 1].times < x.times; k--)
			p[k] = p[k - 1];
		p[k] = x;
		sorted &= k == i;
	}
	return sorted;
}

/* The chain's sites change places. */
static void
bring_into_order(struct thread *t, uint32_t first, uint64_t target)
{
	struct place list[MOST_ORDER];
	uint32_t place[MOST_ORDER];
	unsigned n = 0;
	for (uint32_t at = first; at && n < MOST_ORDER; at = next_of(at), n++) {
		uint32_t site = sequence_counted_site(at), tally = target_tally(site, target);
		list[n] = (struct place){at, site, tally, *thread_counter(t, tally)};
		place[n] = at;
	}
	bool sorted = sort(list, n);
	*thread_counter(t, ST_FAR_ID) = sorted ? 0 : MANY_FAR - SOON;
	for (unsigned i = 0; i < n; i++)
		if (list[i].at != place[i])
			sequence_give_site(place[i], list[i].site, counter_field(list[i].tally));
}

void
jit_learn_target(struct thread *t, uint32_t block, uint32_t site)
{
	const struct block *b = &jit.blocks[block];
	uint32_t pad = jit_lookup_pad(b->version, b->pc), n = 1;
	if (!pad)
		return;
	uint32_t first = pad + sequence_pad_check_end(pad), at = first;
	if (!rt.threaded && sequence_counted_site(at) == NO_SITE) {
		sequence_give_site(at, site, counter_field(target_tally(site, b->pc)));
		return;
	}
	for (; sequence_counted_site(at) != site && next_of(at); n++)
		at = next_of(at);
	if (sequence_counted_site(at) != site) {
		uint32_t rel = new_link(block, first, site, n > NEAR) - sequence_count_hit(at);
		__atomic_store_n(other_of(at), rel, __ATOMIC_RELEASE);
	} else if (!rt.threaded) {
		bring_into_order(t, first, b->pc);
	} else {
		*thread_counter(t, ST_FAR_ID) = 0;
	}
}
