/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/returns.h"

#include <stdlib.h>

#include "control/run.h"

static size_t
slot_of(const uint64_t *table, size_t size, uint64_t address)
{
	size_t at = (size_t)(address * 0x9e3779b97f4a7c15u >> 32) & (size - 1);
	while (table[at] && table[at] != address)
		at = (at + 1) & (size - 1);
	return at;
}

static bool
grow(struct st_returns *r)
{
	size_t size = r->size ? 2 * r->size : 4096;
	uint64_t *table = calloc(size, sizeof *table);
	if (!table)
		return false;
	for (size_t i = 0; i < r->size; i++)
		if (r->table[i])
			table[slot_of(table, size, r->table[i])] = r->table[i];
	free(r->table);
	r->table = table;
	r->size = size;
	return true;
}

void
st_returns_update(struct st_returns *r, const struct st_results_header *h)
{
	const struct st_block *blocks = st_results_blocks(h);
	uint32_t n = h->n_blocks < ST_MAX_BLOCKS ? h->n_blocks : ST_MAX_BLOCKS;
	for (; r->blocks < n; r->blocks++) {
		const struct st_block *b = &blocks[r->blocks];
		if (b->end != ST_END_CALL && b->end != ST_END_ICALL)
			continue;
		if (2 * r->n >= r->size && !grow(r))
			return;
		size_t at = slot_of(r->table, r->size, b->pc + b->bytes);
		r->n += !r->table[at];
		r->table[at] = b->pc + b->bytes;
	}
}

bool
st_returns_has(const struct st_returns *r, uint64_t address)
{
	return address && r->size && r->table[slot_of(r->table, r->size, address)];
}

void
st_returns_free(struct st_returns *r)
{
	free(r->table);
	*r = (struct st_returns){0};
}
