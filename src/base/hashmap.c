/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hashmap.h"

enum { FIRST_SIZE = 64 };

st_status
st_hashmap_grow(struct st_hashmap *m)
{
	struct st_hashmap grown = {.n = m->n, .size = m->size ? 2 * m->size : FIRST_SIZE};
	if (m->size > UINT32_MAX / 4)
		return ST_FAILED;
	grown.slots = calloc(grown.size, sizeof *grown.slots);
	if (!grown.slots)
		return ST_FAILED;
	for (uint32_t i = 0; i < m->size; i++) {
		uint32_t at = m->slots[i].hash & (grown.size - 1);
		if (!m->slots[i].filled)
			continue;
		while (grown.slots[at].filled)
			at = (at + 1) & (grown.size - 1);
		grown.slots[at] = m->slots[i];
	}
	free(m->slots);
	*m = grown;
	return ST_OK;
}

void
st_hashmap_replace(struct st_hashmap *m, uint32_t hash, uint32_t old, uint32_t index)
{
	for (uint32_t at = hash; m->size;) {
		at = st_hashmap_probe(m, hash, at);
		struct st_hashmap_slot *slot = &m->slots[at++];
		if (slot->filled == old + 1)
			slot->filled = index + 1;
		if (!slot->filled || slot->filled == index + 1)
			return;
	}
}
