/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table overshoot of a profile file: how far each budget was exceeded when it was spent. */
#include "profile/file_tables.h"

int
st_save_overshoots(sqlite3 *db, const struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	if (!p->overshoots.n)
		return SQLITE_OK;
	int status = sqlite3_exec(db,
	                          "CREATE TABLE overshoot(process INTEGER NOT NULL,"
	                          " time_ns INTEGER NOT NULL, over_ns INTEGER NOT NULL)",
	                          NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status =
		        sqlite3_prepare_v2(db, "INSERT INTO overshoot VALUES(?,?,?)", -1, &s, NULL);
	for (size_t i = 0; status == SQLITE_OK && i < p->overshoots.n; i++) {
		const struct st_profile_overshoot *row = &p->overshoots.v[i];
		sqlite3_bind_int64(s, 1, (int64_t)row->process + 1);
		sqlite3_bind_int64(s, 2, row->time_ns);
		sqlite3_bind_int64(s, 3, row->over_ns);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return status;
}

bool
st_load_overshoots(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	const char *sql = "SELECT process, time_ns, over_ns FROM overshoot ORDER BY rowid";
	bool bad = false;
	if (!st_has_table(db, "overshoot"))
		return true;
	int status = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	while (status == SQLITE_OK && (status = sqlite3_step(s)) == SQLITE_ROW) {
		struct st_profile_overshoot *row = ST_PUSH(&p->overshoots);
		status = row ? SQLITE_OK : SQLITE_NOMEM;
		if (!row)
			break;
		row->process = st_index_of(s, 0, p->processes.n, &bad);
		row->time_ns = sqlite3_column_int64(s, 1);
		row->over_ns = sqlite3_column_int64(s, 2);
		bad |= row->process == UINT32_MAX;
	}
	p->out_of_memory |= status == SQLITE_NOMEM;
	sqlite3_finalize(s);
	return status == SQLITE_DONE && !bad;
}
