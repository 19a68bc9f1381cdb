/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coverage/codelog_db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/results/header.h"

enum {
	LOG_APPLICATION = 0x53744c67, /* "StLg", in the file's header */
	LOG_VERSION = 2,
	LOG_PATIENCE = 60000, /* ms: another run writes */
	LOG_HURRY = 20,       /* ms: while a program may be waiting for what the log has */
};

static const char schema[] =
        "CREATE TABLE image(id INTEGER PRIMARY KEY, build_id TEXT NOT NULL UNIQUE,"
        " path TEXT NOT NULL);"
        "CREATE TABLE block(image INTEGER NOT NULL REFERENCES image, offset INTEGER NOT NULL,"
        " bytes INTEGER NOT NULL, lengths BLOB NOT NULL, times INTEGER NOT NULL,"
        " PRIMARY KEY(image, offset, bytes)) WITHOUT ROWID;"
        "CREATE TABLE run(id INTEGER PRIMARY KEY, start_ns INTEGER NOT NULL,"
        " command TEXT NOT NULL, ended INTEGER NOT NULL DEFAULT 0,"
        " cpu_ns INTEGER NOT NULL DEFAULT 0, blocks INTEGER NOT NULL DEFAULT 0,"
        " instructions INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0,"
        " refused_instructions INTEGER NOT NULL DEFAULT 0,"
        " wrongly_refused INTEGER NOT NULL DEFAULT 0, first_ns INTEGER NOT NULL DEFAULT 0,"
        " until_ns INTEGER NOT NULL DEFAULT 0);";

st_status
st_codelog_fail(struct st_codelog *log, int status, struct st_error *e)
{
	log->busy = (status & 0xff) == SQLITE_BUSY;
	switch (status & 0xff) {
	case SQLITE_NOTADB:
		return st_fail(e, ST_EXIT_FAILED,
		               "%s is not a log of --unique-log; strobe did not change it",
		               log->path);
	case SQLITE_CORRUPT:
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s is damaged; strobe did not change it: name another file, or remove it",
		        log->path);
	case SQLITE_BUSY:
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has been locked by another program for a minute", log->path);
	default:
		return st_fail(e, ST_EXIT_FAILED, "cannot use the log %s: %s", log->path,
		               sqlite3_errmsg(log->db));
	}
}

st_status
st_codelog_execute(struct st_codelog *log, const char *sql, struct st_error *e)
{
	int status = sqlite3_exec(log->db, sql, NULL, NULL, NULL);
	return status == SQLITE_OK ? 0 : st_codelog_fail(log, status, e);
}

int64_t
st_codelog_number(struct st_codelog *log, const char *sql, int *status)
{
	sqlite3_stmt *s = NULL;
	int64_t n = -1;
	*status = sqlite3_prepare_v2(log->db, sql, -1, &s, NULL);
	if (*status == SQLITE_OK) {
		*status = sqlite3_step(s);
		if (*status == SQLITE_ROW)
			n = sqlite3_column_int64(s, 0);
		if (*status == SQLITE_ROW || *status == SQLITE_DONE)
			*status = SQLITE_OK;
	}
	sqlite3_finalize(s);
	return n;
}

static st_status
create_codelog(struct st_codelog *log, struct st_error *e)
{
	char marks[128];
	snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d",
	         LOG_APPLICATION, LOG_VERSION);
	return st_codelog_execute(log, schema, e) || st_codelog_execute(log, marks, e) ? -1 : 0;
}

/* Looks whether it is a log, and makes it one if there is nothing in it. One at a time, so that it
 * is made once. */
static st_status
check_codelog(struct st_codelog *log, bool make, struct st_error *e)
{
	int status;
	int64_t tables = st_codelog_number(log, "SELECT count(*) FROM sqlite_master", &status);
	if (status != SQLITE_OK)
		return st_codelog_fail(log, status, e);
	int64_t application = st_codelog_number(log, "PRAGMA application_id", &status);
	if (tables == 0 && application == 0 && make)
		return create_codelog(log, e);
	if (application != LOG_APPLICATION)
		return st_codelog_fail(log, SQLITE_NOTADB, e);
	int64_t version = st_codelog_number(log, "PRAGMA user_version", &status);
	if (version != LOG_VERSION)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s has version %lld of the format, and this strobe reads version %d: %s",
		        log->path, (long long)version, LOG_VERSION,
		        version > LOG_VERSION ? "use a newer one" : "name another file");
	sqlite3_stmt *s = NULL;
	status = sqlite3_prepare_v2(log->db, "PRAGMA quick_check(1)", -1, &s, NULL);
	bool sound = status == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW &&
	             !strcmp((const char *)sqlite3_column_text(s, 0), "ok");
	sqlite3_finalize(s);
	return sound ? 0 : st_codelog_fail(log, SQLITE_CORRUPT, e);
}

