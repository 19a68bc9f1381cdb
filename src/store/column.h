/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A column of a table as bytes. Profiles of one program have the same functions at the same offsets
 * again and again: as columns these are equal bytes, as rows they are mixed with what differs.
 *
 * The first byte says how the values follow: whole numbers as they are or as differences, texts, or
 * each value with its kind. The form follows from the values, so that equal columns are equal
 * bytes.
 */
#ifndef STROBE_STORE_COLUMN_H
#define STROBE_STORE_COLUMN_H

#include "base/status.h"
#include "store/bytes.h"

enum st_cell_kind { ST_CELL_NULL, ST_CELL_NUMBER, ST_CELL_REAL, ST_CELL_TEXT, ST_CELL_BLOB };

struct st_cell {
	enum st_cell_kind kind;
	int64_t number;
	double real;
	const void *bytes; /* of text and blob; not NUL-terminated */
	size_t n;
};

/* A column being written: a cell after the other. All zeros is an empty one. */
struct st_column_writer {
	struct st_bytes cells;          /* each with its kind */
	struct st_bytes numbers, steps; /* whole numbers, as they are and as differences */
	struct st_bytes texts;          /* without the kinds */
	bool other_than_number, other_than_text;
	uint64_t falls; /* numbers that are less than the one before */
	uint64_t n;
	int64_t before;
};

void st_column_add(struct st_column_writer *w, const struct st_cell *cell);
/* Appends the column to `out`, which has failed when memory was exhausted on the way; the writer is
 * empty again. */
void st_column_end(struct st_column_writer *w, struct st_bytes *out);

/* Reading. */
struct st_column_reader {
	struct st_cut cut;
	unsigned char form;
	int64_t before;
};

struct st_column_reader st_column_read(const void *bytes, size_t n);
/* False: there is no further cell; r->cut.bad says whether the column is damaged. */
bool st_column_next(struct st_column_reader *r, struct st_cell *cell);

#endif
