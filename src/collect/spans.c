/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/spans.h"

#include <stdlib.h>

static int
span_order(const void *a, const void *b)
{
	const struct st_span *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->map < y->map ? -1 : x->map > y->map;
}

struct st_span *
st_spans_new(const struct st_view *v)
{
	struct st_span *spans = calloc(v->n_maps ? v->n_maps : 1, sizeof *spans);
	if (!spans)
		return NULL;
	for (uint32_t m = 0; m < v->n_maps; m++)
		spans[m] = (struct st_span){v->maps[m].start, v->maps[m].end, 0, m};
	qsort(spans, v->n_maps, sizeof *spans, span_order);
	uint64_t reach = 0;
	for (uint32_t m = 0; m < v->n_maps; m++) {
		reach = spans[m].end > reach ? spans[m].end : reach;
		spans[m].reach = reach;
	}
	return spans;
}

int64_t
st_spans_find(const struct st_view *v, const struct st_span *spans, uint64_t address)
{
	size_t low = 0, high = v->n_maps;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (spans[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	int64_t best = -1;
	bool best_gone = true;
	for (; low > 0 && spans[low - 1].reach > address; low--) {
		const struct st_span *s = &spans[low - 1];
		bool gone = v->maps[s->map].flags & ST_MAP_GONE;
		if (s->end <= address || (gone && !best_gone))
			continue;
		if (best < 0 || (best_gone && !gone) || s->map > best) {
			best = s->map;
			best_gone = gone;
		}
	}
	return best;
}
