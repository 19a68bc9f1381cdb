/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of text with a header: fields separated by commas, semicolons or tabs. */
#ifndef STROBE_IMPORT_CELLS_H
#define STROBE_IMPORT_CELLS_H

#include "base/vec.h"
#include "import/import.h"

struct st_cells {
	char *text; /* of the file, changed in place */
	size_t n_columns, n_rows;
	ST_VEC(const char *) cells; /* the header's first, row by row */
	ST_VEC(size_t) lines;       /* of each row, from 1 */
};

/* Rows with more or fewer fields than the header are skipped and counted; lines that are empty or
 * begin with # are left out. 0, or -1 with *e. The caller frees in both cases. */
st_status st_cells_read(struct st_cells *c, struct st_import *in, struct st_error *e);
void st_cells_free(struct st_cells *c);

static inline const char *
st_cells_header(const struct st_cells *c, size_t column)
{
	return c->cells.v[column];
}

static inline const char *
st_cells_at(const struct st_cells *c, size_t row, size_t column)
{
	return c->cells.v[(row + 1) * c->n_columns + column];
}

#endif