static st_status
open_log(struct st_codelog *log, bool make, struct st_error *e)
{
	int flags = make ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
	int status = sqlite3_open_v2(log->path, &log->db, flags, NULL);
	if ((status & 0xff) == SQLITE_CANTOPEN && !make && access(log->path, R_OK))
		return st_fail(e, ST_EXIT_FAILED, "cannot read the log %s: %s", log->path,
		               strerror(errno));
	if (status != SQLITE_OK)
		return st_codelog_fail(log, status, e);
	sqlite3_busy_timeout(log->db, LOG_PATIENCE);
	if (!make)
		return check_codelog(log, false, e);
	if (st_codelog_execute(log, "BEGIN IMMEDIATE", e))
		return -1;
	if (check_codelog(log, true, e)) {
		sqlite3_exec(log->db, "ROLLBACK", NULL, NULL, NULL);
		return -1;
	}
	return st_codelog_execute(log, "COMMIT", e);
}

struct st_codelog *
st_codelog_open(const char *path, bool make, struct st_error *e)
{
	struct stat st;
	struct st_codelog *log = calloc(1, sizeof *log);
	if (!log || !(log->path = strdup(path))) {
		free(log);
		st_cause(e, ST_EXIT_FAILED, "out of memory");
		return NULL;
	}
	int bad = 0;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		bad = st_fail(e, ST_EXIT_FAILED, "%s is not a regular file, so it cannot be a log",
		              path);
	if (bad || open_log(log, make, e)) {
		st_codelog_close(log);
		return NULL;
	}
	return log;
}

void
st_codelog_hurry(struct st_codelog *log, bool hurry)
{
	sqlite3_busy_timeout(log->db, hurry ? LOG_HURRY : LOG_PATIENCE);
}

bool
st_codelog_was_busy(const struct st_codelog *log)
{
	return log->busy;
}

void
st_codelog_close(struct st_codelog *log)
{
	if (!log)
		return;
	sqlite3_finalize(log->insert);
	sqlite3_close(log->db);
	free(log->path);
	free(log);
}

sqlite3_stmt *
st_codelog_prepare(struct st_codelog *log, const char *sql, struct st_error *e)
{
	sqlite3_stmt *s = NULL;
	int status = sqlite3_prepare_v2(log->db, sql, -1, &s, NULL);
	if (status != SQLITE_OK)
		ST_IGNORE(st_codelog_fail(log, status, e));
	return s;
}

/* Executes a statement that gives nothing. */
static st_status
finish_codelog(struct st_codelog *log, sqlite3_stmt *s, struct st_error *e)
{
	int status = sqlite3_step(s);
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(log, status, e);
}

/* The knowledge of earlier runs for a run of `command`. */
struct memory {
	struct st_codelog_past *past;
	const char *command;
};

/* Adds a run to what is known of the past. */
static void
remember(void *arg, const struct st_codelog_run *run)
{
	const struct memory *m = arg;
	struct st_codelog_past *past = m->past;
	past->runs++;
	/* The place at which another program was measured says nothing about this one, which may be
	 * shorter. */
	if (!run->ended || strcmp(run->command, m->command) != 0)
		return;
	past->own_runs++;
	past->own_cpu_ns = run->cpu_ns > 0 ? (uint64_t)run->cpu_ns : 0;
	past->instructions += run->instructions;
	if (run->first_ns == ST_WATCHES_AT_ONCE)
		return;
	if (!run->first_ns) {
		past->sweeps++;
		past->swept_ns = 0;
	}
	if (run->first_ns > past->swept_ns)
		return;
	past->grows = run->instructions >= past->instructions / 100;
	if (run->until_ns > past->swept_ns)
		past->swept_ns = run->until_ns;
}

