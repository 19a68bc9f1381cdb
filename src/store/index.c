/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The database of a store: making, opening, asking. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/text.h"
#include "store/config.h"
#include "store/schema.h"
#include "store/store.h"

/* Another strobe holds the store for the time of one addition: some ms. */
enum { WAIT_MS = 60000 };

st_status
st_store_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the store");
}

static st_status
store_io_failed(struct st_store *s, struct st_error *e)
{
	int error = sqlite3_system_errno(s->db);
	return st_fail(e, ST_EXIT_FAILED, "cannot read or write %s: %s", s->path,
	               strerror(error ? error : EIO));
}

st_status
st_store_failed(struct st_store *s, struct st_error *e)
{
	switch (sqlite3_errcode(s->db) & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return st_fail(e, ST_EXIT_FAILED,
		               "another process has held %s for %d s: try again when it has ended",
		               s->path, WAIT_MS / 1000);
	case SQLITE_FULL:
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot write to %s: %s; nothing was changed: make space, then try "
		               "again",
		               s->path, strerror(ENOSPC));
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot write to %s: permission denied, or the file system is "
		               "mounted read-only",
		               s->path);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return st_fail(e, ST_EXIT_FAILED,
		               "the store %s is damaged (%s): strobe fsck says which profiles it "
		               "concerns",
		               s->path, sqlite3_errmsg(s->db));
	case SQLITE_NOMEM:
		return st_store_no_memory(e);
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
		return store_io_failed(s, e);
	default:
		return st_fail(e, ST_EXIT_FAILED, "the store %s: %s", s->path,
		               sqlite3_errmsg(s->db));
	}
}

st_status
st_store_run(struct st_store *s, const char *sql, struct st_error *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? st_store_failed(s, e) : 0;
}

st_status
st_store_query(struct st_store *s, sqlite3_stmt **out, const char *sql, struct st_error *e)
{
	return sqlite3_prepare_v2(s->db, sql, -1, out, NULL) ? st_store_failed(s, e) : 0;
}

int
st_store_step(struct st_store *s, sqlite3_stmt *rows, struct st_error *e)
{
	int step = sqlite3_step(rows);
	if (step == SQLITE_ROW)
		return 1;
	return step == SQLITE_DONE ? 0 : (int)st_store_failed(s, e);
}

char *
st_store_text(sqlite3_stmt *rows, int column)
{
	const char *text = (const char *)sqlite3_column_text(rows, column);
	return text ? strdup(text) : NULL;
}

static st_status
store_number(struct st_store *s, const char *sql, int64_t *number, struct st_error *e)
{
	sqlite3_stmt *rows = NULL;
	int status = st_store_query(s, &rows, sql, e);
	if (!status)
		status = st_store_step(s, rows, e) < 0 ? -1 : 0;
	*number = status ? 0 : sqlite3_column_int64(rows, 0);
	sqlite3_finalize(rows);
	return status ? ST_FAILED : ST_OK;
}

/* Whose the file is and which version, before anything is asked of it. */
static st_status
store_check(struct st_store *s, struct st_error *e)
{
	int64_t id, version;
	if (store_number(s, "PRAGMA application_id", &id, e) ||
	    store_number(s, "PRAGMA user_version", &version, e))
		return -1;
	if (id == 0 && version == 0)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is empty, because strobe init did not end: run strobe init "
		               "again",
		               s->path);
	if (id != ST_STORE_APPLICATION_ID)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is no store but a database of another program: move it away, or "
		               "set another place with strobe config store FOLDER",
		               s->path);
	if (version > ST_STORE_VERSION)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s was written by a newer strobe (version %lld of the store, this "
		               "one reads up to %d): use that strobe",
		               s->path, (long long)version, ST_STORE_VERSION);
	return 0;
}

/* Each change reaches the disk before it is acknowledged. No write-ahead log: the store at rest is
 * one file, and it can be read where nothing can be written. */
static st_status
store_prepare(struct st_store *s, struct st_error *e)
{
	sqlite3_busy_timeout(s->db, WAIT_MS);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_extended_result_codes(s->db, 0);
	return st_store_run(s, "PRAGMA synchronous=EXTRA;PRAGMA cell_size_check=ON", e);
}

static st_status
store_connect(struct st_store *s, int flags, struct st_error *e)
{
	int status = sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	return status ? st_store_failed(s, e) : store_prepare(s, e);
}

