/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store in a file of SQLite. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/backend.h"
#include "store/schema.h"

struct sqlite_database {
	struct st_database base;
	sqlite3 *db;
};

struct sqlite_query {
	struct st_query base;
	sqlite3_stmt *rows;
};

static sqlite3 *
sqlite_of(const struct st_database *d)
{
	return ((const struct sqlite_database *)d)->db;
}

static sqlite3_stmt *
sqlite_rows(const struct st_query *q)
{
	return ((const struct sqlite_query *)q)->rows;
}

/* Converts the last error of SQLite. Returns -1. */
static st_status
sqlite_failed(const struct st_database *d, struct st_error *e)
{
	sqlite3 *db = sqlite_of(d);
	int error = sqlite3_system_errno(db);
	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return st_database_busy(d, e);
	case SQLITE_FULL:
		return st_database_full(d, e);
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot write to %s: permission denied, or the file system is "
		               "mounted read-only",
		               d->place);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return st_fail(e, ST_EXIT_FAILED,
		               "the store %s is damaged (%s): strobe fsck --repair keeps all "
		               "profiles that can be read",
		               d->place, sqlite3_errmsg(db));
	case SQLITE_NOMEM:
		return st_database_no_memory(e);
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		return st_fail(e, ST_EXIT_FAILED, "cannot read or write %s: %s", d->place,
		               strerror(error ? error : EIO));
	default:
		return st_fail(e, ST_EXIT_FAILED, "the store %s: %s", d->place, sqlite3_errmsg(db));
	}
}

static st_status
sqlite_run(struct st_database *d, const char *sql, struct st_error *e)
{
	return sqlite3_exec(sqlite_of(d), sql, NULL, NULL, NULL) ? sqlite_failed(d, e) : ST_OK;
}

static st_status
sqlite_query(struct st_database *d, const char *sql, struct st_query **out, struct st_error *e)
{
	struct sqlite_query *q = calloc(1, sizeof *q);
	if (!q)
		return st_database_no_memory(e);
	q->base.database = d;
	if (sqlite3_prepare_v2(sqlite_of(d), sql, -1, &q->rows, NULL)) {
		free(q);
		return sqlite_failed(d, e);
	}
	*out = &q->base;
	return ST_OK;
}

static void
sqlite_put_number(struct st_query *q, int at, int64_t value)
{
	sqlite3_bind_int64(sqlite_rows(q), at, value);
}

static void
sqlite_put_text(struct st_query *q, int at, const char *value)
{
	sqlite3_bind_text(sqlite_rows(q), at, value, -1, SQLITE_STATIC);
}

static void
sqlite_put_bytes(struct st_query *q, int at, const void *bytes, size_t n)
{
	sqlite3_bind_blob64(sqlite_rows(q), at, bytes, n, SQLITE_STATIC);
}

static int
sqlite_step(struct st_query *q, struct st_error *e)
{
	int step = sqlite3_step(sqlite_rows(q));
	if (step == SQLITE_ROW)
		return 1;
	return step == SQLITE_DONE ? 0 : (int)sqlite_failed(q->database, e);
}

static void
sqlite_again(struct st_query *q)
{
	sqlite3_reset(sqlite_rows(q));
}

static int64_t
sqlite_number(struct st_query *q, int column)
{
	return sqlite3_column_int64(sqlite_rows(q), column);
}

static const char *
sqlite_text(struct st_query *q, int column)
{
	return (const char *)sqlite3_column_text(sqlite_rows(q), column);
}

static const void *
sqlite_bytes(struct st_query *q, int column, size_t *n)
{
	const void *bytes = sqlite3_column_blob(sqlite_rows(q), column);
	*n = (size_t)sqlite3_column_bytes(sqlite_rows(q), column);
	return bytes;
}

static void
sqlite_end(struct st_query *q)
{
	sqlite3_finalize(sqlite_rows(q));
	free(q);
}

static uint64_t
sqlite_size(struct st_database *d)
{
	struct stat st;
	return stat(d->place, &st) ? 0 : (uint64_t)st.st_size;
}

static bool
sqlite_is_lost(struct st_database *d)
{
	(void)d;
	return false;
}

static void
sqlite_close(struct st_database *d)
{
	sqlite3_close(sqlite_of(d));
	free(d);
}

