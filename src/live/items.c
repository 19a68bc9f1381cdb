/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/counts.h"

static uint32_t *
find_slot(const struct st_live_items *items, uint32_t owner, uint64_t at)
{
	uint64_t h = (at * 0x9e3779b97f4a7c15u ^ owner) * 0xff51afd7ed558ccdu;
	uint32_t slot = (uint32_t)(h >> 32) & (items->n_slots - 1);
	for (; items->slots[slot]; slot = (slot + 1) & (items->n_slots - 1)) {
		const struct st_live_item *i = &items->all.v[items->slots[slot] - 1];
		if (i->owner == owner && i->at == at)
			break;
	}
	return &items->slots[slot];
}

static bool
grow(struct st_live_items *items)
{
	struct st_live_items more = *items;
	more.n_slots = items->n_slots ? 2 * items->n_slots : 256;
	more.slots = calloc(more.n_slots, sizeof *more.slots);
	if (!more.slots)
		return false;
	for (uint32_t i = 0; i < items->all.n; i++)
		*find_slot(&more, items->all.v[i].owner, items->all.v[i].at) = i + 1;
	free(items->slots);
	*items = more;
	return true;
}

uint32_t
st_live_item(struct st_live_items *items, uint32_t owner, uint64_t at)
{
	if (2 * (items->all.n + 1) > items->n_slots && !grow(items))
		return ST_LIVE_NONE;
	uint32_t *slot = find_slot(items, owner, at);
	if (*slot)
		return *slot - 1;
	struct st_live_item *new = ST_PUSH(&items->all);
	if (!new)
		return ST_LIVE_NONE;
	new->owner = owner;
	new->at = at;
	*slot = (uint32_t)items->all.n;
	return *slot - 1;
}
