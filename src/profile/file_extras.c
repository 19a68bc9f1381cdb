/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table extra of a profile file: what another tool's file said that Strobe has no place for. */
#include "profile/file_tables.h"

void
st_profile_add_extra(struct st_profile *p, const char *name, const char *json)
{
	struct st_profile_extra *x = ST_PUSH(&p->extras);
	if (x)
		*x = (struct st_profile_extra){st_profile_text(p, name), st_profile_text(p, json)};
	else
		p->out_of_memory = true;
}

const char *
st_profile_extra_named(const struct st_profile *p, const char *name)
{
	for (size_t i = 0; i < p->extras.n; i++)
		if (!strcmp(p->extras.v[i].name, name))
			return p->extras.v[i].json;
	return NULL;
}

int
st_save_extras(sqlite3 *db, const struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	if (!p->extras.n)
		return SQLITE_OK;
	int status = sqlite3_exec(db, "CREATE TABLE extra(name TEXT NOT NULL, json TEXT NOT NULL)",
	                          NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_prepare_v2(db, "INSERT INTO extra VALUES(?,?)", -1, &s, NULL);
	for (size_t i = 0; status == SQLITE_OK && i < p->extras.n; i++) {
		sqlite3_bind_text(s, 1, p->extras.v[i].name, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, p->extras.v[i].json, -1, SQLITE_STATIC);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return status;
}

bool
st_load_extras(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	bool bad = false;
	if (!st_has_table(db, "extra"))
		return true;
	int status =
	        sqlite3_prepare_v2(db, "SELECT name, json FROM extra ORDER BY rowid", -1, &s, NULL);
	while (status == SQLITE_OK && (status = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		const char *json = (const char *)sqlite3_column_text(s, 1);
		bad |= !name || !json;
		st_profile_add_extra(p, name ? name : "", json ? json : "");
		status = SQLITE_OK;
	}
	sqlite3_finalize(s);
	return status == SQLITE_DONE && !bad;
}
