/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting where indirect branches go, at their targets: few branches lead to one target, though
 * one branch leads to many. A branch leaves its number, its site, in the thread; the target's pad
 * compares that with the one it knows, and counts; if it is another, control goes along a chain of
 * such code, of links, at its end to rt_stub_miss, which counts by itself and makes the next of the
 * chain.
 *
 * Where many branches lead to one target after all (the returns of all functions that one place
 * calls), the chain ends in a fan: a jump through a table by the first byte of the site, to a chain
 * for each. Where that grows long, too, it ends in a fan by the second byte; what is left of a site
 * behind that are four bits.
 *
 * Where many go far along a chain, it is brought into order, the most frequent site first: code
 * that is far along counts how often it is reached, and comes here now and then. A site that is
 * counted behind the fan, and more often than the last before it, takes its place then; its link
 * behind the fan stays, for when it has to go back.
 */
#include "rt/jit/sequence.h"
#include "rt/jit/unit.h"
#include "rt/tool/tool.h"

enum {
	MOST_LINKS = 8,   /* of a target's first chain */
	MOST_BEHIND = 16, /* of one behind a fan */
	SOON = 1024,   /* far ones before the next chain is brought into order, if this was not */
	LATER = 16384, /* and if it was */
};

/* Where the code at the offset sends other sites: the rel32 of its jump. */
static uint32_t *
other_of(uint32_t at)
{
	return (uint32_t *)cache_write(sequence_count_hit(at) - 4);
}

/* Where those go on: a link, a fan, or 0. */
static uint32_t
next_of(uint32_t at)
{
	uint64_t to = cache_addr(sequence_count_hit(at)) + (uint64_t)(int32_t)*other_of(at);
	return in_cache(to) ? (uint32_t)(to - rt.target.area) : 0;
}

static void
set_other(uint32_t at, uint32_t to)
{
	__atomic_store_n(other_of(at), to - sequence_count_hit(at), __ATOMIC_RELEASE);
}

/* Where a fan sends the site. */
static uint64_t *
entry_of(uint32_t fan, unsigned byte, uint32_t site)
{
	return (uint64_t *)cache_write(fan) - FAN_ENTRIES + (site >> 8 * byte & 0xff);
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
	emit_jmp(&e, cache_addr(sequence_count_done(first) + 2 * emit_field_len(&rt.target)));
	warm_end(&e);
	return start;
}

static uint32_t
new_fan(uint32_t block, unsigned byte)
{
	jit.warm.next = (jit.warm.next + 63) & ~63u; /* no code in the table's cache lines */
	struct emit e = warm_begin();
	for (unsigned i = 0; i < FAN_ENTRIES; i++)
		e64(&e, (uint64_t)rt_stub_miss);
	uint32_t start = e.off;
	warm_mark(&e, WARM_TARGET, block);
	sequence_fan(&e, byte, jit.blocks[block].pc);
	warm_end(&e);
	return start;
}

/* The route of a site's branches through links and fans. */
struct route {
	uint32_t fan, last;       /* the last of each; 0: none, or none behind that fan */
	unsigned fans, n, passed; /* fans; links behind the last; links */
};

/* From the chain or fan on. Does it come to a link of the site? */
static bool
find_link(struct route *r, uint32_t at, uint32_t site)
{
	*r = (struct route){0};
	while (at) {
		if (!sequence_counts_site(at)) {
			uint64_t to = *entry_of(at, r->fans, site);
			*r = (struct route){.fan = at, .fans = r->fans + 1, .passed = r->passed};
			at = in_cache(to) ? (uint32_t)(to - rt.target.area) : 0;
			continue;
		}
		if (sequence_counted_site(at) == site)
			return true;
		r->last = at;
		r->n++;
		r->passed++;
		at = next_of(at);
	}
	return false;
}