st_status
st_codelog_begin(struct st_codelog *log, int64_t start_ns, const char *command,
                 struct st_codelog_past *past, struct st_error *e)
{
	*past = (struct st_codelog_past){0};
	struct memory memory = {past, command};
	if (st_codelog_execute(log, "BEGIN IMMEDIATE", e) ||
	    st_codelog_runs(log, remember, &memory, e))
		return -1;
	sqlite3_stmt *s =
	        st_codelog_prepare(log, "INSERT INTO run(start_ns, command) VALUES(?, ?)", e);
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, start_ns);
	sqlite3_bind_text(s, 2, command, -1, SQLITE_STATIC);
	if (finish_codelog(log, s, e))
		return -1;
	log->run = sqlite3_last_insert_rowid(log->db);
	return st_codelog_execute(log, "COMMIT", e);
}

st_status
st_codelog_end(struct st_codelog *log, const struct st_codelog_run *run, struct st_error *e)
{
	sqlite3_stmt *s =
	        st_codelog_prepare(log,
	                           "UPDATE run SET ended = ?, cpu_ns = ?, blocks = ?,"
	                           " instructions = ?, refused = ?, refused_instructions = ?,"
	                           " wrongly_refused = ?, first_ns = ?, until_ns = ? WHERE id = ?",
	                           e);
	if (!s)
		return -1;
	const int64_t values[] = {run->ended,
	                          run->cpu_ns,
	                          (int64_t)run->blocks,
	                          (int64_t)run->instructions,
	                          (int64_t)run->refused,
	                          (int64_t)run->refused_instructions,
	                          (int64_t)run->wrongly_refused,
	                          (int64_t)run->first_ns,
	                          (int64_t)run->until_ns,
	                          log->run};
	for (int i = 0; i < (int)(sizeof values / sizeof *values); i++)
		sqlite3_bind_int64(s, i + 1, values[i]);
	return finish_codelog(log, s, e);
}

int64_t
st_codelog_find(struct st_codelog *log, const char *build_id, struct st_error *e)
{
	sqlite3_stmt *s = st_codelog_prepare(log, "SELECT id FROM image WHERE build_id = ?", e);
	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, build_id, -1, SQLITE_STATIC);
	int status = sqlite3_step(s);
	int64_t id = status == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	return status == SQLITE_ROW || status == SQLITE_DONE ? id : st_codelog_fail(log, status, e);
}

int64_t
st_codelog_image(struct st_codelog *log, const char *build_id, const char *path, struct st_error *e)
{
	sqlite3_stmt *s =
	        st_codelog_prepare(log,
	                           "INSERT INTO image(build_id, path) VALUES(?, ?)"
	                           " ON CONFLICT(build_id) DO UPDATE SET path = excluded.path"
	                           " RETURNING id",
	                           e);
	if (!s)
		return -1;
	sqlite3_bind_text(s, 1, build_id, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, path, -1, SQLITE_STATIC);
	int status = sqlite3_step(s);
	int64_t id = status == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
	if (status == SQLITE_ROW)
		status = sqlite3_step(s);
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? id : st_codelog_fail(log, status, e);
}

st_status
st_codelog_begin_blocks(struct st_codelog *log, struct st_error *e)
{
	static const char sql[] = "INSERT INTO block(image, offset, bytes, lengths, times)"
	                          " VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
	                          " SET times = times + excluded.times";
	if (!log->insert && !(log->insert = st_codelog_prepare(log, sql, e)))
		return -1;
	log->status = SQLITE_OK;
	return st_codelog_execute(log, "BEGIN IMMEDIATE", e);
}

void
st_codelog_add(struct st_codelog *log, int64_t image, const struct st_codelog_block *b)
{
	sqlite3_stmt *s = log->insert;
	if (log->status != SQLITE_OK)
		return;
	sqlite3_bind_int64(s, 1, image);
	sqlite3_bind_int64(s, 2, (int64_t)b->offset);
	sqlite3_bind_int64(s, 3, b->bytes);
	sqlite3_bind_blob(s, 4, b->lengths, (int)b->insns, SQLITE_STATIC);
	sqlite3_bind_int64(s, 5, (int64_t)b->times);
	int status = sqlite3_step(s);
	sqlite3_reset(s);
	if (status != SQLITE_DONE)
		log->status = status;
}

st_status
st_codelog_commit_blocks(struct st_codelog *log, struct st_error *e)
{
	if (log->status == SQLITE_OK && !st_codelog_execute(log, "COMMIT", e))
		return 0;
	if (log->status != SQLITE_OK)
		ST_IGNORE(st_codelog_fail(log, log->status, e));
	st_codelog_undo_blocks(log);
	return -1;
}