/* The place: what `store` is set to, the folder of the repository, or .strobe. */
static st_status
store_locate(struct st_store *s, const char *make, struct st_error *e)
{
	struct st_config config = {0};
	*s = (struct st_store){0};
	if (st_vcs_git(&s->vcs, e) || (!s->vcs && st_vcs_counter(&s->vcs, make, e)))
		return -1;
	if (!s->vcs)
		return st_fail(e, ST_EXIT_FAILED,
		               "there is no store here: run strobe init in a git repository or in "
		               "the folder of your project");
	if (st_config_read(&config, s->vcs->data, e))
		return -1;
	const char *place = st_config_get(&config, "store");
	s->folder = place ? st_config_path(place, s->vcs->data) : strdup(s->vcs->data);
	s->path = s->folder ? st_text_of("%s/" ST_STORE_FILE, s->folder) : NULL;
	st_config_free(&config);
	return s->path ? 0 : st_store_no_memory(e);
}

static st_status
store_make_folder(const struct st_store *s, struct st_error *e)
{
	if (!mkdir(s->folder, 0777) || errno == EEXIST)
		return 0;
	return st_fail(e, ST_EXIT_FAILED, "cannot make the folder %s of the store: %s", s->folder,
	               strerror(errno));
}

static st_status
store_fill(struct st_store *s, bool *made, struct st_error *e)
{
	int64_t version;
	char marks[96];
	snprintf(marks, sizeof marks, "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT",
	         ST_STORE_APPLICATION_ID, ST_STORE_VERSION);
	if (st_store_run(s, "BEGIN IMMEDIATE", e) ||
	    store_number(s, "PRAGMA user_version", &version, e))
		return -1;
	*made = version == 0;
	if (!*made)
		return st_store_run(s, "COMMIT", e);
	if (st_store_run(s, ST_STORE_SCHEMA, e) || st_store_run(s, marks, e))
		return -1;
	return 0;
}

st_status
st_store_create(struct st_store *s, bool *made, struct st_error *e)
{
	char *here = realpath(".", NULL);
	int status = here ? store_locate(s, here, e) : st_store_no_memory(e);
	free(here);
	if (!status)
		status = store_make_folder(s, e);
	if (!status)
		status = store_connect(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e);
	if (!status)
		status = store_fill(s, made, e);
	if (!status)
		status = store_check(s, e);
	if (status)
		st_store_close(s);
	else
		st_vcs_counter_use(s->vcs, s->db);
	return status ? ST_FAILED : ST_OK;
}

st_status
st_store_open(struct st_store *s, struct st_error *e)
{
	int status = store_locate(s, NULL, e);
	if (!status && access(s->path, F_OK))
		status = st_fail(e, ST_EXIT_FAILED, "there is no store in %s: run strobe init",
		                 s->folder);
	if (!status)
		status = store_connect(
		        s, access(s->path, W_OK) ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, e);
	if (!status)
		status = store_check(s, e);
	if (status)
		st_store_close(s);
	else
		st_vcs_counter_use(s->vcs, s->db);
	return status ? ST_FAILED : ST_OK;
}

/* Whether there is a project at all that could have one. */
static st_status
store_find_project(bool *found, struct st_error *e)
{
	struct st_vcs *vcs = NULL;
	if (st_vcs_git(&vcs, e) || (!vcs && st_vcs_counter(&vcs, NULL, e)))
		return -1;
	*found = vcs != NULL;
	if (vcs)
		vcs->kind->close(vcs);
	return 0;
}

st_status
st_store_open_if_any(struct st_store *s, bool *found, struct st_error *e)
{
	*s = (struct st_store){0};
	*found = false;
	if (store_find_project(found, e))
		return ST_FAILED;
	if (!*found)
		return ST_OK;
	int status = store_locate(s, NULL, e);
	*found = !status && !access(s->path, F_OK);
	st_store_close(s);
	if (status)
		return ST_FAILED;
	if (*found && st_store_open(s, e)) {
		*found = false;
		return ST_FAILED;
	}
	return ST_OK;
}

void
st_store_close(struct st_store *s)
{
	sqlite3_close(s->db);
	ZSTD_freeCCtx(s->compressor);
	ZSTD_freeDCtx(s->decompressor);
	if (s->vcs)
		s->vcs->kind->close(s->vcs);
	free(s->folder);
	free(s->path);
	*s = (struct st_store){0};
}