/* A link for the site at the end of its route. */
static void
add_link(uint32_t block, uint32_t first, struct route *r, uint32_t site)
{
	/* What is first has no site where there are threads. */
	uint32_t link = new_link(block, first, site, r->fans || r->n > rt.target.threaded);
	if (r->n == (r->fans ? MOST_BEHIND : MOST_LINKS)) {
		uint32_t fan = new_fan(block, r->fans);
		*entry_of(fan, r->fans, site) = cache_addr(link);
		set_other(r->last, fan);
	} else if (r->last) {
		set_other(r->last, link);
	} else {
		__atomic_store_n(entry_of(r->fan, r->fans - 1, site), cache_addr(link),
		                 __ATOMIC_RELEASE);
	}
	rt_stat(ST_STAT_target_passes, r->passed);
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

/* Other threads may be in the chain: another one takes its place behind the first, which has no
 * site, and goes on as the old one did. Not without end, for that stays. */
static void
write_in_order(uint32_t block, uint32_t first, const struct place *list, unsigned n, uint32_t next)
{
	enum { MOST_WRITTEN = 1 << 16 };
	static uint32_t links, generation;
	if (generation != jit.generation)
		links = 0;
	generation = jit.generation;
	if (links > MOST_WRITTEN || !jit_has_room())
		return;
	for (unsigned i = n; i-- > 0; links++) {
		uint32_t at = new_link(block, first, list[i].site, i > 0);
		if (next)
			set_other(at, next);
		next = at;
	}
	set_other(first, next);
}

static struct place
place_of(struct thread *t, uint32_t block, uint32_t at, uint32_t site)
{
	uint32_t tally = target_tally(site, jit.blocks[block].pc);
	return (struct place){at, site, tally, *thread_counter(t, tally)};
}

/* A site that is counted behind the fan takes the place of the last before it, if it is more
 * frequent, and by more than chance. */
static bool
bring_forward(uint32_t block, uint32_t first, uint32_t fan, struct place *last, struct place p)
{
	struct route r;
	if (p.times <= last->times + last->times / 4)
		return false;
	if (!find_link(&r, fan, last->site))
		add_link(block, first, &r, last->site);
	*last = p;
	return true;
}

/* The chain's sites change places. The site is one that has been counted far along. */
static void
bring_into_order(struct thread *t, uint32_t block, uint32_t first, uint32_t site)
{
	struct place list[MOST_LINKS];
	uint32_t place[MOST_LINKS];
	unsigned n = 0;
	bool near = false;
	uint32_t at = rt.target.threaded ? next_of(first) : first;
	for (; at && sequence_counts_site(at); at = next_of(at), n++) {
		list[n] = place_of(t, block, at, sequence_counted_site(at));
		place[n] = at;
		near |= list[n].site == site;
	}
	bool sorted = sort(list, n);
	if (!near && bring_forward(block, first, at, &list[n - 1], place_of(t, block, 0, site))) {
		sort(list, n);
		sorted = false;
	}
	*thread_counter(t, ST_FAR_ID) = MANY_FAR - (sorted ? LATER : SOON);
	if (rt.target.threaded && !sorted)
		write_in_order(block, first, list, n, at);
	for (unsigned i = 0; i < n && !rt.target.threaded; i++)
		if (list[i].at != place[i])
			sequence_give_site(place[i], list[i].site, counter_field(list[i].tally));
}

void
jit_learn_target(struct thread *t, uint32_t block, uint32_t site)
{
	const struct block *b = &jit.blocks[block];
	uint32_t pad = jit_lookup_pad(b->version, b->pc);
	struct route r;
	if (!pad)
		return;
	uint32_t first = pad + sequence_pad_check_end(pad);
	if (!rt.target.threaded && sequence_counted_site(first) == NO_SITE)
		sequence_give_site(first, site, counter_field(target_tally(site, b->pc)));
	else if (find_link(&r, first, site))
		bring_into_order(t, block, first, site);
	else
		add_link(block, first, &r, site);
}
