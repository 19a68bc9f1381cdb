/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools' tables in a profile file: each is an SQL table of its own, which tool_table and
 * tool_column describe. */
#ifndef STROBE_PROFILE_FILE_TABLES_H
#define STROBE_PROFILE_FILE_TABLES_H

#include <sqlite3.h>

#include "profile/profile.h"

/* Most SQL columns that one column becomes, and how their names end. */
enum { ST_MOST_FIELDS = 5, ST_FIELD_NAME = 64 };
/* The ends of the names of a type's SQL columns; returns how many. */
size_t st_fields_of(enum strobe_type type, const char *const **ends);

bool st_has_table(sqlite3 *db, const char *name);
/* The index of a row of a table with n rows, by a column that has its id; UINT32_MAX: NULL. Sets
 * *bad when there is no such row. */
uint32_t st_index_of(sqlite3_stmt *s, int column, size_t n, bool *bad);

/* Writes tables and streams. SQLITE_OK, or the failure. */
int st_save_tables(sqlite3 *db, const struct st_profile *p);
/* Writes and reads quality of service, if there was any: the same. */
int st_save_qos(sqlite3 *db, const struct st_profile *p);
bool st_load_qos(sqlite3 *db, struct st_profile *p);
/* The run's tools and their options: the same. */
int st_save_tools(sqlite3 *db, const struct st_profile *p);
bool st_load_tools(sqlite3 *db, struct st_profile *p);
/* The slowdown's ends; without the table it cannot be told. */
int st_save_slowdown(sqlite3 *db, const struct st_profile *p);
bool st_load_slowdown(sqlite3 *db, struct st_profile *p);
/* More facts about the machine, in the same form. */
int st_save_machine(sqlite3 *db, const struct st_profile *p);
bool st_load_machine(sqlite3 *db, struct st_profile *p);
/* Writes and reads the overshoots of budgets, if there were any: the same. */
int st_save_overshoots(sqlite3 *db, const struct st_profile *p);
bool st_load_overshoots(sqlite3 *db, struct st_profile *p);
/* Writes and reads the shares of processes, if there are several: the same. */
int st_save_shares(sqlite3 *db, const struct st_profile *p);
bool st_load_shares(sqlite3 *db, struct st_profile *p);
/* Writes and reads the contexts, if there are any: the same. */
int st_save_forest(sqlite3 *db, const struct st_profile *p);
bool st_load_forest(sqlite3 *db, struct st_profile *p);
int st_save_contexts(sqlite3 *db, const struct st_profile *p);
bool st_load_contexts(sqlite3 *db, struct st_profile *p); /* labels and threads are loaded */
/* Writes and reads the measurements, if there are any: the same. */
int st_save_measurements(sqlite3 *db, const struct st_profile *p);
bool st_load_measurements(sqlite3 *db, struct st_profile *p);
/* Writes and reads the models that are kept, if there are any: the same. */
int st_save_kept(sqlite3 *db, const struct st_profile *p);
bool st_load_kept(sqlite3 *db, struct st_profile *p);
/* Writes and reads the extras, if there are any: the same. */
int st_save_extras(sqlite3 *db, const struct st_profile *p);
bool st_load_extras(sqlite3 *db, struct st_profile *p);
/* Behind the contexts. */
int st_save_loops(sqlite3 *db, const struct st_profile *p);
bool st_load_loops(sqlite3 *db, struct st_profile *p);
/* Reads tables and streams; images and functions are loaded. False: they are damaged, or memory is
 * exhausted. */
bool st_load_tables(sqlite3 *db, struct st_profile *p);

#endif
