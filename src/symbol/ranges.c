/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vectors of address ranges and of candidates. */
#include <stdlib.h>

#include "base/order.h"
#include "symbol/internal.h"

void *
sym_grow(void *v, size_t n, size_t *room, size_t element)
{
	if (n < *room)
		return v;
	size_t wanted = *room ? 2 * *room : 64;
	void *bigger = reallocarray(v, wanted, element);
	if (bigger)
		*room = wanted;
	return bigger;
}

st_status
sym_ranges_add(struct sym_ranges *ranges, uint64_t start, uint64_t end)
{
	struct sym_range *v = sym_grow(ranges->v, ranges->n, &ranges->room, sizeof *v);
	if (!v)
		return -1;
	ranges->v = v;
	v[ranges->n++] = (struct sym_range){start, end};
	return 0;
}

static int
ranges_by_start(const void *a, const void *b)
{
	const struct sym_range *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? 1 : x->end > y->end ? -1 : 0;
}

void
sym_ranges_settle(struct sym_ranges *ranges)
{
	size_t kept = 0;
	st_order(ranges->v, ranges->n, sizeof *ranges->v, ranges_by_start);
	for (size_t i = 0; i < ranges->n; i++) {
		struct sym_range r = ranges->v[i];
		struct sym_range *last = kept ? &ranges->v[kept - 1] : NULL;
		if (r.end <= r.start || (last && last->start == r.start))
			continue;
		if (last && last->end > r.start)
			last->end = r.start;
		ranges->v[kept++] = r;
	}
	ranges->n = kept;
}

/* The number of ranges that start at or before the address. */
static size_t
ranges_started(const struct sym_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges->v[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct sym_range *
sym_ranges_find(const struct sym_ranges *ranges, uint64_t address)
{
	size_t n = ranges_started(ranges, address);
	return n && address < ranges->v[n - 1].end ? &ranges->v[n - 1] : NULL;
}

const struct sym_range *
sym_ranges_after(const struct sym_ranges *ranges, uint64_t address)
{
	size_t n = ranges_started(ranges, address);
	return n < ranges->n ? &ranges->v[n] : NULL;
}

void
sym_ranges_free(struct sym_ranges *ranges)
{
	free(ranges->v);
	*ranges = (struct sym_ranges){0};
}

st_status
sym_candidates_add(struct sym_candidates *list, const struct sym_candidate *candidate)
{
	if (!candidate->name)
		return -1;
	struct sym_candidate *v = sym_grow(list->v, list->n, &list->room, sizeof *v);
	if (!v)
		return -1;
	list->v = v;
	v[list->n++] = *candidate;
	return 0;
}

void
sym_candidates_free(struct sym_candidates *list)
{
	free(list->v);
	*list = (struct sym_candidates){0};
}
