/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions for the databases of a store, and their messages. */
#include "store/backend.h"

#include <errno.h>
#include <string.h>

st_status
st_database_query(struct st_database *d, struct st_query **out, const char *sql, struct st_error *e)
{
	*out = NULL;
	return d->kind->query(d, sql, out, e);
}

st_status
st_database_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the store");
}

st_status
st_database_busy(const struct st_database *d, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED,
	               "another process has held %s for %d s: try again when it has ended",
	               d->place, ST_STORE_WAIT_MS / 1000);
}

st_status
st_database_full(const struct st_database *d, struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED,
	               "cannot write to %s: %s; nothing was changed: make space, then try again",
	               d->place, strerror(ENOSPC));
}

st_status
st_database_check(const struct st_database *d, int64_t id, int64_t version, struct st_error *e)
{
	if (id != ST_STORE_APPLICATION_ID)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "%s is not a store but a database of another program: move it away, or "
		        "set another place with strobe config store PLACE",
		        d->place);
	if (version > ST_STORE_VERSION)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s was written by a newer strobe (version %lld of the store, this "
		               "one reads up to %d): use that strobe",
		               d->place, (long long)version, ST_STORE_VERSION);
	return ST_OK;
}

void
st_query_put_number(struct st_query *q, int at, int64_t value)
{
	q->database->kind->put_number(q, at, value);
}

void
st_query_put_text(struct st_query *q, int at, const char *value)
{
	q->database->kind->put_text(q, at, value);
}

void
st_query_put_bytes(struct st_query *q, int at, const void *bytes, size_t n)
{
	q->database->kind->put_bytes(q, at, bytes, n);
}

int
st_query_step(struct st_query *q, struct st_error *e)
{
	return q->database->kind->step(q, e);
}

void
st_query_again(struct st_query *q)
{
	q->database->kind->again(q);
}

int64_t
st_query_number(struct st_query *q, int column)
{
	return q->database->kind->number(q, column);
}

const char *
st_query_text(struct st_query *q, int column)
{
	return q->database->kind->text(q, column);
}

const void *
st_query_bytes(struct st_query *q, int column, size_t *n)
{
	return q->database->kind->bytes(q, column, n);
}

char *
st_query_copy(struct st_query *q, int column)
{
	const char *text = st_query_text(q, column);
	return text ? strdup(text) : NULL;
}

void
st_query_end(struct st_query *q)
{
	if (q)
		q->database->kind->end(q);
}