static const struct st_database_kind sqlite_kind = {
        .query = sqlite_query,
        .put_number = sqlite_put_number,
        .put_text = sqlite_put_text,
        .put_bytes = sqlite_put_bytes,
        .step = sqlite_step,
        .again = sqlite_again,
        .number = sqlite_number,
        .text = sqlite_text,
        .bytes = sqlite_bytes,
        .end = sqlite_end,
        .run = sqlite_run,
        .begin = "BEGIN IMMEDIATE",
        .clean = "VACUUM",
        .integrity = "PRAGMA integrity_check",
        .dangling = "PRAGMA foreign_key_check",
        .size = sqlite_size,
        .lost = sqlite_is_lost,
        .close = sqlite_close,
};

static st_status
sqlite_read_number(struct st_database *d, const char *sql, int64_t *number, struct st_error *e)
{
	struct st_query *rows;
	if (st_database_query(d, &rows, sql, e))
		return -1;
	int step = st_query_step(rows, e);
	*number = step > 0 ? st_query_number(rows, 0) : 0;
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* Files of other programs often have neither an application id nor a version, but tables. */
static st_status
sqlite_is_empty(struct st_database *d, bool *empty, struct st_error *e)
{
	int64_t n;
	if (sqlite_read_number(d, "SELECT count(*) FROM sqlite_schema", &n, e))
		return ST_FAILED;
	*empty = n == 0;
	return ST_OK;
}

/* Checks the application id and the version of the file, before any other query. */
static st_status
sqlite_check(struct st_database *d, struct st_error *e)
{
	int64_t id, version;
	bool empty;
	if (sqlite_read_number(d, "PRAGMA application_id", &id, e) ||
	    sqlite_read_number(d, "PRAGMA user_version", &version, e) ||
	    sqlite_is_empty(d, &empty, e))
		return -1;
	if (id == 0 && version == 0 && empty)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is empty, because strobe init did not end: run strobe init "
		               "again",
		               d->place);
	return st_database_check(d, id, version, e);
}

static st_status
sqlite_fill(struct st_database *d, bool *made, struct st_error *e)
{
	int64_t version;
	bool empty;
	char marks[96];
	snprintf(marks, sizeof marks, "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT",
	         ST_STORE_APPLICATION_ID, ST_STORE_VERSION);
	if (sqlite_run(d, sqlite_kind.begin, e) ||
	    sqlite_read_number(d, "PRAGMA user_version", &version, e))
		return -1;
	*made = version == 0;
	if (!*made)
		return sqlite_run(d, "COMMIT", e);
	if (sqlite_is_empty(d, &empty, e))
		return ST_FAILED;
	if (!empty)
		return st_database_check(d, 0, version, e);
	if (sqlite_run(d, ST_STORE_SCHEMA_OF_SQLITE, e) || sqlite_run(d, marks, e))
		return -1;
	return ST_OK;
}

/* Each change reaches the disk before it is acknowledged. There is no write-ahead log, so that a
 * store that is not in use is one file, and can be read on a read-only file system. */
static st_status
sqlite_connect(struct sqlite_database *d, bool make, struct st_error *e)
{
	d->base.writable = make || !access(d->base.place, W_OK);
	int flags = d->base.writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	if (make)
		flags |= SQLITE_OPEN_CREATE;
	if (sqlite3_open_v2(d->base.place, &d->db, flags | SQLITE_OPEN_NOMUTEX, NULL))
		return sqlite_failed(&d->base, e);
	sqlite3_busy_timeout(d->db, ST_STORE_WAIT_MS);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_extended_result_codes(d->db, 0);
	return sqlite_run(&d->base, "PRAGMA synchronous=EXTRA;PRAGMA cell_size_check=ON", e);
}

st_status
st_sqlite_open(struct st_database **out, const char *place, bool *made, struct st_error *e)
{
	struct sqlite_database *d = calloc(1, sizeof *d);
	*out = NULL;
	if (!d)
		return st_database_no_memory(e);
	d->base = (struct st_database){.kind = &sqlite_kind, .place = place};
	int status = sqlite_connect(d, made != NULL, e);
	if (!status && made)
		status = sqlite_fill(&d->base, made, e);
	if (!status)
		status = sqlite_check(&d->base, e);
	if (status)
		sqlite_close(&d->base);
	else
		*out = &d->base;
	return status ? ST_FAILED : ST_OK;
}
