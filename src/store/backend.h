/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The database of a store: a file of SQLite, or a database on a PostgreSQL server. The commands use
 * SQL that both understand, through this interface only. Parameters are written ?, or ?1 to ?9.
 */
#ifndef STROBE_STORE_BACKEND_H
#define STROBE_STORE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ST_STORE_APPLICATION_ID 0x53545253 /* "STRS" */
#define ST_STORE_VERSION 1

/* The time for which a command waits for another one that writes; writing a profile takes some
 * milliseconds. */
enum { ST_STORE_WAIT_MS = 60000 };

struct st_database;

/* A statement and its current row. The structures of the backends begin with it. */
struct st_query {
	struct st_database *database;
};

struct st_database_kind {
	/* 0, or -1 with *e; *out NULL then. */
	st_status (*query)(struct st_database *d, const char *sql, struct st_query **out,
	                   struct st_error *e);
	/* Parameters count from 1; bytes and texts must stay until the statement is done. */
	void (*put_number)(struct st_query *q, int at, int64_t value);
	void (*put_text)(struct st_query *q, int at, const char *value);
	void (*put_bytes)(struct st_query *q, int at, const void *bytes, size_t n);
	/* The next row: 1, 0 at the end, -1 with *e. */
	int (*step)(struct st_query *q, struct st_error *e);
	/* Lets the next step execute the statement again; parameters keep their values. */
	void (*again)(struct st_query *q);
	/* A value of the current row; columns count from 0. The result is NULL or 0 where the value
	 * is NULL, and is valid until the next step. */
	int64_t (*number)(struct st_query *q, int column);
	const char *(*text)(struct st_query *q, int column);
	const void *(*bytes)(struct st_query *q, int column, size_t *n);
	void (*end)(struct st_query *q);

	/* Statements that return nothing. */
	st_status (*run)(struct st_database *d, const char *sql, struct st_error *e);
	const char *begin;     /* begins a transaction, during which nobody else writes */
	const char *clean;     /* releases the space of removed rows */
	const char *integrity; /* lists damage, or "ok"; NULL: the server checks itself */
	const char *dangling;  /* lists table, row and table of broken references; or NULL */
	uint64_t (*size)(struct st_database *d);
	/* Is the connection to the server lost? */
	bool (*lost)(struct st_database *d);
	void (*close)(struct st_database *d);
};

/* The structures of the backends begin with it. */
struct st_database {
	const struct st_database_kind *kind;
	const char *place; /* as messages name it */
	bool writable;
};

/* Opens a store. With made NULL, the store must exist; otherwise a missing one is made, and *made
 * becomes true. `place` is a file, or an address, and must stay. 0, or -1 with *e and *out NULL. */
st_status st_sqlite_open(struct st_database **out, const char *place, bool *made,
                         struct st_error *e);
st_status st_postgresql_open(struct st_database **out, const char *place, bool *made,
                             struct st_error *e);
/* Is a place the address of a server? */
bool st_is_postgresql(const char *place);
/* Refuses an address that has a password: 0, or -1 with *e. */
st_status st_postgresql_check(const char *address, struct st_error *e);

st_status st_database_query(struct st_database *d, struct st_query **out, const char *sql,
                            struct st_error *e);
/* Checks the application id and the version of a store: 0 if this strobe can use it, or -1 with *e.
 */
st_status st_database_check(const struct st_database *d, int64_t id, int64_t version,
                            struct st_error *e);
/* Messages of both backends. They return -1. */
st_status st_database_busy(const struct st_database *d, struct st_error *e);
st_status st_database_full(const struct st_database *d, struct st_error *e);
st_status st_database_no_memory(struct st_error *e);

void st_query_put_number(struct st_query *q, int at, int64_t value);
void st_query_put_text(struct st_query *q, int at, const char *value);
void st_query_put_bytes(struct st_query *q, int at, const void *bytes, size_t n);
int st_query_step(struct st_query *q, struct st_error *e);
void st_query_again(struct st_query *q);
int64_t st_query_number(struct st_query *q, int column);
const char *st_query_text(struct st_query *q, int column);
const void *st_query_bytes(struct st_query *q, int column, size_t *n);
/* A malloc'ed copy of a text; NULL where the value is NULL. */
char *st_query_copy(struct st_query *q, int column);
/* q may be NULL. */
void st_query_end(struct st_query *q);

#endif
