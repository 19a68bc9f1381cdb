/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/counts.h"

uint32_t
st_live_item(struct st_live_items *items, uint32_t owner, uint64_t at)
{
	const uint32_t hash = st_hash_numbers(at, owner);
	const struct st_live_item *v = items->all.v;
	const uint32_t known =
	        ST_HASHMAP_FIND(&items->index, hash, i, v[i].owner == owner && v[i].at == at);
	if (known != ST_HASHMAP_NONE)
		return known;
	struct st_live_item *new = ST_PUSH(&items->all);
	if (!new)
		return ST_LIVE_NONE;
	new->owner = owner;
	new->at = at;
	const uint32_t index = (uint32_t)items->all.n - 1;
	return st_hashmap_add(&items->index, hash, index) ? ST_LIVE_NONE : index;
}
