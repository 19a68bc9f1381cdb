/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: counters and tables, as tools declare them. */
#ifndef STROBE_WIRE_RESULTS_TABLES_H
#define STROBE_WIRE_RESULTS_TABLES_H

#include <stdint.h>

enum {
	ST_MAX_COUNTERS = 64,    /* that the tools may declare */
	ST_MAX_TABLES = 32,      /* and tables */
	ST_MAX_COLUMNS = 10,     /* STROBE_MOST_COLUMNS of tool.h */
	ST_TABLE_ROWS = 1 << 20, /* of a table, row 0 ("others") included */
};

/* Names and helps are offsets into the strings, tools indices into the run's tools. */
struct st_counter_results {
	uint32_t n;
	uint32_t names[ST_MAX_COUNTERS], helps[ST_MAX_COUNTERS];
	uint32_t tools[ST_MAX_COUNTERS];
	uint64_t sums[ST_MAX_COUNTERS]; /* what was added to them at once */
};

/* A column of a table or stream: its name, and types and roles of include/strobe/tool.h. */
struct st_column {
	uint32_t name; /* offset into strings */
	uint16_t type, role;
};

/* A table: rows of n_columns 64-bit numbers from off_tables + index * ST_TABLE_ROWS *
 * ST_MAX_COLUMNS * 8 on. Row 0 is for what found no row. The columns that are no keys also get what
 * the amounts add. */
struct st_table {
	uint32_t name, help;
	uint32_t n_columns, n_keys;
	uint32_t n_rows; /* row 0 included */
	uint32_t tool;   /* index into the run's tools */
	struct st_column columns[ST_MAX_COLUMNS];
};

struct st_table_results {
	uint32_t n;
	struct st_table v[ST_MAX_TABLES];
};

#endif
