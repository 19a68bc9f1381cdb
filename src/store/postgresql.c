/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store in a database of a PostgreSQL server: the same tables as in a file, in the schema strobe.
 */
#include "store/postgresql.h"

#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "store/schema.h"

/* The lock, one for each database, under which the tables are made. */
#define PG_LOCK_MAKING "SELECT pg_advisory_xact_lock(1398034515)"

static st_status
pg_lost(const struct pg_database *d, const char *said, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED,
	               "lost the connection to %s (%.*s): try again when the server can be "
	               "reached; what is stored already is not stored twice",
	               d->base.place, (int)strcspn(said, "\n"), said);
}

st_status
st_pg_failed(struct pg_database *d, PGresult *result, struct st_error *e)
{
	const char *state = result ? d->pq->resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *said = result ? d->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	st_status status = ST_FAILED;
	if (!said)
		said = d->pq->errorMessage(d->connection);
	if (!state)
		state = "";
	if (d->pq->status(d->connection) == CONNECTION_BAD || !strncmp(state, "57P0", 4))
		status = pg_lost(d, said, e);
	else if (!strcmp(state, "55P03"))
		status = st_database_busy(&d->base, e);
	else if (!strcmp(state, "53100"))
		status = st_database_full(&d->base, e);
	else if (!strcmp(state, "42501") || !strcmp(state, "25006"))
		status = st_fail(e, ST_EXIT_FAILED,
		                 "cannot write to %s: %.*s: ask its owner for the privilege, or "
		                 "use another user",
		                 d->base.place, (int)strcspn(said, "\n"), said);
	else if (!strcmp(state, "42P06"))
		status = st_fail(e, ST_EXIT_FAILED,
		                 "%s has a schema 'strobe' that is not a store: drop it, or use "
		                 "another database",
		                 d->base.place);
	else
		status = st_fail(e, ST_EXIT_FAILED, "the store %s: %.*s", d->base.place,
		                 (int)strcspn(said, "\n"), said);
	d->pq->clear(result);
	return status;
}

static st_status
pg_run(struct st_database *base, const char *sql, struct st_error *e)
{
	struct pg_database *d = (struct pg_database *)base;
	PGresult *result = d->pq->exec(d->connection, sql);
	ExecStatusType status = d->pq->resultStatus(result);
	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		return st_pg_failed(d, result, e);
	d->pq->clear(result);
	return ST_OK;
}

/* The number in the first row of a query; `otherwise` if there is no row. */
static st_status
pg_value(struct st_database *d, const char *sql, int64_t otherwise, int64_t *value,
         struct st_error *e)
{
	struct st_query *rows;
	*value = otherwise;
	if (st_database_query(d, &rows, sql, e))
		return -1;
	int step = st_query_step(rows, e);
	if (step > 0)
		*value = st_query_number(rows, 0);
	st_query_end(rows);
	return step < 0 ? ST_FAILED : ST_OK;
}

static uint64_t
pg_size(struct st_database *d)
{
	struct st_error unknown;
	int64_t bytes;
	return pg_value(d,
	                "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN "
	                "pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'strobe' AND "
	                "c.relkind = 'r'",
	                0, &bytes, &unknown)
	               ? 0
	               : (uint64_t)bytes;
}

static bool
pg_is_lost(struct st_database *base)
{
	const struct pg_database *d = (const struct pg_database *)base;
	return d->pq->status(d->connection) == CONNECTION_BAD;
}

static void
pg_close(struct st_database *base)
{
	struct pg_database *d = (struct pg_database *)base;
	d->pq->finish(d->connection);
	free(d);
}

/* The lock lets others read. The server checks pages and references itself. */
static const struct st_database_kind pg_kind = {
        .query = st_pg_query,
        .put_number = st_pg_put_number,
        .put_text = st_pg_put_text,
        .put_bytes = st_pg_put_bytes,
        .step = st_pg_step,
        .again = st_pg_again,
        .number = st_pg_number,
        .text = st_pg_text,
        .bytes = st_pg_bytes,
        .end = st_pg_end,
        .run = pg_run,
        .begin = "BEGIN; SET LOCAL synchronous_commit = on; LOCK TABLE profile IN EXCLUSIVE MODE",
        .clean = "VACUUM object, part, profile, version, configuration, machine, patch",
        .size = pg_size,
        .lost = pg_is_lost,
        .close = pg_close,
};

/* ---- opening ---- */

bool
st_is_postgresql(const char *place)
{
	return !strncmp(place, "postgresql://", 13) || !strncmp(place, "postgres://", 11);
}

st_status
st_postgresql_check(const char *address, struct st_error *e)
{
	const char *server = strchr(address, '/');
	if (!st_address_has_password(server, strlen(server)))
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE,
	               "store: do not write a password into the address, which others can read: "
	               "put it into ~/.pgpass or PGPASSWORD");
}

