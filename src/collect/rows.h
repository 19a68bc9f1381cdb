/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filling a table: rows with the same keys become one. */
#ifndef STROBE_COLLECT_ROWS_H
#define STROBE_COLLECT_ROWS_H

#include "base/hashmap.h"
#include "profile/profile.h"

/* A table being filled: texts of its keys are equal only if they are the same. */
struct st_rows {
	struct st_profile_table *table;
	struct st_hashmap index; /* of rows, by their keys */
};

/* 0, or -1 when memory is exhausted. */
st_status st_rows_add(struct st_rows *rows, const struct st_profile_value *row);
void st_rows_free(struct st_rows *rows);
/* Adds what is no key of one row to another. */
void st_rows_add_up(const struct st_profile_table *t, struct st_profile_value *to,
                    const struct st_profile_value *from);
/* Orders the rows of a table that is complete. ranks: of each function's name among all names, that
 * of "" being 0. 0, or -1. */
st_status st_rows_sort(struct st_profile_table *t, const uint32_t *ranks);

#endif
