/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The database of a store, whoever keeps it: a file of SQLite, or a PostgreSQL server. All verbs
 * ask in SQL that both understand, through this interface only. Parameters are written ?, or ?1,
 * ?2.
 */
#ifndef STROBE_STORE_BACKEND_H
#define STROBE_STORE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ST_STORE_APPLICATION_ID 0x53545253 /* "STRS" */
#define ST_STORE_VERSION 1

/* How long a command waits for another one that writes: that takes some ms for each profile. */
enum { ST_STORE_WAIT_MS = 60000 };

struct st_database;

/* A statement, and the row at which it is. The backends' begin with it. */
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
	/* From the beginning, with the parameters that it has. */
	void (*again)(struct st_query *q);
	/* Of the row; columns count from 0. NULL, and 0, where it is NULL. What is returned lasts
	 * until the next step. */
	int64_t (*number)(struct st_query *q, int column);
	const char *(*text)(struct st_query *q, int column);
	const void *(*bytes)(struct st_query *q, int column, size_t *n);
	void (*end)(struct st_query *q);

	/* Statements that return nothing. */
	st_status (*run)(struct st_database *d, const char *sql, struct st_error *e);
	const char *begin;     /* of a transaction, in which nobody else writes */
	const char *clean;     /* gives back the space of what was removed */
	const char *integrity; /* lists what does not fit together, or "ok"; NULL: no need */
	const char *dangling;  /* lists table, row and table of references to nothing; NULL: none */
	uint64_t (*size)(struct st_database *d);
	/* Whether nothing can be asked any more: a server that has gone. */
	bool (*lost)(struct st_database *d);
	void (*close)(struct st_database *d);
};

/* The backends' begin with it. */
struct st_database {
	const struct st_database_kind *kind;
	const char *place; /* as messages name it */
	bool writable;
};

/* Opens a store; made NULL: it is there, else it is made where there is none, and *made says
 * whether. `place` is a file, or an address, and must stay. 0, or -1 with *e and *out NULL. */
st_status st_sqlite_open(struct st_database **out, const char *place, bool *made,
                         struct st_error *e);
st_status st_postgresql_open(struct st_database **out, const char *place, bool *made,
                             struct st_error *e);
/* Whether a place is the address of a server. */
bool st_is_postgresql(const char *place);
/* Whether it can be one: 0, or -1 with *e. */
st_status st_postgresql_check(const char *address, struct st_error *e);

st_status st_database_query(struct st_database *d, struct st_query **out, const char *sql,
                            struct st_error *e);
/* Mark and version that a store has: 0 if this strobe can use it. */
st_status st_database_check(const struct st_database *d, int64_t id, int64_t version,
                            struct st_error *e);
/* The messages that both need. They return -1. */
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
/* A text that is malloc'ed; NULL where it is NULL. */
char *st_query_copy(struct st_query *q, int column);
/* Also of NULL. */
void st_query_end(struct st_query *q);

#endif