static void
pg_ignore_notice(void *nobody, const char *text)
{
	(void)nobody, (void)text;
}

static st_status
pg_unreachable(const struct pg_database *d, struct st_error *e)
{
	const char *said = d->pq->errorMessage(d->connection), *way_out;
	if (d->pq->connectionNeedsPassword(d->connection) ||
	    d->pq->connectionUsedPassword(d->connection))
		way_out = "put the right password into ~/.pgpass or PGPASSWORD";
	else
		way_out = "check the server and the address, or set another place with strobe "
		          "config store PLACE";
	return st_fail(e, ST_EXIT_FAILED, "cannot reach the store %s: %.*s: %s", d->base.place,
	               (int)strcspn(said, "\n"), said, way_out);
}

/* Parameters of the address override those before dbname. */
static st_status
pg_connect(struct pg_database *d, struct st_error *e)
{
	const char *const names[] = {"connect_timeout", "fallback_application_name", "dbname",
	                             "client_encoding", NULL};
	const char *const values[] = {"10", "strobe", d->base.place, "UTF8", NULL};
	d->connection = d->pq->connectdbParams(names, values, 1);
	if (!d->connection)
		return st_database_no_memory(e);
	if (d->pq->status(d->connection) != CONNECTION_OK)
		return pg_unreachable(d, e);
	d->pq->setNoticeProcessor(d->connection, pg_ignore_notice, NULL);
	const char *encoding = d->pq->parameterStatus(d->connection, "server_encoding");
	if (!encoding || strcmp(encoding, "UTF8") != 0)
		return st_fail(e, ST_EXIT_FAILED,
		               "the database %s has the encoding %s: make one with ENCODING 'UTF8'",
		               d->base.place, encoding ? encoding : "?");
	char settings[96];
	snprintf(settings, sizeof settings, "SET search_path TO strobe; SET lock_timeout TO %d",
	         ST_STORE_WAIT_MS);
	return pg_run(&d->base, settings, e);
}

static st_status
pg_has_store(struct st_database *d, int64_t *has, struct st_error *e)
{
	return pg_value(d,
	                "SELECT count(*) FROM pg_tables WHERE schemaname = 'strobe' AND "
	                "tablename = 'store'",
	                0, has, e);
}

static st_status
pg_fill(struct st_database *d, bool *made, struct st_error *e)
{
	int64_t has;
	char mark[160];
	snprintf(mark, sizeof mark,
	         "CREATE TABLE store(application BIGINT NOT NULL, version BIGINT NOT NULL);"
	         "INSERT INTO store VALUES(%d, %d)",
	         ST_STORE_APPLICATION_ID, ST_STORE_VERSION);
	if (pg_has_store(d, &has, e) || has)
		return has ? ST_OK : ST_FAILED;
	if (pg_run(d, "BEGIN;" PG_LOCK_MAKING, e) || pg_has_store(d, &has, e))
		return ST_FAILED;
	*made = !has;
	if (*made && (pg_run(d, "CREATE SCHEMA strobe", e) || pg_run(d, mark, e) ||
	              pg_run(d, ST_STORE_SCHEMA_OF_POSTGRESQL, e)))
		return ST_FAILED;
	return pg_run(d, "COMMIT", e);
}

/* Checks that the database has a store that this strobe can use, before any other query. */
static st_status
pg_check(struct st_database *d, struct st_error *e)
{
	int64_t has, id, version, writable;
	if (pg_has_store(d, &has, e))
		return ST_FAILED;
	if (!has)
		return st_fail(e, ST_EXIT_FAILED, "there is no store in %s: run strobe init",
		               d->place);
	if (pg_value(d, "SELECT application FROM store", 0, &id, e) ||
	    pg_value(d, "SELECT version FROM store", 0, &version, e) ||
	    st_database_check(d, id, version, e) ||
	    pg_value(d,
	             "SELECT (has_table_privilege('profile', 'INSERT') AND NOT "
	             "pg_is_in_recovery())::int",
	             0, &writable, e))
		return ST_FAILED;
	d->writable = writable;
	return ST_OK;
}

st_status
st_postgresql_open(struct st_database **out, const char *place, bool *made, struct st_error *e)
{
	const struct st_libpq *pq = st_libpq(e);
	struct pg_database *d = pq ? calloc(1, sizeof *d) : NULL;
	*out = NULL;
	if (!pq)
		return ST_FAILED;
	if (!d)
		return st_database_no_memory(e);
	*d = (struct pg_database){{.kind = &pg_kind, .place = place}, pq, NULL};
	int status = pg_connect(d, e);
	if (!status && made)
		status = pg_fill(&d->base, made, e);
	if (!status)
		status = pg_check(&d->base, e);
	if (status)
		pg_close(&d->base);
	else
		*out = &d->base;
	return status ? ST_FAILED : ST_OK;
}
