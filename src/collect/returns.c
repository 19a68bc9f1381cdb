/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/returns.h"

#include <stdlib.h>

#include "control/run.h"

static st_status
add_return(struct st_returns *r, uint64_t address)
{
	if (st_returns_has(r, address))
		return ST_OK;
	uint64_t *new = ST_PUSH(&r->addresses);
	if (!new)
		return ST_FAILED;
	*new = address;
	return st_hashmap_add(&r->index, st_hash_number(address), (uint32_t)r->addresses.n - 1);
}

void
st_returns_update(struct st_returns *r, const struct st_results_header *h)
{
	const struct st_block *blocks = st_results_blocks(h);
	uint32_t n = h->blocks.n < ST_MAX_BLOCKS ? h->blocks.n : ST_MAX_BLOCKS;
	for (; r->blocks < n; r->blocks++) {
		const struct st_block *b = &blocks[r->blocks];
		if (b->end != ST_END_CALL && b->end != ST_END_ICALL)
			continue;
		if (add_return(r, b->pc + b->bytes))
			return;
	}
}

bool
st_returns_has(const struct st_returns *r, uint64_t address)
{
	return ST_HASHMAP_FIND(&r->index, st_hash_number(address), i,
	                       r->addresses.v[i] == address) != ST_HASHMAP_NONE;
}

void
st_returns_free(struct st_returns *r)
{
	free(r->addresses.v);
	st_hashmap_free(&r->index);
	*r = (struct st_returns){0};
}
