/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of one or two functions and sums, on its way into the profile. */
#ifndef STROBE_IMPORT_TABLES_H
#define STROBE_IMPORT_TABLES_H

#include "import/functions.h"

/* One key or two, and as many sums as there are columns left. */
enum { ST_IMPORT_SUMS = STROBE_MOST_COLUMNS };

struct st_import_row {
	uint32_t first, second; /* indices of functions; second UINT32_MAX: there is one key */
	uint64_t sums[ST_IMPORT_SUMS];
};

struct st_import_table {
	struct st_import_row *v;
	size_t n, cap;
	struct st_hashmap by_key;
};

/* The sums of a row, which is added if there is none; NULL: no memory. */
uint64_t *st_import_table_row(struct st_import_table *t, uint32_t first, uint32_t second);
/* Adds it to the profile, whose functions are finished, unless it is empty. Sums that find no
 * column are left out. */
st_status st_import_table_finish(struct st_import_table *t, const struct st_import_functions *f,
                                 const char *name, const char *help, const char *const *sums,
                                 size_t n_sums);
void st_import_table_free(struct st_import_table *t);

#endif
