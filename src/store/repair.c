/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repairs a store: all rows that SQLite can still read are copied into a new store, profiles that
 * are not whole there are removed from it, and it takes the place of the old one, which is kept.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "store/upkeep.h"

static const struct {
	const char *name, *up, *down; /* orders by the key of its b-tree */
} repair_tables[] = {{"object", "id", "id DESC"},
                     {"version", "id", "id DESC"},
                     {"configuration", "id", "id DESC"},
                     {"machine", "id", "id DESC"},
                     {"profile", "id", "id DESC"},
                     {"part", "profile, object", "profile DESC, object DESC"},
                     {"patch", "name", "name DESC"}};

/* Rows that refer to rows which are lost. st_fsck finds the profiles whose parts are missing. */
static const char repair_dangling_sql[] =
        "DELETE FROM profile WHERE version NOT IN (SELECT id FROM version) OR configuration NOT IN "
        "(SELECT id FROM configuration) OR machine NOT IN (SELECT id FROM machine) OR manifest NOT "
        "IN (SELECT id FROM object);"
        "DELETE FROM part WHERE profile NOT IN (SELECT id FROM profile) OR object NOT IN (SELECT "
        "id FROM object)";

struct repairing {
	struct st_store *s; /* its database becomes the new file */
	sqlite3 *from, *to;
	char *made; /* path of the new file */
	struct st_repair *out;
};

/* A damaged row may violate a constraint, and is left out. Descending, the copy ends at a row that
 * is known. */
static st_status
repair_copy_rows(struct repairing *r, sqlite3_stmt *rows, sqlite3_stmt *insert, bool ascending)
{
	while (sqlite3_step(rows) == SQLITE_ROW) {
		sqlite3_reset(insert);
		for (int i = 0; i < sqlite3_column_count(rows); i++)
			sqlite3_bind_value(insert, i + 1, sqlite3_column_value(rows, i));
		const int done = sqlite3_step(insert);
		if (done == SQLITE_FULL || done == SQLITE_IOERR || done == SQLITE_NOMEM)
			return ST_FAILED;
		if (!ascending && !sqlite3_changes(r->to))
			break;
	}
	return ST_OK;
}

static sqlite3_stmt *
repair_insertion(struct repairing *r, const char *table, int columns)
{
	sqlite3_stmt *insert = NULL;
	char sql[128];
	snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO %s VALUES(", table);
	for (int i = 0; i < columns; i++)
		st_append(sql, sizeof sql, "%s", i ? ",?" : "?");
	st_append(sql, sizeof sql, ")");
	sqlite3_prepare_v2(r->to, sql, -1, &insert, NULL);
	return insert;
}

/* Copies nothing when the table is not there, or has other columns. */
static st_status
repair_copy_table(struct repairing *r, size_t table, bool ascending)
{
	sqlite3_stmt *rows = NULL, *insert = NULL;
	st_status status = ST_OK;
	char sql[128];
	snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY %s", repair_tables[table].name,
	         ascending ? repair_tables[table].up : repair_tables[table].down);
	if (!sqlite3_prepare_v2(r->from, sql, -1, &rows, NULL))
		insert = repair_insertion(r, repair_tables[table].name, sqlite3_column_count(rows));
	if (insert)
		status = repair_copy_rows(r, rows, insert, ascending);
	sqlite3_finalize(rows);
	sqlite3_finalize(insert);
	return status;
}

/* Reads each table up to the first page that cannot be read, and then from its other end. */
static st_status
repair_copy(struct repairing *r, struct st_error *e)
{
	st_status status = ST_OK;
	sqlite3_exec(r->to, "BEGIN", NULL, NULL, NULL);
	for (size_t i = 0; i < sizeof repair_tables / sizeof *repair_tables && !status; i++) {
		status = repair_copy_table(r, i, true);
		if (!status)
			status = repair_copy_table(r, i, false);
	}
	if (!status && sqlite3_exec(r->to, "COMMIT", NULL, NULL, NULL))
		status = ST_FAILED;
	return status ? st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s", r->made,
	                        sqlite3_errmsg(r->to))
	              : ST_OK;
}

/* Opens the damaged file, and locks it, so that no other process writes to it. A part that cannot
 * be read is no error. */
static st_status
repair_open_damaged(struct repairing *r, struct st_error *e)
{
	if (sqlite3_open_v2(r->s->place, &r->from, SQLITE_OPEN_READWRITE, NULL))
		return st_fail(e, ST_EXIT_FAILED, "cannot open %s to repair it: %s", r->s->place,
		               sqlite3_errmsg(r->from));
	sqlite3_busy_timeout(r->from, ST_STORE_WAIT_MS);
	sqlite3_db_config(r->from, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	switch (sqlite3_exec(r->from, "BEGIN IMMEDIATE", NULL, NULL, NULL) & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot repair %s: another process is writing to it; try again when "
		               "it has ended",
		               r->s->place);
	case SQLITE_READONLY:
		return st_fail(e, ST_EXIT_FAILED, "cannot repair %s: it is read-only", r->s->place);
	default:
		return ST_OK;
	}
}

