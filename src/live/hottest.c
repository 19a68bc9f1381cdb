/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/counts.h"

struct heat {
	uint64_t first, second, third;
};

/* What is equal by what is asked for is told apart by the rest, so that rows stay where they are
 * when nothing happens. */
static struct heat
heat_of(const struct st_live *l, const struct st_live_item *i, bool of_all)
{
	unsigned number = l->worth == ST_LIVE_ACTIVATIONS ? ST_LIVE_COUNT : ST_LIVE_WORTH;
	uint64_t since = st_live_since(i, number), all = i->now[number];
	return (struct heat){of_all ? all : since, of_all ? since : all, i->now[ST_LIVE_COUNT]};
}

static bool
is_hotter(const struct heat *a, const struct heat *b)
{
	if (a->first != b->first)
		return a->first > b->first;
	return a->second != b->second ? a->second > b->second : a->third > b->third;
}

size_t
st_live_hottest(const struct st_live *l, const struct st_live_items *items, bool of_all,
                uint32_t *hottest, size_t n)
{
	size_t found = 0;
	for (uint32_t i = 0; n && i < items->all.n; i++) {
		struct heat heat = heat_of(l, &items->all.v[i], of_all), other;
		if (!heat.first && !heat.second && !heat.third)
			continue;
		size_t at = found;
		for (; at; at--) {
			other = heat_of(l, &items->all.v[hottest[at - 1]], of_all);
			if (!is_hotter(&heat, &other))
				break;
		}
		if (at == n)
			continue;
		found += found < n;
		memmove(&hottest[at + 1], &hottest[at], (found - at - 1) * sizeof *hottest);
		hottest[at] = i;
	}
	return found;
}
