/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where indirect branches go: a counter for each branch and target, made when the branch first goes
 * there. jit/target.c counts most of them in translated code.
 */
#include "rt/tool/tool.h"

enum { MAX_TARGET_SITES = 1 << 20 };

struct site {
	uint64_t after;    /* address of the instruction after the branch */
	uint32_t map;      /* of the branch */
	uint32_t first, n; /* of its counts */
};
struct pair {
	uint64_t target;
	uint32_t site, counter;
};
static strobe_map known_sites; /* by basic block and instruction */
static strobe_map known_pairs; /* by site and target: its index */
static struct site *sites;     /* from 1 */
static struct target_count *counts;
static struct pair *pairs; /* from 1 */
static uint32_t n_sites, n_counts, n_pairs;

static bool
has_tables(void)
{
	if (!sites)
		sites = rt_map_table(MAX_TARGET_SITES * sizeof *sites);
	if (!counts)
		counts = rt_map_table((MAX_TARGET_SITES + MAX_TARGET_COUNTS) * sizeof *counts);
	if (!pairs)
		pairs = rt_map_table(ST_MAX_BLOCKS * sizeof *pairs);
	return sites && counts && pairs;
}

uint32_t
site_of_fragment(void)
{
	if (!asked.n_target_counts || !has_tables())
		return 0;
	uint32_t branch = asked.base + asked.b->n - 1;
	uint64_t *known = strobe_map_at(&known_sites, (uint64_t)asked.id << 32 | branch);
	if (!known || *known)
		return known ? (uint32_t)*known : 0;
	if (n_sites + 1 >= MAX_TARGET_SITES || n_counts >= MAX_TARGET_SITES)
		return 0;
	uint32_t site = ++n_sites;
	sites[site] = (struct site){asked.b->pc + asked.b->bytes, asked.b->map, n_counts,
	                            asked.n_target_counts};
	memcpy(counts + n_counts, asked.target_counts, asked.n_target_counts * sizeof *counts);
	n_counts += asked.n_target_counts;
	*known = site;
	return site;
}

static uint32_t
new_counter(uint32_t site, uint64_t target)
{
	struct st_results_header *r = rt.results;
	struct st_amount *amounts = (struct st_amount *)((char *)r + r->layout.off_amounts);
	struct st_block *blocks = (struct st_block *)((char *)r + r->layout.off_blocks);
	if (r->blocks.n >= ST_MAX_BLOCKS || r->blocks.n_amounts + sites[site].n > ST_MAX_AMOUNTS)
		return 0;
	uint32_t counter = r->blocks.n;
	uint64_t n = r->blocks.n_amounts;
	blocks[counter] = (struct st_block){.pc = sites[site].after,
	                                    .map = sites[site].map,
	                                    .flags = ST_BLOCK_TALLY | ST_BLOCK_INDIRECT,
	                                    .target = target};
	for (uint32_t i = 0; i < sites[site].n; i++) {
		struct target_count c = counts[sites[site].first + i];
		c.keys[c.target] = target;
		uint64_t cell = strobe_find_cell(c.table, c.column, c.keys).cell;
		amounts[n++] = (struct st_amount){counter, 0, 1, cell, 1};
	}
	__atomic_store_n(&r->blocks.n_amounts, n, __ATOMIC_RELEASE);
	__atomic_store_n(&r->blocks.n, counter + 1, __ATOMIC_RELEASE);
	return counter;
}

uint32_t
target_counter(uint32_t site, uint64_t target)
{
	if (!site)
		return 0;
	uint64_t hash = (site * 0x9e3779b97f4a7c15ull) ^ target;
	for (unsigned salt = 0; salt < 8; salt++) {
		uint64_t *at = strobe_map_at(&known_pairs, hash + salt);
		if (!at)
			return 0;
		const struct pair *p = &pairs[*at];
		if (*at && p->site == site && p->target == target)
			return p->counter;
		if (*at)
			continue;
		uint32_t counter = new_counter(site, target);
		if (!counter)
			return 0;
		*at = ++n_pairs;
		pairs[n_pairs] = (struct pair){target, site, counter};
		return counter;
	}
	return 0;
}

void
target_count(struct thread *t, uint32_t site, uint64_t target)
{
	__atomic_fetch_add(thread_counter(t, target_counter(site, target)), 1, __ATOMIC_RELAXED);
}

uint32_t
targets_sites(void)
{
	return n_sites;
}

static void
forget_targets(strobe_map *m)
{
	if (m->slots)
		rt_unmap_memory(m->slots, 2 * m->size * sizeof(uint64_t));
	*m = (strobe_map){0};
}

void
targets_forget(void)
{
	forget_targets(&known_sites);
	forget_targets(&known_pairs);
	n_sites = n_counts = n_pairs = 0;
}
