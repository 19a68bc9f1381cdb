/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table machine of a profile file: what else is known of where the program ran. */
#include "profile/file_tables.h"

int
st_save_machine(sqlite3 *db, const struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	if (!p->run.facts.n)
		return SQLITE_OK;
	int status =
	        sqlite3_exec(db, "CREATE TABLE machine(name TEXT PRIMARY KEY, value TEXT NOT NULL)",
	                     NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_prepare_v2(db, "INSERT INTO machine VALUES(?,?)", -1, &s, NULL);
	for (size_t i = 0; i < p->run.facts.n && status == SQLITE_OK; i++) {
		sqlite3_bind_text(s, 1, p->run.facts.v[i].name, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, p->run.facts.v[i].value, -1, SQLITE_STATIC);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return status;
}

/* Files of before have none. */
bool
st_load_machine(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	int status = SQLITE_ROW;
	if (!st_has_table(db, "machine"))
		return true;
	if (sqlite3_prepare_v2(db, "SELECT name, value FROM machine ORDER BY rowid", -1, &s, NULL))
		return false;
	while ((status = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		const char *value = (const char *)sqlite3_column_text(s, 1);
		st_profile_add_fact(p, name ? name : "", value ? value : "");
	}
	sqlite3_finalize(s);
	return status == SQLITE_DONE;
}
