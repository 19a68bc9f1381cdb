/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removes objects and rows that no profile needs, and releases their space. */
#include "store/upkeep.h"

/* Deletes the objects that no profile needs; a needed object also needs its base. */
#define GC_NEEDED "SELECT object FROM part UNION SELECT manifest FROM profile"
static const char gc_objects_sql[] =
        "DELETE FROM object WHERE id NOT IN (" GC_NEEDED " UNION SELECT o.base FROM object o WHERE "
        "o.base IS NOT NULL AND o.id IN (" GC_NEEDED ")) RETURNING id";
static const char gc_rest_sql[] =
        "DELETE FROM version WHERE id NOT IN (SELECT version FROM profile);"
        "DELETE FROM configuration WHERE id NOT IN (SELECT configuration FROM profile);"
        "DELETE FROM machine WHERE id NOT IN (SELECT machine FROM profile);"
        "DELETE FROM patch";

static st_status
gc_objects(struct st_store *s, uint64_t *n, struct st_error *e)
{
	struct st_query *rows = NULL;
	int step;
	if (st_store_query(s, &rows, gc_objects_sql, e))
		return -1;
	while ((step = st_query_step(rows, e)) > 0)
		++*n;
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* In one transaction, so that nobody adds a profile in between. */
st_status
st_gc(struct st_store *s, struct st_gc *out, struct st_error *e)
{
	const struct st_database_kind *kind = s->database->kind;
	*out = (struct st_gc){.before = kind->size(s->database)};
	if (st_store_begin(s, e))
		return -1;
	int status = gc_objects(s, &out->objects, e);
	if (!status)
		status = st_store_run(s, gc_rest_sql, e);
	if (!status)
		status = st_store_commit(s, e);
	if (status) {
		st_store_rollback(s);
		return -1;
	}
	if (st_store_run(s, kind->clean, e))
		return -1;
	out->after = kind->size(s->database);
	return 0;
}
