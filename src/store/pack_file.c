/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The profile file behind a pack. It may come from anyone: no SQL of it is run when it is read, and
 * of what is run when it is written again, SQLite allows only the making and filling of tables.
 */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>

#include "base/text.h"
#include "profile/output.h"
#include "store/column.h"
#include "store/pack.h"

static st_status
pack_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the profile");
}

static st_status
pack_damaged(const char *path, sqlite3 *db, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "%s is damaged: %s; run the program again", path,
	               sqlite3_errmsg(db));
}

/* The objects of a profile's schema; all others were added by other programs. */
static bool
pack_is_known_type(const char *type)
{
	return !strcmp(type, "table") || !strcmp(type, "view") || !strcmp(type, "index");
}

static st_status
pack_take_schema_row(struct st_pack *p, sqlite3_stmt *rows, const char *path, struct st_error *e)
{
	const char *type = (const char *)sqlite3_column_text(rows, 0);
	const char *name = (const char *)sqlite3_column_text(rows, 1);
	const char *sql = (const char *)sqlite3_column_text(rows, 2);
	if (!type || !name || !pack_is_known_type(type))
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has a %s '%s', which no profile has: it was changed after "
		               "strobe wrote it; run the program again",
		               path, type ? type : "part", name ? name : "");
	if (!sql || !strncmp(name, "sqlite_", 7))
		return 0; /* SQLite makes these itself */
	char **statement = ST_PUSH(&p->schema);
	if (!statement || !(*statement = strdup(sql)))
		return pack_no_memory(e);
	if (strcmp(type, "table"))
		return 0;
	struct st_pack_table *t = ST_PUSH(&p->tables);
	return t && (t->name = strdup(name)) ? 0 : pack_no_memory(e);
}

static st_status
pack_read_schema(struct st_pack *p, sqlite3 *db, const char *path, struct st_error *e)
{
	sqlite3_stmt *rows = NULL;
	int step = sqlite3_prepare_v2(
	        db, "SELECT type, name, sql FROM sqlite_master ORDER BY rowid", -1, &rows, NULL);
	int status = 0;
	while (!status && (step == SQLITE_OK || step == SQLITE_ROW)) {
		step = sqlite3_step(rows);
		if (step == SQLITE_ROW)
			status = pack_take_schema_row(p, rows, path, e);
	}
	if (!status && step != SQLITE_DONE)
		status = pack_damaged(path, db, e);
	sqlite3_finalize(rows);
	return status;
}

static struct st_cell
pack_cell(sqlite3_stmt *rows, int column)
{
	struct st_cell cell = {.kind = ST_CELL_NULL};
	switch (sqlite3_column_type(rows, column)) {
	case SQLITE_INTEGER:
		cell.kind = ST_CELL_NUMBER;
		cell.number = sqlite3_column_int64(rows, column);
		break;
	case SQLITE_FLOAT:
		cell.kind = ST_CELL_REAL;
		cell.real = sqlite3_column_double(rows, column);
		break;
	case SQLITE_TEXT:
		cell.kind = ST_CELL_TEXT;
		cell.bytes = sqlite3_column_text(rows, column);
		cell.n = (size_t)sqlite3_column_bytes(rows, column);
		break;
	case SQLITE_BLOB:
		cell.kind = ST_CELL_BLOB;
		cell.bytes = sqlite3_column_blob(rows, column);
		cell.n = (size_t)sqlite3_column_bytes(rows, column);
		break;
	default:
		break;
	}
	return cell;
}

static st_status
pack_end_columns(struct st_pack_table *t, sqlite3_stmt *rows, struct st_column_writer *writers,
                 struct st_error *e)
{
	bool full = true;
	for (int i = 0; i < sqlite3_column_count(rows); i++) {
		struct st_bytes bytes = {0};
		st_column_end(&writers[i], &bytes);
		struct st_pack_column *c = ST_PUSH(&t->columns);
		if (!c || bytes.failed) {
			full = false;
			st_bytes_free(&bytes);
			continue;
		}
		c->name = strdup(sqlite3_column_name(rows, i));
		c->bytes = bytes;
		c->apart = bytes.n >= ST_PACK_APART;
		if (c->apart)
			c->hash = st_sha256(bytes.v, bytes.n);
		full &= c->name != NULL;
	}
	return full ? 0 : pack_no_memory(e);
}

static st_status
pack_read_rows(struct st_pack_table *t, sqlite3_stmt *rows, sqlite3 *db, const char *path,
               struct st_error *e)
{
	int n = sqlite3_column_count(rows), step;
	struct st_column_writer *writers = calloc((size_t)n + 1, sizeof *writers);
	if (!writers)
		return pack_no_memory(e);
	while ((step = sqlite3_step(rows)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++) {
			struct st_cell cell = pack_cell(rows, i);
			st_column_add(&writers[i], &cell);
		}
		t->rows++;
	}
	int status = pack_end_columns(t, rows, writers, e);
	free(writers);
	return status || step == SQLITE_DONE ? status : pack_damaged(path, db, e);
}

static st_status
pack_read_table(struct st_pack_table *t, sqlite3 *db, const char *path, struct st_error *e)
{
	sqlite3_stmt *rows = NULL;
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" NOT INDEXED", t->name);
	if (!sql)
		return pack_no_memory(e);
	int made = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
	sqlite3_free(sql);
	int status = made == SQLITE_OK ? pack_read_rows(t, rows, db, path, e)
	                               : pack_damaged(path, db, e);
	sqlite3_finalize(rows);
	return status;
}

static st_status
pack_read_version(struct st_pack *p, sqlite3 *db, const char *path, struct st_error *e)
{
	sqlite3_stmt *rows = NULL;
	bool good = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &rows, NULL) == SQLITE_OK &&
	            sqlite3_step(rows) == SQLITE_ROW;
	if (good)
		p->version = (uint64_t)sqlite3_column_int(rows, 0);
	sqlite3_finalize(rows);
	return good ? 0 : pack_damaged(path, db, e);
}

st_status
st_pack_read(struct st_pack *p, const char *path, struct st_error *e)
{
	sqlite3 *db = NULL;
	*p = (struct st_pack){0};
	int status = 0;
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL))
		status = pack_damaged(path, db, e);
	if (!status) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
		status = pack_read_version(p, db, path, e);
	}
	if (!status)
		status = pack_read_schema(p, db, path, e);
	for (size_t i = 0; i < p->tables.n && !status; i++)
		status = pack_read_table(&p->tables.v[i], db, path, e);
	sqlite3_close(db);
	return status;
}
