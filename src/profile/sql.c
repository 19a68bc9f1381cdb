/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queries that all readers of a profile file share. */
#include "profile/file_tables.h"

bool
st_has_table(sqlite3 *db, const char *name)
{
	return sqlite3_table_column_metadata(db, "main", name, NULL, NULL, NULL, NULL, NULL,
	                                     NULL) == SQLITE_OK;
}

uint32_t
st_index_of(sqlite3_stmt *s, int column, size_t n, bool *bad)
{
	if (sqlite3_column_type(s, column) == SQLITE_NULL)
		return UINT32_MAX;
	int64_t id = sqlite3_column_int64(s, column);
	*bad |= id < 1 || (uint64_t)id > n;
	return *bad ? UINT32_MAX : (uint32_t)(id - 1);
}
