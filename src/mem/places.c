/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mem/places.h"

#include <stdlib.h>
#include <string.h>

enum { NO_RANGE = ST_MEM_RANGES, MOST_ADDRESS_BITS = 57 };

/* ---- ranges ---- */

static uint32_t
range_find(struct st_mem_places *p, uint64_t key)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const uint32_t at = (p->last + i) % p->n;
		if (p->keys[at] == key)
			return p->last = at;
	}
	return NO_RANGE;
}

/* Returns the range of the key, which is added. NO_RANGE: there are too many. */
static uint32_t
range_with_key(struct st_mem_places *p, uint64_t key)
{
	const uint32_t found = range_find(p, key);
	if (found != NO_RANGE || p->n == ST_MEM_RANGES)
		return found;
	p->keys[p->n] = key;
	return p->last = p->n++;
}

/* Doubles the size of the ranges: each pair becomes one. */
static void
ranges_double(struct st_mem_places *p)
{
	const uint32_t n = p->n;
	uint64_t keys[ST_MEM_RANGES];
	uint32_t to[ST_MEM_RANGES];
	memcpy(keys, p->keys, n * sizeof *keys);
	p->n = p->last = 0;
	p->shift++;
	for (uint32_t i = 0; i < n; i++)
		to[i] = range_with_key(p, keys[i] >> 1);
	for (size_t k = 0; k < p->times.n; k++) {
		struct st_mem_places_time *t = &p->times.v[k], was = *t;
		memset(t->live, 0, sizeof t->live);
		for (uint32_t i = 0; i < n; i++)
			t->live[to[i]] += was.live[i];
	}
}

/* Spreads live bytes evenly over [from, from + span). */
static void
ranges_add(struct st_mem_places *p, uint64_t from, uint64_t span, uint64_t live)
{
	uint64_t at = from, counted = 0;
	while (at - from < span) {
		uint64_t end = ((at >> p->shift) + 1) << p->shift;
		if (end - from > span)
			end = from + span;
		const uint32_t range = range_with_key(p, at >> p->shift);
		if (range == NO_RANGE) {
			ranges_double(p);
			continue;
		}
		const uint64_t all = (uint64_t)((unsigned __int128)live * (end - from) / span);
		p->times.v[p->times.n - 1].live[range] += all - counted;
		counted = all;
		at = end;
	}
}

/* ---- times ---- */

/* Blocks count where they begin, unless they are larger than a region: the area was shared with the
 * process, so that a span is not believed to be within the address space. */
static void
places_add_region(struct st_mem_places *p, const struct st_alloc_region *r)
{
	const uint64_t live = __atomic_load_n(&r->live, __ATOMIC_RELAXED);
	const uint64_t size = 1ull << ST_ALLOC_REGION_BITS;
	const uint64_t from = (r->key & ~(1ull << 63)) >> 1 << ST_ALLOC_REGION_BITS;
	uint64_t span = __atomic_load_n(&r->reach, __ATOMIC_RELAXED);
	if (live >> MOST_ADDRESS_BITS || from >> MOST_ADDRESS_BITS || !live)
		return;
	if (live <= size || span < size || span >> MOST_ADDRESS_BITS)
		span = size;
	ranges_add(p, from, span, live);
}

/* Leaves out every second time. */
static void
times_halve(struct st_mem_places *p)
{
	size_t kept = 0;
	for (size_t i = 0; i < p->times.n; i += 2)
		p->times.v[kept++] = p->times.v[i];
	p->times.n = kept;
	p->stride *= 2;
}

void
st_mem_places_take(struct st_mem_places *p, const struct st_alloc_area *a, uint64_t ns, bool last)
{
	const uint32_t n = __atomic_load_n(&a->n_regions, __ATOMIC_ACQUIRE);
	if (p->seen++ < p->next && !last)
		return;
	if (!p->shift) {
		p->shift = ST_ALLOC_REGION_BITS;
		p->stride = 1;
	}
	if (p->times.n == ST_MEM_TIMES)
		times_halve(p);
	p->next = p->seen - 1 + p->stride;
	struct st_mem_places_time *t = ST_PUSH(&p->times);
	if (!t)
		return;
	*t = (struct st_mem_places_time){.ns = ns};
	for (uint32_t i = 0; i < n && i < ST_ALLOC_REGIONS; i++)
		places_add_region(p, &a->regions[a->region_list[i] % ST_ALLOC_REGIONS]);
}

/* ---- the result ---- */

st_status
st_mem_places_copy(const struct st_mem_places *p, struct st_mem *m)
{
	m->range_bytes = p->shift ? 1ull << p->shift : 0;
	for (size_t k = 0; k < p->times.n; k++) {
		const struct st_mem_places_time *t = &p->times.v[k];
		/* The first range is kept without memory, too, so that no time is lost. */
		for (uint32_t i = 0; i < p->n; i++) {
			struct st_mem_place *to = i && !t->live[i] ? NULL : ST_PUSH(&m->places);
			if (to)
				*to = (struct st_mem_place){t->ns, p->keys[i] << p->shift,
				                            t->live[i]};
			else if (!i || t->live[i])
				return ST_FAILED;
		}
	}
	return ST_OK;
}

void
st_mem_places_free(struct st_mem_places *p)
{
	free(p->times.v);
	*p = (struct st_mem_places){0};
}
