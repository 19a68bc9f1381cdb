/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables qos_goal and qos of a profile file. */
#include <math.h>
#include <stdio.h>

#include "profile/file_tables.h"

static int
insert_goal(sqlite3 *db, const struct st_profile_qos *q)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(db, "INSERT INTO qos_goal VALUES(?,?,?,?)", -1, &s, NULL);
	if (status == SQLITE_OK) {
		sqlite3_bind_text(s, 1, q->source, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, q->policy, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 3, q->lower ? "max" : "min", -1, SQLITE_STATIC);
		sqlite3_bind_double(s, 4, q->threshold);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
	}
	sqlite3_finalize(s);
	return status;
}

static int
insert_rows(sqlite3 *db, const struct st_profile_qos *q)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(db, "INSERT INTO qos VALUES(?,?,?,?)", -1, &s, NULL);
	for (size_t i = 0; status == SQLITE_OK && i < q->rows.n; i++) {
		const struct st_profile_qos_row *row = &q->rows.v[i];
		sqlite3_bind_int64(s, 1, row->time_ns);
		if (isnan(row->value))
			sqlite3_bind_null(s, 2);
		else
			sqlite3_bind_double(s, 2, row->value);
		sqlite3_bind_int64(s, 3, row->budget_ns);
		sqlite3_bind_text(s, 4, row->state, -1, SQLITE_STATIC);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return status;
}

int
st_save_qos(sqlite3 *db, const struct st_profile *p)
{
	if (!p->qos.source)
		return SQLITE_OK;
	int status =
	        sqlite3_exec(db,
	                     "CREATE TABLE qos_goal(source TEXT NOT NULL, policy TEXT NOT NULL,"
	                     " side TEXT NOT NULL, threshold REAL NOT NULL);"
	                     "CREATE TABLE qos(time_ns INTEGER NOT NULL, value REAL,"
	                     " budget_ns INTEGER NOT NULL, state TEXT NOT NULL);",
	                     NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = insert_goal(db, &p->qos);
	return status == SQLITE_OK ? insert_rows(db, &p->qos) : status;
}

static const char *
text_of(struct st_profile *p, sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);
	return st_profile_text(p, text ? text : "");
}

/* Rows that name a state one after the other mostly name the same. */
static const char *
state_of(struct st_profile *p, sqlite3_stmt *s, const char *before)
{
	const char *text = (const char *)sqlite3_column_text(s, 3);
	return text && before && !strcmp(text, before) ? before : text_of(p, s, 3);
}

static bool
load_goal(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	const char *sql = "SELECT source, policy, side, threshold FROM qos_goal";
	bool good = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
	            sqlite3_step(s) == SQLITE_ROW;
	if (good) {
		p->qos.source = text_of(p, s, 0);
		p->qos.policy = text_of(p, s, 1);
		p->qos.lower = !strcmp(text_of(p, s, 2), "max");
		p->qos.threshold = sqlite3_column_double(s, 3);
	}
	sqlite3_finalize(s);
	return good;
}

static bool
file_qos_load_rows(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	const char *sql = "SELECT time_ns, value, budget_ns, state FROM qos ORDER BY rowid";
	const char *state = NULL;
	int status = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	while (status == SQLITE_OK && (status = sqlite3_step(s)) == SQLITE_ROW) {
		struct st_profile_qos_row *row = ST_PUSH(&p->qos.rows);
		status = row ? SQLITE_OK : SQLITE_NOMEM;
		if (!row)
			break;
		bool none = sqlite3_column_type(s, 1) == SQLITE_NULL;
		row->time_ns = sqlite3_column_int64(s, 0);
		row->value = none ? NAN : sqlite3_column_double(s, 1);
		row->budget_ns = sqlite3_column_int64(s, 2);
		row->state = state = state_of(p, s, state);
	}
	p->out_of_memory |= status == SQLITE_NOMEM;
	sqlite3_finalize(s);
	return status == SQLITE_DONE;
}

bool
st_load_qos(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	const char *sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'qos_goal'";
	int status = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_step(s);
	sqlite3_finalize(s);
	if (status == SQLITE_DONE)
		return true;
	return status == SQLITE_ROW && load_goal(db, p) && file_qos_load_rows(db, p);
}
