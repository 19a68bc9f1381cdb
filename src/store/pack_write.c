/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile file again, of what the store has of it. */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>

#include "base/text.h"
#include "profile/output.h"
#include "profile/profile.h"
#include "store/column.h"
#include "store/pack.h"

/* The statements of the schema come from a file of anybody: they may make tables, views and
 * indexes, and nothing else. */
static int
unpack_allow(void *arg, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)arg, (void)a, (void)b, (void)c, (void)d;
	switch (action) {
	case SQLITE_CREATE_TABLE:
	case SQLITE_CREATE_VIEW:
	case SQLITE_CREATE_INDEX:
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_READ:
	case SQLITE_REINDEX:
	case SQLITE_TRANSACTION:
		return SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

static void
unpack_bind(sqlite3_stmt *insert, int at, const struct st_cell *cell)
{
	static const char empty[1];
	const void *bytes = cell->n ? cell->bytes : empty;
	if (cell->kind == ST_CELL_NUMBER)
		sqlite3_bind_int64(insert, at, cell->number);
	else if (cell->kind == ST_CELL_REAL)
		sqlite3_bind_double(insert, at, cell->real);
	else if (cell->kind == ST_CELL_TEXT)
		sqlite3_bind_text64(insert, at, bytes, cell->n, SQLITE_STATIC, SQLITE_UTF8);
	else if (cell->kind == ST_CELL_BLOB)
		sqlite3_bind_blob64(insert, at, bytes, cell->n, SQLITE_STATIC);
	else
		sqlite3_bind_null(insert, at);
}

/* SQLITE_CORRUPT: a column has too few values, or a value is damaged. */
static int
unpack_rows(sqlite3_stmt *insert, const struct st_pack_table *t, struct st_column_reader *readers)
{
	int status = SQLITE_DONE;
	for (uint64_t row = 0; row < t->rows && status == SQLITE_DONE; row++) {
		for (size_t i = 0; i < t->columns.n; i++) {
			struct st_cell cell;
			if (!st_column_next(&readers[i], &cell))
				return SQLITE_CORRUPT;
			unpack_bind(insert, (int)i + 1, &cell);
		}
		status = sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static char *
unpack_insert(const struct st_pack_table *t)
{
	struct st_text sql;
	FILE *out = st_text_begin(&sql);
	char *name = sqlite3_mprintf("%w", t->name);
	if (out && name) {
		fprintf(out, "INSERT INTO \"%s\" VALUES(?", name);
		for (size_t i = 1; i < t->columns.n; i++)
			fputs(",?", out);
		fputs(")", out);
	}
	sqlite3_free(name);
	return st_text_end(&sql);
}

static int
unpack_table(sqlite3 *db, const struct st_pack_table *t)
{
	sqlite3_stmt *insert = NULL;
	struct st_column_reader *readers = calloc(t->columns.n + 1, sizeof *readers);
	char *sql = unpack_insert(t);
	int status = readers && sql ? sqlite3_prepare_v2(db, sql, -1, &insert, NULL) : SQLITE_NOMEM;
	for (size_t i = 0; i < t->columns.n && readers; i++)
		readers[i] = st_column_read(t->columns.v[i].bytes.v, t->columns.v[i].bytes.n);
	if (status == SQLITE_OK)
		status = unpack_rows(insert, t, readers);
	sqlite3_finalize(insert);
	free(sql);
	free(readers);
	return status;
}

static int
unpack_all(sqlite3 *db, const struct st_pack *p)
{
	char marks[160];
	snprintf(marks, sizeof marks,
	         "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA application_id=%d;"
	         "PRAGMA user_version=%d;BEGIN",
	         ST_PROFILE_APPLICATION_ID, (int)p->version);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	int status = sqlite3_exec(db, marks, NULL, NULL, NULL);
	sqlite3_set_authorizer(db, unpack_allow, NULL);
	for (size_t i = 0; i < p->schema.n && status == SQLITE_OK; i++)
		status = sqlite3_exec(db, p->schema.v[i], NULL, NULL, NULL);
	for (size_t i = 0; i < p->tables.n && status == SQLITE_OK; i++)
		status = unpack_table(db, &p->tables.v[i]);
	if (status == SQLITE_OK)
		status = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	return status;
}

static st_status
unpack_failed(sqlite3 *db, int status, const char *path, struct st_error *e)
{
	int error = sqlite3_system_errno(db);
	if ((status & 0xff) == SQLITE_FULL)
		return st_output_failed(path, ENOSPC, e);
	if ((status & 0xff) == SQLITE_NOMEM)
		return st_output_failed(path, ENOMEM, e);
	if ((status & 0xff) == SQLITE_IOERR)
		return st_output_failed(path, error ? error : EIO, e);
	return st_fail(e, ST_EXIT_FAILED,
	               "the stored profile is damaged: its tables do not fit together (%s); strobe "
	               "fsck says what else is",
	               sqlite3_errstr(status));
}

st_status
st_pack_write(const struct st_pack *p, const char *path, struct st_error *e)
{
	struct st_output o;
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	sqlite3 *db = NULL;
	if (st_output_begin(&o, path, e))
		return -1;
	if (!o.temporary) {
		st_output_abandon(&o);
		return st_fail(e, ST_EXIT_USAGE, "%s is no file: name one with -o", path);
	}
	sigaction(SIGXFSZ, &ignore, &before);
	int status = sqlite3_open_v2(o.temporary, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
	                             NULL);
	if (status == SQLITE_OK)
		status = unpack_all(db, p);
	int failed = status == SQLITE_OK ? 0 : unpack_failed(db, status, path, e);
	sqlite3_close(db);
	sigaction(SIGXFSZ, &before, NULL);
	if (!failed)
		return st_output_commit(&o, e);
	st_output_abandon(&o);
	return -1;
}
