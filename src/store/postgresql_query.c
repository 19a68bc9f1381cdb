/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statements for PostgreSQL: all rows of a result are fetched at once. Parameters and results are
 * in binary, in which integers are big-endian. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "store/postgresql.h"

enum { MOST_PARAMETERS = 16 };

/* Types of parameters: these numbers are fixed in PostgreSQL's catalogue. */
enum { PG_BYTES = 17, PG_NUMBER = 20, PG_TEXT = 25 };

struct pg_query {
	struct st_query base;
	char *sql;
	PGresult *result;
	int row, n; /* n: parameters */
	Oid types[MOST_PARAMETERS];
	const char *values[MOST_PARAMETERS];
	char *made[MOST_PARAMETERS]; /* copies of texts, to be freed */
	int lengths[MOST_PARAMETERS], binary[MOST_PARAMETERS];
	unsigned char numbers[MOST_PARAMETERS][8];
	bool no_memory;
};

static const struct st_libpq *
pg_of(const struct st_query *q)
{
	return ((const struct pg_database *)q->database)->pq;
}

/* "?" and "?3" become "$1" and "$3". */
static char *
pg_translate(const char *sql, int *n)
{
	char *out = malloc(3 * strlen(sql) + 1), *at = out;
	*n = 0;
	for (; out && *sql; sql++) {
		if (*sql != '?') {
			*at++ = *sql;
			continue;
		}
		int which = isdigit((unsigned char)sql[1]) ? *++sql - '0' : *n + 1;
		if (which > *n)
			*n = which;
		at += sprintf(at, "$%d", which);
	}
	if (out)
		*at = '\0';
	return out;
}

st_status
st_pg_query(struct st_database *d, const char *sql, struct st_query **out, struct st_error *e)
{
	struct pg_query *q = calloc(1, sizeof *q);
	if (q)
		q->sql = pg_translate(sql, &q->n);
	if (!q || !q->sql) {
		free(q);
		return st_database_no_memory(e);
	}
	q->base.database = d;
	for (int i = 0; i < MOST_PARAMETERS; i++)
		q->binary[i] = 1;
	*out = &q->base;
	return ST_OK;
}

static void
pg_put(struct pg_query *q, int at, Oid type, const void *value, size_t n)
{
	q->types[at - 1] = type;
	q->values[at - 1] = value;
	q->lengths[at - 1] = (int)n;
	q->no_memory |= n > INT_MAX / 2; /* the server takes 1 GB at most */
}

void
st_pg_put_number(struct st_query *query, int at, int64_t value)
{
	struct pg_query *q = (struct pg_query *)query;
	for (int i = 0; i < 8; i++)
		q->numbers[at - 1][i] = (unsigned char)((uint64_t)value >> (56 - 8 * i));
	pg_put(q, at, PG_NUMBER, q->numbers[at - 1], 8);
}

/* The server takes UTF-8 only: other bytes, which file names and arguments may have, are written as
 * \xff. NULL: memory is exhausted. */
static char *
pg_clean_text(const char *value)
{
	char *out = malloc(4 * strlen(value) + 1), *at = out;
	for (const unsigned char *in = (const unsigned char *)value; out && *in;) {
		size_t n = st_utf8_length(in);
		if (n)
			memcpy(at, in, n);
		at += n ? n : (size_t)sprintf(at, "\\x%02x", *in);
		in += n ? n : 1;
	}
	if (out)
		*at = '\0';
	return out;
}

void
st_pg_put_text(struct st_query *query, int at, const char *value)
{
	struct pg_query *q = (struct pg_query *)query;
	free(q->made[at - 1]);
	q->made[at - 1] = value ? pg_clean_text(value) : NULL;
	q->no_memory |= value && !q->made[at - 1];
	pg_put(q, at, PG_TEXT, q->made[at - 1], q->made[at - 1] ? strlen(q->made[at - 1]) : 0);
}

void
st_pg_put_bytes(struct st_query *query, int at, const void *bytes, size_t n)
{
	pg_put((struct pg_query *)query, at, PG_BYTES, bytes ? bytes : "", n);
}

static st_status
pg_ask(struct pg_query *q, struct st_error *e)
{
	struct pg_database *d = (struct pg_database *)q->base.database;
	if (q->no_memory)
		return st_fail(e, ST_EXIT_FAILED,
		               "a part of the profile is too large for %s, which takes 1 GB: keep "
		               "it in a store of files",
		               d->base.place);
	PGresult *result = d->pq->execParams(d->connection, q->sql, q->n, q->types, q->values,
	                                     q->lengths, q->binary, 1);
	ExecStatusType status = d->pq->resultStatus(result);
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		return st_pg_failed(d, result, e);
	q->result = result;
	q->row = -1;
	return ST_OK;
}

int
st_pg_step(struct st_query *query, struct st_error *e)
{
	struct pg_query *q = (struct pg_query *)query;
	if (!q->result && pg_ask(q, e))
		return -1;
	return ++q->row < pg_of(query)->ntuples(q->result);
}

void
st_pg_again(struct st_query *query)
{
	struct pg_query *q = (struct pg_query *)query;
	if (q->result)
		pg_of(query)->clear(q->result);
	q->result = NULL;
}

const void *
st_pg_bytes(struct st_query *query, int column, size_t *n)
{
	const struct pg_query *q = (const struct pg_query *)query;
	const struct st_libpq *pq = pg_of(query);
	*n = 0;
	if (pq->getisnull(q->result, q->row, column))
		return NULL;
	*n = (size_t)pq->getlength(q->result, q->row, column);
	return pq->getvalue(q->result, q->row, column);
}

/* Integers have 2, 4 or 8 bytes. */
int64_t
st_pg_number(struct st_query *query, int column)
{
	size_t n;
	const unsigned char *bytes = st_pg_bytes(query, column, &n);
	uint64_t value = bytes && n && bytes[0] & 0x80 ? UINT64_MAX : 0;
	for (size_t i = 0; i < n && n <= 8; i++)
		value = value << 8 | bytes[i];
	return (int64_t)value;
}

const char *
st_pg_text(struct st_query *query, int column)
{
	size_t n;
	return st_pg_bytes(query, column, &n); /* libpq puts a NUL after each value */
}

void
st_pg_end(struct st_query *query)
{
	struct pg_query *q = (struct pg_query *)query;
	st_pg_again(query);
	for (int i = 0; i < MOST_PARAMETERS; i++)
		free(q->made[i]);
	free(q->sql);
	free(q);
}
