/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sys/stat.h>

#include "store/upkeep.h"

/* What a profile needs, and the bases of that. In one transaction with the removal, so that nobody
 * adds a profile in between. */
static const char gc_sql[] =
        "BEGIN IMMEDIATE;"
        "CREATE TEMP TABLE needed(id INTEGER PRIMARY KEY);"
        "INSERT OR IGNORE INTO needed SELECT object FROM part;"
        "INSERT OR IGNORE INTO needed SELECT manifest FROM profile;"
        "INSERT OR IGNORE INTO needed SELECT o.base FROM object o JOIN needed n ON n.id = o.id "
        "WHERE o.base IS NOT NULL;"
        "DELETE FROM object WHERE id NOT IN (SELECT id FROM needed);";
static const char gc_rest_sql[] =
        "DROP TABLE needed;"
        "DELETE FROM version WHERE id NOT IN (SELECT version FROM profile);"
        "DELETE FROM configuration WHERE id NOT IN (SELECT configuration FROM profile);"
        "DELETE FROM machine WHERE id NOT IN (SELECT machine FROM profile);"
        "DELETE FROM patch;"
        "COMMIT";

static uint64_t
gc_size(const struct st_store *s)
{
	struct stat st;
	return stat(s->path, &st) ? 0 : (uint64_t)st.st_size;
}

st_status
st_gc(struct st_store *s, struct st_gc *out, struct st_error *e)
{
	*out = (struct st_gc){.before = gc_size(s)};
	int status = st_store_run(s, gc_sql, e);
	if (!status) {
		out->objects = (uint64_t)sqlite3_changes64(s->db);
		status = st_store_run(s, gc_rest_sql, e);
	}
	if (status) {
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	if (st_store_run(s, "VACUUM", e))
		return -1;
	out->after = gc_size(s);
	return 0;
}