void
st_codelog_undo_blocks(struct st_codelog *log)
{
	sqlite3_exec(log->db, "ROLLBACK", NULL, NULL, NULL);
}

/* A block as it is in the log. False: it cannot be true. */
static bool
read_block(sqlite3_stmt *s, struct st_codelog_block *b)
{
	b->offset = (uint64_t)sqlite3_column_int64(s, 0);
	b->bytes = (uint32_t)sqlite3_column_int64(s, 1);
	b->lengths = sqlite3_column_blob(s, 2);
	b->insns = (uint32_t)sqlite3_column_bytes(s, 2);
	b->times = (uint64_t)sqlite3_column_int64(s, 3);
	uint32_t bytes = 0;
	for (uint32_t i = 0; i < b->insns; i++)
		bytes += b->lengths[i];
	return bytes == b->bytes;
}

st_status
st_codelog_blocks(struct st_codelog *log, int64_t image, uint64_t from, uint64_t to,
                  void (*use)(void *arg, const struct st_codelog_block *block), void *arg,
                  struct st_error *e)
{
	sqlite3_stmt *s =
	        st_codelog_prepare(log,
	                           "SELECT offset, bytes, lengths, times FROM block WHERE image = ?"
	                           " AND offset >= ? AND offset < ? ORDER BY offset, bytes",
	                           e);
	struct st_codelog_block b;
	int status;
	if (!s)
		return -1;
	sqlite3_bind_int64(s, 1, image);
	sqlite3_bind_int64(s, 2, (int64_t)from);
	sqlite3_bind_int64(s, 3, to > INT64_MAX ? INT64_MAX : (int64_t)to);
	while ((status = sqlite3_step(s)) == SQLITE_ROW) {
		if (!read_block(s, &b)) {
			status = SQLITE_CORRUPT;
			break;
		}
		use(arg, &b);
	}
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(log, status, e);
}

static const char *
codelog_text(sqlite3_stmt *s, int column)
{
	const char *t = (const char *)sqlite3_column_text(s, column);
	return t ? t : "";
}

st_status
st_codelog_images(struct st_codelog *log,
                  void (*use)(void *arg, int64_t image, const char *build_id, const char *path),
                  void *arg, struct st_error *e)
{
	sqlite3_stmt *s =
	        st_codelog_prepare(log, "SELECT id, build_id, path FROM image ORDER BY id", e);
	int status;
	if (!s)
		return -1;
	while ((status = sqlite3_step(s)) == SQLITE_ROW)
		use(arg, sqlite3_column_int64(s, 0), codelog_text(s, 1), codelog_text(s, 2));
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(log, status, e);
}

st_status
st_codelog_runs(struct st_codelog *log, void (*use)(void *arg, const struct st_codelog_run *run),
                void *arg, struct st_error *e)
{
	sqlite3_stmt *s = st_codelog_prepare(
	        log,
	        "SELECT start_ns, command, ended, cpu_ns, blocks, instructions, refused,"
	        " refused_instructions, wrongly_refused, first_ns, until_ns FROM run ORDER BY id",
	        e);
	int status;
	if (!s)
		return -1;
	while ((status = sqlite3_step(s)) == SQLITE_ROW) {
		struct st_codelog_run run = {
		        .start_ns = sqlite3_column_int64(s, 0),
		        .command = codelog_text(s, 1),
		        .ended = sqlite3_column_int(s, 2) != 0,
		        .cpu_ns = sqlite3_column_int64(s, 3),
		        .blocks = (uint64_t)sqlite3_column_int64(s, 4),
		        .instructions = (uint64_t)sqlite3_column_int64(s, 5),
		        .refused = (uint64_t)sqlite3_column_int64(s, 6),
		        .refused_instructions = (uint64_t)sqlite3_column_int64(s, 7),
		        .wrongly_refused = (uint64_t)sqlite3_column_int64(s, 8),
		        .first_ns = (uint64_t)sqlite3_column_int64(s, 9),
		        .until_ns = (uint64_t)sqlite3_column_int64(s, 10)};
		use(arg, &run);
	}
	sqlite3_finalize(s);
	return status == SQLITE_DONE ? 0 : st_codelog_fail(log, status, e);
}
