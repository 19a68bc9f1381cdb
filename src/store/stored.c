/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/stored.h"

#include <stdlib.h>
#include <string.h>

const char *const st_link_names[] = {"version", "tree", "patch"};

void
st_stored_free(struct st_stored *s)
{
	free(s->of);
	free(s->collector);
	free(s->command);
	free(s->workload);
	free(s->parameters);
	free(s->file);
	*s = (struct st_stored){0};
}

void
st_stored_list_free(struct st_stored_list *l)
{
	for (size_t i = 0; i < l->v.n; i++)
		st_stored_free(&l->v.v[i]);
	free(l->v.v);
	*l = (struct st_stored_list){0};
}

bool
st_stored_take(struct st_query *rows, struct st_stored *out)
{
	size_t n;
	const void *hash = st_query_bytes(rows, 4, &n);
	*out = (struct st_stored){
	        .row = st_query_number(rows, 0),
	        .version = st_query_number(rows, 1),
	        .configuration = st_query_number(rows, 2),
	        .machine = st_query_number(rows, 3),
	        .of = st_query_copy(rows, 5),
	        .collector = st_query_copy(rows, 6),
	        .command = st_query_copy(rows, 7),
	        .workload = st_query_copy(rows, 8),
	        .parameters = st_query_copy(rows, 9),
	        .file = st_query_copy(rows, 10),
	        .added_ns = st_query_number(rows, 11),
	        .start_ns = st_query_number(rows, 12),
	        .wall_ns = st_query_number(rows, 13),
	        .dirty = st_query_number(rows, 14) != 0,
	};
	bool good = hash && n == ST_HASH_BYTES && out->of && out->collector && out->command &&
	            out->workload && out->parameters && out->file;
	if (good)
		memcpy(out->hash.v, hash, sizeof out->hash.v);
	else
		st_stored_free(out);
	return good;
}

st_status
st_stored_take_all(struct st_query *rows, struct st_stored_list *out, struct st_error *e)
{
	int step;
	while ((step = st_query_step(rows, e)) > 0) {
		struct st_stored *slot = ST_PUSH(&out->v);
		if (slot && st_stored_take(rows, slot))
			continue;
		out->v.n -= slot != NULL;
		step = st_store_no_memory(e);
		break;
	}
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}
