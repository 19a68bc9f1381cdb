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
	MOST_ORDER = 512, /* sites of a target that are brought into order */
	SOON = 1024,      /* far ones before the next chain is, if this one was not in order */
	LATER = 16384,    /* and if it was */
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

static void
set_other(uint32_t at, uint32_t to)
{
	__atomic_store_n(other_of(at), to - sequence_count_hit(at), __ATOMIC_RELEASE);
}

/* Other threads may be in the chain: another one takes its place behind the first, which has no
 * site. Not without end, for the old one stays. */
static void
write_in_order(uint32_t block, uint32_t first, const struct place *list, unsigned n)
{
	enum { MOST_LINKS = 1 << 16 };
	static uint32_t links, generation;
	uint32_t next = 0;
	if (generation != jit.generation)
		links = 0;
	generation = jit.generation;
	if (links > MOST_LINKS || !jit_has_room())
		return;
	for (unsigned i = n; i-- > 0; links++) {
		uint32_t at = new_link(block, first, list[i].site, i > 0);
		if (next)
			set_other(at, next);
		next = at;
	}
	set_other(first, next);
}

/* The chain's sites change places. */
static void
bring_into_order(struct thread *t, uint32_t block, uint32_t first)
{
	uint64_t target = jit.blocks[block].pc;
	static struct place list[MOST_ORDER]; /* rt.lock held */
	static uint32_t place[MOST_ORDER];
	unsigned n = 0;
	uint32_t at = rt.threaded ? next_of(first) : first;
	for (; at && n < MOST_ORDER; at = next_of(at), n++) {
		uint32_t site = sequence_counted_site(at), tally = target_tally(site, target);
		list[n] = (struct place){at, site, tally, *thread_counter(t, tally)};
		place[n] = at;
	}
	bool sorted = sort(list, n);
	*thread_counter(t, ST_FAR_ID) = MANY_FAR - (sorted ? LATER : SOON);
	if (rt.threaded && !sorted)
		write_in_order(block, first, list, n);
	for (unsigned i = 0; i < n && !rt.threaded; i++)
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
	/* What is first has no site where there are threads. */
	if (sequence_counted_site(at) == site)
		bring_into_order(t, block, first);
	else
		set_other(at, new_link(block, first, site, n > rt.threaded));
}
