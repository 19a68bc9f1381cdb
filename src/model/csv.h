/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points from a text file of columns. */
#ifndef STROBE_MODEL_CSV_H
#define STROBE_MODEL_CSV_H

#include "model/regression.h"

/* Two columns of numbers, in the order of the lines. */
struct st_csv {
	char *x_name, *y_name;
	double *x, *y;
	size_t n, cap;
	size_t left_out; /* lines in which x or y is empty, NA or nan */
};

/*
 * Columns are separated by tabs, semicolons or commas, whichever the first line has, or else by
 * blanks; a field may stand in double quotes. If the first line has a field that is not a number,
 * it has the names. Empty lines and those that begin with # are left out. x and y: name or number,
 * from 1, of a column; NULL: the first, the second. path "-": standard input.
 */
st_status st_csv_read(struct st_csv *csv, const char *path, const char *x, const char *y,
                      struct st_error *e);
void st_csv_free(struct st_csv *csv);
struct st_points st_csv_points(const struct st_csv *csv);

#endif
