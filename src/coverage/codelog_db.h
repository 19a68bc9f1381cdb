/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The database of a log, for those who read and write its tables: codelog.c, contextlog.c. */
#ifndef STROBE_COVERAGE_CODELOG_DB_H
#define STROBE_COVERAGE_CODELOG_DB_H

#include <sqlite3.h>

#include "base/status.h"
#include "coverage/codelog.h"

struct st_codelog {
	char *path;
	sqlite3 *db;
	sqlite3_stmt *insert; /* of a block */
	int64_t run;
	int status; /* of the blocks that are being added: the first failure */
	bool busy;  /* the last failure was that another program had locked it */
};

/* Says what SQLite's status means for the log: -1. */
st_status st_codelog_fail(struct st_codelog *log, int status, struct st_error *e);
/* 0, or -1 with *e. */
st_status st_codelog_execute(struct st_codelog *log, const char *sql, struct st_error *e);
/* The one number that a query gives; -1 when it gives none, or *status is not SQLITE_OK. */
int64_t st_codelog_number(struct st_codelog *log, const char *sql, int *status);
/* NULL and *e on failure. */
sqlite3_stmt *st_codelog_prepare(struct st_codelog *log, const char *sql, struct st_error *e);

#endif
