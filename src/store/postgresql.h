/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations that the files of the backend for PostgreSQL share. */
#ifndef STROBE_STORE_POSTGRESQL_H
#define STROBE_STORE_POSTGRESQL_H

#include "store/backend.h"
#include "store/libpq.h"

struct pg_database {
	struct st_database base;
	const struct st_libpq *pq;
	PGconn *connection;
};

/* Converts a failure of the server, or of the connection, to an error; clears `result`. Returns -1.
 */
st_status st_pg_failed(struct pg_database *d, PGresult *result, struct st_error *e);

/* The functions of struct st_database_kind that concern statements. */
st_status st_pg_query(struct st_database *d, const char *sql, struct st_query **out,
                      struct st_error *e);
void st_pg_put_number(struct st_query *q, int at, int64_t value);
void st_pg_put_text(struct st_query *q, int at, const char *value);
void st_pg_put_bytes(struct st_query *q, int at, const void *bytes, size_t n);
int st_pg_step(struct st_query *q, struct st_error *e);
void st_pg_again(struct st_query *q);
int64_t st_pg_number(struct st_query *q, int column);
const char *st_pg_text(struct st_query *q, int column);
const void *st_pg_bytes(struct st_query *q, int column, size_t *n);
void st_pg_end(struct st_query *q);

#endif
