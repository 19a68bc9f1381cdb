/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table process_function of a profile file: the counts of each process in each function. */
#include "profile/file_tables.h"

static void
shares_bind(sqlite3_stmt *s, const struct st_profile_share *row)
{
	const uint64_t counts[] = {row->calls,          row->calls_exact,   row->executions,
	                           row->instructions,   row->samples,       row->samples_total,
	                           row->samples_kernel, row->samples_engine};
	sqlite3_bind_int64(s, 1, (int64_t)row->process + 1);
	if (row->function == UINT32_MAX)
		sqlite3_bind_null(s, 2);
	else
		sqlite3_bind_int64(s, 2, (int64_t)row->function + 1);
	for (int i = 0; i < (int)(sizeof counts / sizeof *counts); i++)
		sqlite3_bind_int64(s, 3 + i,
		                   counts[i] > INT64_MAX ? INT64_MAX : (int64_t)counts[i]);
}

int
st_save_shares(sqlite3 *db, const struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	if (!p->shares.n)
		return SQLITE_OK;
	int status = sqlite3_exec(
	        db,
	        "CREATE TABLE process_function(process INTEGER NOT NULL REFERENCES process,"
	        " function INTEGER REFERENCES function, calls INTEGER NOT NULL,"
	        " calls_exact INTEGER NOT NULL, executions INTEGER NOT NULL,"
	        " instructions INTEGER NOT NULL, samples INTEGER NOT NULL,"
	        " samples_total INTEGER NOT NULL, samples_kernel INTEGER NOT NULL,"
	        " samples_engine INTEGER NOT NULL)",
	        NULL, NULL, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_prepare_v2(
		        db, "INSERT INTO process_function VALUES(?,?,?,?,?,?,?,?,?,?)", -1, &s,
		        NULL);
	for (size_t i = 0; status == SQLITE_OK && i < p->shares.n; i++) {
		shares_bind(s, &p->shares.v[i]);
		status = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return status;
}

static void
shares_read(sqlite3_stmt *s, const struct st_profile *p, struct st_profile_share *row, bool *bad)
{
	uint64_t counts[8];
	row->process = st_index_of(s, 0, p->processes.n, bad);
	row->function = st_index_of(s, 1, p->functions.n, bad);
	for (int i = 0; i < 8; i++) {
		const int64_t value = sqlite3_column_int64(s, 2 + i);
		*bad |= value < 0;
		counts[i] = (uint64_t)value;
	}
	row->calls = counts[0];
	row->calls_exact = counts[1];
	row->executions = counts[2];
	row->instructions = counts[3];
	row->samples = counts[4];
	row->samples_total = counts[5];
	row->samples_kernel = counts[6];
	row->samples_engine = counts[7];
	*bad |= row->process == UINT32_MAX;
}

bool
st_load_shares(sqlite3 *db, struct st_profile *p)
{
	sqlite3_stmt *s = NULL;
	const char *sql = "SELECT process, function, calls, calls_exact, executions, instructions,"
	                  " samples, samples_total, samples_kernel, samples_engine"
	                  " FROM process_function ORDER BY rowid";
	bool bad = false;
	if (!st_has_table(db, "process_function"))
		return true;
	int status = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	while (status == SQLITE_OK && (status = sqlite3_step(s)) == SQLITE_ROW) {
		struct st_profile_share *row = ST_PUSH(&p->shares);
		status = row ? SQLITE_OK : SQLITE_NOMEM;
		if (row)
			shares_read(s, p, row, &bad);
	}
	p->out_of_memory |= status == SQLITE_NOMEM;
	sqlite3_finalize(s);
	return status == SQLITE_DONE && !bad;
}
