/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of commands that keep their results in a profile: written and read row by row. */
#ifndef STROBE_PROFILE_TABLES_H
#define STROBE_PROFILE_TABLES_H

#include "profile/profile.h"

/* Columns, as initializers of struct st_profile_column. */
#define ST_KEY(name, type)                                                                         \
	{                                                                                          \
		name, STROBE_##type, STROBE_IS_KEY                                                 \
	}
#define ST_SUM(name)                                                                               \
	{                                                                                          \
		name, STROBE_NUMBER, STROBE_IS_SUM                                                 \
	}
#define ST_MAX(name)                                                                               \
	{                                                                                          \
		name, STROBE_NUMBER, STROBE_IS_MAX                                                 \
	}

/* ---- writing ---- */

struct st_profile_value st_profile_value_number(uint64_t n);
/* Copies the text into the profile. */
struct st_profile_value st_profile_value_text(struct st_profile *p, const char *text);
/* Adds an empty table to the profile, valid until the next one is added. NULL: memory is exhausted.
 */
struct st_profile_table *st_profile_table_add(struct st_profile *p, const char *tool,
                                              const char *name, const char *help, size_t n_keys,
                                              size_t n_columns,
                                              const struct st_profile_column *columns);
/* row: n_columns values. -1: memory is exhausted. */
st_status st_profile_table_add_row(struct st_profile_table *table,
                                   const struct st_profile_value *row);

/* ---- reading ---- */

/* The tool's table of that name and that number of columns; NULL: there is none. */
const struct st_profile_table *st_profile_table_find(const struct st_profile *p, const char *tool,
                                                     const char *name, size_t n_columns);
/* The text of a value; "" if it has none. */
const char *st_profile_text_of(const struct st_profile_value *v);

/* Adds one row to what is read. */
typedef st_status st_profile_row_fn(void *into, const struct st_profile_value *row);
/* Reads the rows in the order of the table, or sorted by the number in their first column: a file
 * does not keep the order in which rows were added. Stops at the first row that is refused; table
 * NULL has no rows. -1: a row was refused, or memory is exhausted. */
st_status st_profile_table_read(const struct st_profile_table *table, void *into,
                                st_profile_row_fn *read);
st_status st_profile_table_read_sorted(const struct st_profile_table *table, void *into,
                                       st_profile_row_fn *read);

#endif
