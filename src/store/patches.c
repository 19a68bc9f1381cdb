/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/patches.h"

#include <stdlib.h>

static st_status
patch_look_up(struct st_store *s, const char *name, bool *found, char **out, struct st_error *e)
{
	sqlite3_stmt *rows = NULL;
	*found = false;
	*out = NULL;
	if (st_store_query(s, &rows, "SELECT patch FROM patch WHERE name = ?", e))
		return -1;
	sqlite3_bind_text(rows, 1, name, -1, SQLITE_STATIC);
	int step = st_store_step(s, rows, e);
	*found = step > 0;
	if (*found)
		*out = st_store_text(rows, 0);
	sqlite3_finalize(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* Only to be quicker the next time: a store that cannot be written to answers all the same. */
static void
patch_remember(struct st_store *s, const char *name, const char *patch)
{
	sqlite3_stmt *insert = NULL;
	if (sqlite3_db_readonly(s->db, "main") ||
	    sqlite3_prepare_v2(s->db, "INSERT OR IGNORE INTO patch VALUES(?,?)", -1, &insert, NULL))
		return;
	sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 2, patch, -1, SQLITE_STATIC);
	sqlite3_step(insert);
	sqlite3_finalize(insert);
}

st_status
st_patch_of(struct st_store *s, const char *name, char **out, struct st_error *e)
{
	bool found;
	if (patch_look_up(s, name, &found, out, e))
		return -1;
	if (found)
		return 0;
	if (s->vcs->kind->patch(s->vcs, name, out, e))
		return -1;
	patch_remember(s, name, *out);
	return 0;
}
