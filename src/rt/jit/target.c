/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting where indirect branches go, at their targets: few branches lead to one target, though
 * one branch leads to many. A branch leaves its number, its site, in the thread; the target's pad
 * compares that with the one it knows, and counts; if it is another, control goes along a chain of
 * such code, of links, at its end to rt_stub_miss, which counts by itself and makes the next of the
 * chain.
 *
 * If many branches lead to one target (as do the returns of all functions that one place calls),
 * the chain ends in a jump table: a jump through a table by the first byte of the site, to one
 * chain for each value. If such a chain grows long, too, it ends in a jump table by the second
 * byte; four bits of a site are left after that.
 *
 * If many executions go far along a chain, it is sorted, the most frequent site first: the code of
 * its later links counts how often it is reached, and comes here now and then. A site behind the
 * jump table that is counted more often than the last site before it takes the place of that one;
 * its link behind the jump table stays, because it may have to go back.
 */
#include "rt/jit/sequence.h"
#include "rt/jit/superblock.h"
#include "rt/tool/tool.h"

enum {
	MOST_LINKS = 8,  /* of a target's first chain */
	MOST_AFTER = 16, /* of one after a jump table */
	SOON = 1024,     /* far ones before the next chain is brought into order, if this was not */
	LATER = 16384,   /* and if it was */
};

/* Where the code at the offset sends other sites: the rel32 of its jump. */
static uint32_t *
miss_jump_of(uint32_t at)
{
	return (uint32_t *)cache_write(sequence_count_hit(at) - 4);
}

/* Where those go on: a link, a jump table, or 0. */
static uint32_t
next_link(uint32_t at)
{
	uint64_t to = cache_addr(sequence_count_hit(at)) + (uint64_t)(int32_t)*miss_jump_of(at);
	return in_cache(to) ? (uint32_t)(to - rt.target.area) : 0;
}

static void
set_miss_jump(uint32_t at, uint32_t to)
{
	__atomic_store_n(miss_jump_of(at), to - sequence_count_hit(at), __ATOMIC_RELEASE);
}

/* Where a jump table sends the site. */
static uint64_t *
jump_table_entry(uint32_t table, unsigned byte, uint32_t site)
{
	return (uint64_t *)cache_write(table) - JUMP_TABLE_ENTRIES + (site >> 8 * byte & 0xff);
}

/* Code for the site, after which control goes on as after the pad's own. */
static uint32_t
new_link(uint32_t block, uint32_t first, uint32_t site, bool far)
{
	uint32_t counter = target_counter(site, jit.blocks[block].pc);
	struct emit e = warm_begin();
	warm_mark(&e, WARM_TARGET, block);
	uint32_t start = e.off;
	sequence_count_site(&e, site, counter_field(counter), far);
	emit_jmp(&e, cache_addr(sequence_count_done(first) + 2 * emit_field_len(&rt.target)));
	warm_end(&e);
	return start;
}

static uint32_t
new_jump_table(uint32_t block, unsigned byte)
{
	jit.warm.next = (jit.warm.next + 63) & ~63u; /* no code in the table's cache lines */
	struct emit e = warm_begin();
	for (unsigned i = 0; i < JUMP_TABLE_ENTRIES; i++)
		e64(&e, (uint64_t)rt_stub_miss);
	uint32_t start = e.off;
	warm_mark(&e, WARM_TARGET, block);
	sequence_jump_table(&e, byte, jit.blocks[block].pc);
	warm_end(&e);
	return start;
}

/* The route of a site's branches through links and jump tables. */
struct route {
	uint32_t table, last;       /* the last of each; 0: none, or none after that jump table */
	unsigned tables, n, passed; /* jump tables; links after the last; links */
};

/* From the chain or jump table on. Does it come to a link of the site? */
static bool
find_link(struct route *r, uint32_t at, uint32_t site)
{
	*r = (struct route){0};
	while (at) {
		if (!sequence_counts_site(at)) {
			uint64_t to = *jump_table_entry(at, r->tables, site);
			*r = (struct route){
			        .table = at, .tables = r->tables + 1, .passed = r->passed};
			at = in_cache(to) ? (uint32_t)(to - rt.target.area) : 0;
			continue;
		}
		if (sequence_counted_site(at) == site)
			return true;
		r->last = at;
		r->n++;
		r->passed++;
		at = next_link(at);
	}
	return false;
}

/* A link for the site at the end of its route. */
static void
add_link(uint32_t block, uint32_t first, struct route *r, uint32_t site)
{
	/* The first link has no site if the program has threads. */
	uint32_t link = new_link(block, first, site, r->tables || r->n > rt.target.threaded);
	if (r->n == (r->tables ? MOST_AFTER : MOST_LINKS)) {
		uint32_t table = new_jump_table(block, r->tables);
		*jump_table_entry(table, r->tables, site) = cache_addr(link);
		set_miss_jump(r->last, table);
	} else if (r->last) {
		set_miss_jump(r->last, link);
	} else {
		__atomic_store_n(jump_table_entry(r->table, r->tables - 1, site), cache_addr(link),
		                 __ATOMIC_RELEASE);
	}
	rt_stat(ST_STAT_target_passes, r->passed);
}

