/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/texts.h"

uint32_t
st_trace_intern(struct st_trace_texts *t, const char *text, size_t n)
{
	const uint32_t hash = st_hash_bytes(text, n);
	const uint32_t known =
	        ST_HASHMAP_FIND(&t->index, hash, i, !strncmp(t->v.v[i], text, n) && !t->v.v[i][n]);
	if (known != ST_HASHMAP_NONE)
		return known;
	char *copy = strndup(text, n);
	char **to = copy ? ST_PUSH(&t->v) : NULL;
	if (!to) {
		free(copy);
		return UINT32_MAX;
	}
	*to = copy;
	if (st_hashmap_add(&t->index, hash, (uint32_t)t->v.n - 1))
		return UINT32_MAX;
	return (uint32_t)t->v.n - 1;
}

void
st_trace_texts_free(struct st_trace_texts *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->v.n; i++)
		free(t->v.v[i]);
	free(t->v.v);
	st_hashmap_free(&t->index);
	free(t);
}