static st_status
repair_make(struct repairing *r, struct st_error *e)
{
	bool made = false;
	r->made = st_text_of("%s.repaired", r->s->place);
	if (!r->made)
		return st_store_no_memory(e);
	unlink(r->made); /* of a repair that was interrupted */
	if (st_sqlite_open(&r->s->database, r->made, &made, e))
		return ST_FAILED;
	if (!sqlite3_open_v2(r->made, &r->to, SQLITE_OPEN_READWRITE, NULL))
		return ST_OK;
	return st_fail(e, ST_EXIT_FAILED, "cannot write %s: %s", r->made, sqlite3_errmsg(r->to));
}

static st_status
repair_count(struct st_store *s, uint64_t *n, struct st_error *e)
{
	struct st_query *rows = NULL;
	if (st_store_query(s, &rows, "SELECT count(*) FROM profile", e))
		return ST_FAILED;
	const int step = st_query_step(rows, e);
	*n = step > 0 ? (uint64_t)st_query_number(rows, 0) : 0;
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

/* Removes the profiles that cannot be read, then the objects that no other one needs. Moves the
 * sentences about them to the result. */
static st_status
repair_reduce(struct repairing *r, struct st_error *e)
{
	struct st_stored_list bad = {0};
	struct st_fsck found = {0}, left = {0};
	struct st_gc gc;
	uint64_t before = 0;
	st_status status = repair_count(r->s, &before, e);
	if (!status)
		status = st_store_run(r->s, repair_dangling_sql, e);
	if (!status)
		status = st_fsck(r->s, &found, e);
	for (size_t i = 0; i < found.unreadable.n && !status; i++) {
		struct st_stored *one = ST_PUSH(&bad.v);
		if (one)
			*one = (struct st_stored){.row = found.unreadable.v[i]};
		else
			status = st_store_no_memory(e);
	}
	if (!status && (st_store_remove(r->s, &bad, e) || st_gc(r->s, &gc, e) ||
	                repair_count(r->s, &r->out->kept, e) || st_fsck(r->s, &left, e)))
		status = ST_FAILED;
	if (!status && left.problems.n)
		status = st_fail(e, ST_EXIT_FAILED, "cannot repair the store: %s",
		                 left.problems.v[0]);
	r->out->removed = before - r->out->kept;
	free(bad.v.v);
	st_fsck_free(&found);
	st_fsck_free(&left);
	return status;
}

/* The damaged file stays beside the repaired one, under a name that is free. */
static st_status
repair_replace(struct repairing *r, struct st_error *e)
{
	char *aside = NULL;
	for (int i = 1; !aside || !access(aside, F_OK); i++) {
		free(aside);
		aside = st_text_of("%s.damaged%d", r->s->place, i);
		if (!aside)
			return st_store_no_memory(e);
	}
	r->out->aside = aside;
	/* Not all file systems have links. */
	if ((link(r->s->place, aside) && rename(r->s->place, aside)) ||
	    rename(r->made, r->s->place))
		return st_fail(e, ST_EXIT_FAILED,
		               "cannot replace the store by the repaired one %s: %s", r->made,
		               strerror(errno));
	return ST_OK;
}

/* A file of another program or of a newer strobe is not damaged. */
static st_status
repair_check_owner(struct repairing *r, struct st_error *e)
{
	struct st_database as_marked = {.place = r->s->place};
	sqlite3_stmt *marks = NULL;
	int64_t id = ST_STORE_APPLICATION_ID, version = ST_STORE_VERSION;
	if (!sqlite3_prepare_v2(r->from, "SELECT * FROM pragma_application_id, pragma_user_version",
	                        -1, &marks, NULL) &&
	    sqlite3_step(marks) == SQLITE_ROW) {
		id = sqlite3_column_int64(marks, 0);
		version = sqlite3_column_int64(marks, 1);
	}
	sqlite3_finalize(marks);
	return st_database_check(&as_marked, id, version, e);
}

st_status
st_store_repair(struct st_store *s, struct st_repair *out, struct st_error *e)
{
	struct repairing r = {.s = s, .out = out};
	*out = (struct st_repair){0};
	st_status status = repair_open_damaged(&r, e);
	if (!status)
		status = repair_check_owner(&r, e);
	if (!status)
		status = repair_make(&r, e);
	if (!status)
		status = repair_copy(&r, e);
	if (!status)
		status = repair_reduce(&r, e);
	sqlite3_close(r.to);
	if (s->database) {
		s->database->kind->close(s->database);
		s->database = NULL;
	}
	if (!status)
		status = repair_replace(&r, e);
	sqlite3_close(r.from); /* its lock lasts until here */
	free(r.made);
	return status;
}