struct chain_target {
	uint32_t at, site, counter;
	uint64_t times;
};

/* Insertion sort: most of it is in order. Returns whether all of it was. */
static bool
sort_targets(struct chain_target *p, unsigned n)
{
	bool sorted = true;
	for (unsigned i = 1; i < n; i++) {
		struct chain_target x = p[i];
		unsigned k = i;
		for (; k > 0 && p[k - 1].times < x.times; k--)
			p[k] = p[k - 1];
		p[k] = x;
		sorted &= k == i;
	}
	return sorted;
}

/* Other threads may be in the chain: another one takes its place after the first, which has no
 * site, and goes on as the old one did. Not without end, for that stays. */
static void
write_in_order(uint32_t block, uint32_t first, const struct chain_target *list, unsigned n,
               uint32_t next)
{
	enum { MOST_WRITTEN = 1 << 16 };
	static uint32_t links, generation;
	if (generation != jit.generation)
		links = 0;
	generation = jit.generation;
	if (links > MOST_WRITTEN || !jit_has_space())
		return;
	for (unsigned i = n; i-- > 0; links++) {
		uint32_t at = new_link(block, first, list[i].site, i > 0);
		if (next)
			set_miss_jump(at, next);
		next = at;
	}
	set_miss_jump(first, next);
}

static struct chain_target
target_at(struct thread *t, uint32_t block, uint32_t at, uint32_t site)
{
	uint32_t counter = target_counter(site, jit.blocks[block].pc);
	return (struct chain_target){at, site, counter, *thread_counter(t, counter)};
}

/* A site that is counted after the jump table takes the place of the last before it, if it is more
 * frequent, and by more than chance. */
static bool
bring_forward(uint32_t block, uint32_t first, uint32_t table, struct chain_target *last,
              struct chain_target p)
{
	struct route r;
	if (p.times <= last->times + last->times / 4)
		return false;
	if (!find_link(&r, table, last->site))
		add_link(block, first, &r, last->site);
	*last = p;
	return true;
}

/* The chain's sites change places. The site is one that has been counted far along. */
static void
bring_into_order(struct thread *t, uint32_t block, uint32_t first, uint32_t site)
{
	struct chain_target list[MOST_LINKS];
	uint32_t chain_target[MOST_LINKS];
	unsigned n = 0;
	bool near = false;
	uint32_t at = rt.target.threaded ? next_link(first) : first;
	for (; at && sequence_counts_site(at); at = next_link(at), n++) {
		list[n] = target_at(t, block, at, sequence_counted_site(at));
		chain_target[n] = at;
		near |= list[n].site == site;
	}
	bool sorted = sort_targets(list, n);
	if (!near && bring_forward(block, first, at, &list[n - 1], target_at(t, block, 0, site))) {
		sort_targets(list, n);
		sorted = false;
	}
	*thread_counter(t, ST_FAR_ID) = MANY_FAR - (sorted ? LATER : SOON);
	if (rt.target.threaded && !sorted)
		write_in_order(block, first, list, n, at);
	for (unsigned i = 0; i < n && !rt.target.threaded; i++)
		if (list[i].at != chain_target[i])
			sequence_give_site(chain_target[i], list[i].site,
			                   counter_field(list[i].counter));
}

/* The pad has no code for the site yet. False: it has some. */
static bool
add_target_site(uint32_t block, uint32_t first, uint32_t site)
{
	struct route r;
	if (!rt.target.threaded && sequence_counted_site(first) == NO_SITE)
		sequence_give_site(first, site,
		                   counter_field(target_counter(site, jit.blocks[block].pc)));
	else if (!find_link(&r, first, site))
		add_link(block, first, &r, site);
	else
		return false;
	return true;
}

/* The code after the pad's comparison; 0: there is no pad. */
static uint32_t
first_of_pad(uint32_t block)
{
	uint32_t pad = jit_lookup_pad(jit.blocks[block].version, jit.blocks[block].pc);
	return pad ? pad + sequence_pad_check_end(pad) : 0;
}

void
jit_learn_target(struct thread *t, uint32_t block, uint32_t site)
{
	uint32_t first = first_of_pad(block);
	if (first && !add_target_site(block, first, site))
		bring_into_order(t, block, first, site);
}

void
jit_learn_ahead(uint32_t block, uint32_t site)
{
	uint32_t first = first_of_pad(block);
	if (first)
		add_target_site(block, first, site);
}
