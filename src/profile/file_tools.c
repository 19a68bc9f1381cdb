/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables tool and tool_option of a profile file. */
#include "profile/file_tables.h"

static int
insert_tools(sqlite3 *db, const struct st_profile_run *run)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(db, "INSERT INTO tool VALUES(?,?)", -1, &s, NULL);
	for (size_t i = 0; status == SQLITE_OK && i < run->tools.n; i++) {
		sqlite3_bind_int64(s, 1, (int64_t)i + 1);
		sqlite3_bind_text(s, 2, run->tools.v[i], -1, SQLITE_STATIC);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return status;
}

static int
insert_options(sqlite3 *db, const struct st_profile_run *run)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(db, "INSERT INTO tool_option VALUES(?,?,?)", -1, &s, NULL);
	for (size_t i = 0; status == SQLITE_OK && i < run->tool_options.n; i++) {
		const struct st_profile_option *o = &run->tool_options.v[i];
		sqlite3_bind_int64(s, 1, (int64_t)o->tool + 1);
		sqlite3_bind_text(s, 2, o->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 3, o->value, -1, SQLITE_STATIC);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return status;
}

int
st_save_tools(sqlite3 *db, const struct st_profile *p)
{
	int status = sqlite3_exec(db,
	                          "CREATE TABLE tool(id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
	                          "CREATE TABLE tool_option(tool INTEGER NOT NULL REFERENCES tool,"
	                          " name TEXT NOT NULL, value TEXT NOT NULL);",
	                          NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = insert_tools(db, &p->run);
	return status == SQLITE_OK ? insert_options(db, &p->run) : status;
}

static bool
load_names(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(db, "SELECT id, name FROM tool ORDER BY id", -1, &s, NULL);
	bool bad = status != SQLITE_OK;
	while (!bad && (status = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 1);
		bad = !name || sqlite3_column_int64(s, 0) != (int64_t)p->run.tools.n + 1;
		if (!bad)
			st_profile_add_tool(p, name);
	}
	sqlite3_finalize(s);
	return !bad && status == SQLITE_DONE;
}

static bool
load_options(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(
	        db, "SELECT tool, name, value FROM tool_option ORDER BY rowid", -1, &s, NULL);
	bool bad = status != SQLITE_OK;
	while (!bad && (status = sqlite3_step(s)) == SQLITE_ROW) {
		uint32_t tool = st_index_of(s, 0, p->run.tools.n, &bad);
		const char *name = (const char *)sqlite3_column_text(s, 1);
		const char *value = (const char *)sqlite3_column_text(s, 2);
		bad |= tool == UINT32_MAX || !name || !value;
		if (!bad)
			st_profile_add_option(p, tool, name, value);
	}
	sqlite3_finalize(s);
	return !bad && status == SQLITE_DONE;
}

bool
st_load_tools(sqlite3 *db, struct st_profile *p)
{
	if (!st_has_table(db, "tool")) { /* of a strobe that wrote the text only */
		st_profile_tools_of_text(p);
		return true;
	}
	return load_names(db, p) && load_options(db, p);
}
