/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table slowdown of a profile file: between what the slowdown is, where the run can tell. */
#include "profile/file_tables.h"

int
st_save_slowdown(sqlite3 *db, const struct st_profile *p)
{
	const struct st_slowdown *is = &p->run.slowdown;
	sqlite3_stmt *s = NULL;
	if (!is->about)
		return SQLITE_OK;
	int status =
	        sqlite3_exec(db, "CREATE TABLE slowdown(least REAL NOT NULL, most REAL NOT NULL)",
	                     NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_prepare_v2(db, "INSERT INTO slowdown VALUES(?,?)", -1, &s, NULL);
	if (status == SQLITE_OK) {
		sqlite3_bind_double(s, 1, is->least);
		sqlite3_bind_double(s, 2, is->most);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
	}
	sqlite3_finalize(s);
	return status;
}

bool
st_load_slowdown(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	const char *sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'slowdown'";
	int status = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_step(s);
	sqlite3_finalize(s);
	if (status == SQLITE_DONE) { /* not told, or of a strobe that did not know */
		p->run.slowdown = (struct st_slowdown){0};
		return true;
	}
	s = NULL;
	bool good = status == SQLITE_ROW &&
	            sqlite3_prepare_v2(db, "SELECT least, most FROM slowdown", -1, &s, NULL) ==
	                    SQLITE_OK &&
	            sqlite3_step(s) == SQLITE_ROW;
	if (good) {
		p->run.slowdown.least = sqlite3_column_double(s, 0);
		p->run.slowdown.most = sqlite3_column_double(s, 1);
	}
	sqlite3_finalize(s);
	return good;
}
