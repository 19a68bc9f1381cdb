/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz/known.h"

/* Eight bytes at a time: inputs may have a million. */
static struct st_fuzz_content
content_of(const struct st_fuzz_bytes *input)
{
	struct st_fuzz_content c = {input->n, ~(uint64_t)input->n};
	for (size_t at = 0; at < input->n; at += sizeof(uint64_t)) {
		const size_t left = input->n - at;
		uint64_t word = 0;
		memcpy(&word, input->v + at, left < sizeof word ? left : sizeof word);
		c.one = (c.one ^ word) * 0x9e3779b97f4a7c15u;
		c.one ^= c.one >> 32;
		c.other = (c.other ^ word) * 0xff51afd7ed558ccdu;
		c.other ^= c.other >> 29;
	}
	return c;
}

st_status
st_fuzz_known_add(struct st_fuzz_known *known, const struct st_fuzz_bytes *input, bool *added)
{
	const struct st_fuzz_content c = content_of(input);
	const uint32_t hash = st_hash_numbers(c.one, c.other);
	const uint32_t found = ST_HASHMAP_FIND(&known->by_content, hash, at,
	                                       known->list.v[at].one == c.one &&
	                                               known->list.v[at].other == c.other);
	*added = found == ST_HASHMAP_NONE;
	if (!*added)
		return ST_OK;
	struct st_fuzz_content *new = ST_PUSH(&known->list);
	if (!new)
		return ST_FAILED;
	*new = c;
	return st_hashmap_add(&known->by_content, hash, (uint32_t)(known->list.n - 1));
}

void
st_fuzz_known_free(struct st_fuzz_known *known)
{
	free(known->list.v);
	st_hashmap_free(&known->by_content);
	*known = (struct st_fuzz_known){0};
}
