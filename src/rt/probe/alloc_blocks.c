/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is live. Blocks are found by their address: a table of regions, and in each a place for
 * every 16 bytes, so that blocks that lie side by side are kept side by side. The lock is held.
 */
#include "rt/probe/alloc.h"

/* ---- blocks ---- */

/* Blocks that begin between multiples of 16 bytes have regions of their own. */
static uint64_t
region_key(uint64_t address)
{
	return (address >> ST_ALLOC_REGION_BITS) << 1 | (address >> 3 & 1) | 1ull << 63;
}

void
probe_block_expect(const struct st_alloc_area *a, uint64_t address)
{
	const uint64_t key = region_key(address);
	const struct st_alloc_region *r =
	        &a->regions[(uint32_t)(key * 0x9e3779b97f4a7c15u >> 44) % ST_ALLOC_REGIONS];
	/* Of another region it would be a place that is of no use, and no harm. */
	if (LIKELY(r->key == key))
		__builtin_prefetch((const uint64_t *)probe_context.area + r->blocks +
		                           (address >> 4) % ST_ALLOC_SLOTS,
		                   1);
}

static struct st_alloc_region *
region_of(struct st_alloc_area *a, uint64_t key)
{
	uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 44);
	for (uint32_t i = 0; i < 64; i++, at++) {
		struct st_alloc_region *r = &a->regions[at % ST_ALLOC_REGIONS];
		if (LIKELY(r->key == key) || !r->key)
			return r;
	}
	return NULL;
}

static uint64_t *
place_in(const struct st_alloc_region *r, uint64_t address)
{
	return (uint64_t *)probe_context.area + r->blocks + (address >> 4) % ST_ALLOC_SLOTS;
}

struct probe_block_place
probe_block_find(struct st_alloc_area *a, uint64_t address)
{
	struct st_alloc_region *r = region_of(a, region_key(address));
	return (struct probe_block_place){r, r && r->key ? place_in(r, address) : NULL};
}

struct probe_block_place
probe_block_place(struct st_alloc_area *a, uint64_t address)
{
	const uint64_t key = region_key(address);
	struct st_alloc_region *r = region_of(a, key);
	if (UNLIKELY(!r || address & 7))
		return (struct probe_block_place){r, NULL};
	if (UNLIKELY(!r->key)) {
		const uint32_t at = probe_allocate(ST_ALLOC_SLOTS * sizeof(uint64_t));
		if (!at)
			return (struct probe_block_place){r, NULL};
		*r = (struct st_alloc_region){.key = key, .blocks = at};
		a->region_list[a->n_regions] = (uint32_t)(r - a->regions);
		__atomic_store_n(&a->n_regions, a->n_regions + 1, __ATOMIC_RELEASE);
	}
	return (struct probe_block_place){r, place_in(r, address)};
}

/* ---- counts ---- */

/* The domain's peak may have risen since the context changed last: it had then what it has now. */
static void
note_peak(const struct st_alloc_totals *all, struct st_alloc_context *c)
{
	if (c->epoch == all->epoch)
		return;
	c->at_peak = c->live;
	c->epoch = all->epoch;
}

void
probe_count_live(struct st_alloc_area *a, uint32_t context, uint64_t size)
{
	struct st_alloc_context *c = &a->contexts[context];
	struct st_alloc_totals *all = &a->totals[c->domain];
	note_peak(all, c);
	c->live += size;
	c->live_blocks++;
	if (c->live > c->own_peak)
		c->own_peak = c->live;
	all->live += size;
	all->live_blocks++;
	if (all->live > all->peak) {
		all->peak = all->live;
		all->epoch++;
	}
}

void
probe_count_freed(struct st_alloc_area *a, uint32_t context, uint64_t size)
{
	struct st_alloc_context *c = &a->contexts[context];
	struct st_alloc_totals *all = &a->totals[c->domain];
	note_peak(all, c);
	c->live -= size;
	c->live_blocks--;
	all->live -= size;
	all->live_blocks--;
}

/* ---- mapped pages ---- */

/* The first mapping that ends behind the address. */
static uint32_t
mapping_behind(const struct st_alloc_area *a, uint64_t address)
{
	uint32_t low = 0, high = a->n_mappings;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (a->mappings[middle].to > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void
move_mappings(struct st_alloc_area *a, uint32_t from, int32_t by)
{
	struct st_alloc_mapping *m = a->mappings;
	const uint32_t n = a->n_mappings;
	if (by > 0)
		for (uint32_t i = n; i-- > from;)
			m[i + (uint32_t)by] = m[i];
	else
		for (uint32_t i = from; i < n; i++)
			m[i + (uint32_t)by] = m[i];
	a->n_mappings = n + (uint32_t)by;
}

/* Pages of one call that are left: as live as before, as one block or two. */
static void
count_rest(struct st_alloc_area *a, const struct st_alloc_mapping *was, uint64_t kept,
           uint32_t pieces)
{
	struct st_alloc_context *c = &a->contexts[was->context];
	struct st_alloc_totals *all = &a->totals[ST_ALLOC_MAPPED];
	const uint64_t gone = was->to - was->from - kept;
	const uint64_t more = (uint64_t)pieces - 1; /* blocks; of no piece it wraps to -1 */
	note_peak(all, c);
	c->live -= gone;
	c->live_blocks += more;
	all->live -= gone;
	all->live_blocks += more;
	all->freed += gone;
	all->frees += pieces == 0;
}

void
probe_unmap_pages(struct st_alloc_area *a, uint64_t from, uint64_t to)
{
	uint32_t i = mapping_behind(a, from);
	while (i < a->n_mappings && a->mappings[i].from < to) {
		struct st_alloc_mapping *m = &a->mappings[i], was = *m;
		const bool before = was.from<from, behind = was.to> to;
		const uint64_t kept = (before ? from - was.from : 0) + (behind ? was.to - to : 0);
		if (before && behind && a->n_mappings == ST_ALLOC_MAPPINGS)
			return;
		count_rest(a, &was, kept, (uint32_t)before + behind);
		if (before && behind) {
			move_mappings(a, i + 1, 1);
			m->to = from;
			a->mappings[i + 1] = (struct st_alloc_mapping){to, was.to, was.context, 0};
			return;
		}
		if (before)
			m->to = from;
		else if (behind)
			m->from = to;
		else
			move_mappings(a, i + 1, -1);
		i += before;
		if (behind)
			return;
	}
}

bool
probe_map_pages(struct st_alloc_area *a, uint64_t from, uint64_t to, uint32_t context)
{
	const uint32_t i = mapping_behind(a, from);
	if (a->n_mappings == ST_ALLOC_MAPPINGS)
		return false;
	move_mappings(a, i, 1);
	a->mappings[i] = (struct st_alloc_mapping){from, to, context, 0};
	probe_count_live(a, context, to - from);
	return true;
}
