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
st_stored_take(sqlite3_stmt *rows, struct st_stored *out)
{
	const void *hash = sqlite3_column_blob(rows, 4);
	*out = (struct st_stored){
	        .row = sqlite3_column_int64(rows, 0),
	        .version = sqlite3_column_int64(rows, 1),
	        .configuration = sqlite3_column_int64(rows, 2),
	        .machine = sqlite3_column_int64(rows, 3),
	        .of = st_store_text(rows, 5),
	        .collector = st_store_text(rows, 6),
	        .command = st_store_text(rows, 7),
	        .workload = st_store_text(rows, 8),
	        .parameters = st_store_text(rows, 9),
	        .file = st_store_text(rows, 10),
	        .added_ns = sqlite3_column_int64(rows, 11),
	        .start_ns = sqlite3_column_int64(rows, 12),
	        .wall_ns = sqlite3_column_int64(rows, 13),
	        .dirty = sqlite3_column_int(rows, 14) != 0,
	};
	bool good = hash && sqlite3_column_bytes(rows, 4) == ST_HASH_BYTES && out->of &&
	            out->collector && out->command && out->workload && out->parameters && out->file;
	if (good)
		memcpy(out->hash.v, hash, sizeof out->hash.v);
	else
		st_stored_free(out);
	return good;
}

st_status
st_stored_take_all(struct st_store *s, sqlite3_stmt *rows, struct st_stored_list *out,
                   struct st_error *e)
{
	int step;
	while ((step = st_store_step(s, rows, e)) > 0) {
		struct st_stored *slot = ST_PUSH(&out->v);
		if (slot && st_stored_take(rows, slot))
			continue;
		out->v.n -= slot != NULL;
		step = st_store_no_memory(e);
		break;
	}
	sqlite3_finalize(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}
