/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/csv.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/wholefile.h"

enum { MOST_COLUMNS = 4096 };

/* A line that is taken apart in place. */
struct fields {
	char *v[MOST_COLUMNS];
	size_t n;
};

struct csv_reader {
	const char *path;
	char *text, *rest; /* all of the file, and what has not been read */
	char *line;
	size_t number;  /* of the line, from 1 */
	char separator; /* ' ': any number of blanks */
	size_t x, y;    /* columns */
	struct fields fields;
};

/* Ends the field at `at`, which is cut out of its quotes, and returns where the next one begins;
 * NULL: it was the last one. */
static char *
end_field(char *at, char separator, char **field)
{
	char *to;
	at += strspn(at, " ");
	*field = to = at;
	if (*at == '"') {
		for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
			at += *at == '"';
			*to++ = *at;
		}
		at += *at == '"';
	}
	while (*at && *at != separator && (separator != ' ' || *at != '\t'))
		*to++ = *at++;
	const bool more = *at != 0;
	*to = 0;
	return more ? at + 1 : NULL;
}

static void
trim_field(char **field)
{
	*field += strspn(*field, " \t");
	for (size_t n = strlen(*field); n && strchr(" \t\r\n", (*field)[n - 1]);)
		(*field)[--n] = 0;
}

static st_status
split_line(struct csv_reader *r, struct st_error *e)
{
	struct fields *f = &r->fields;
	f->n = 0;
	for (char *at = r->line; at;) {
		if (r->separator == ' ')
			at += strspn(at, " \t");
		if (f->n == MOST_COLUMNS)
			return st_fail(e, ST_EXIT_FAILED, "line %zu of %s has more than %d columns",
			               r->number, r->path, MOST_COLUMNS);
		at = end_field(at, r->separator, &f->v[f->n]);
		trim_field(&f->v[f->n++]);
		if (r->separator == ' ' && at && !at[strspn(at, " \t\r\n")])
			at = NULL;
	}
	return ST_OK;
}

/* The next line that says something, without its end; false: there is none. */
static bool
next_line(struct csv_reader *r)
{
	while ((r->line = strsep(&r->rest, "\n"))) {
		r->number++;
		r->line[strcspn(r->line, "\r\n")] = 0;
		if (r->line[strspn(r->line, " \t")] && r->line[0] != '#')
			return true;
	}
	return false;
}

static char
separator_of(const char *line)
{
	static const char separators[] = "\t;,";
	for (const char *at = separators; *at; at++)
		if (strchr(line, *at))
			return *at;
	return ' ';
}

static bool
is_real(const char *text, double *value)
{
	const char *end;
	return !st_parse_real(text, value, &end) && !*end;
}

static bool
field_is_missing(const char *text)
{
	return !*text || !strcasecmp(text, "na") || !strcasecmp(text, "nan") ||
	       !strcasecmp(text, "null");
}

/* Whether the fields are names: one of them is no number. */
static bool
are_names(const struct fields *f)
{
	double value;
	for (size_t i = 0; i < f->n; i++)
		if (!is_real(f->v[i], &value) && !field_is_missing(f->v[i]))
			return true;
	return false;
}

static st_status
find_column(const struct csv_reader *r, const char *wanted, size_t usual, bool named,
            size_t *column, struct st_error *e)
{
	uint64_t number;
	*column = usual;
	for (size_t i = 0; wanted && named && i < r->fields.n; i++)
		if (!strcmp(r->fields.v[i], wanted)) {
			*column = i;
			return ST_OK;
		}
	if (wanted && !st_parse_whole(wanted, &number) && number >= 1 && number <= r->fields.n)
		*column = (size_t)number - 1;
	else if (wanted)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s has no column '%s'; its first line has %s, %s%s%s", r->path,
		               wanted, ST_COUNT(r->fields.n, "column", "columns"),
		               named ? "the first of them '" : "without names",
		               named ? r->fields.v[0] : "", named ? "'" : "");
	if (*column >= r->fields.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has one column only: a model needs two, x and y", r->path);
	return ST_OK;
}

static char *
name_of_column(const struct csv_reader *r, size_t column, bool named, const char *usual)
{
	return strdup(named && *r->fields.v[column] ? r->fields.v[column] : usual);
}

/* Of a line that is split. */
static st_status
take_point(struct st_csv *csv, const struct csv_reader *r, struct st_error *e)
{
	const struct fields *f = &r->fields;
	const size_t last = r->x > r->y ? r->x : r->y;
	double value[2];
	if (f->n <= last)
		return st_fail(e, ST_EXIT_FAILED, "line %zu of %s has %s, and %zu are needed",
		               r->number, r->path, ST_COUNT(f->n, "column", "columns"), last + 1);
	const char *const text[2] = {f->v[r->x], f->v[r->y]};
	for (int i = 0; i < 2; i++) {
		if (field_is_missing(text[i])) {
			csv->left_out++;
			return ST_OK;
		}
		if (!is_real(text[i], &value[i]))
			return st_fail(e, ST_EXIT_FAILED,
			               "line %zu of %s: '%.100s' is not a number", r->number,
			               r->path, text[i]);
	}
	size_t cap = csv->cap;
	double *x = st_vec_grow(csv->x, csv->n, &cap, sizeof *x);
	csv->x = x ? x : csv->x;
	double *y = x ? st_vec_grow(csv->y, csv->n, &csv->cap, sizeof *y) : NULL;
	csv->y = y ? y : csv->y;
	if (!x || !y)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the points of %s", r->path);
	csv->x[csv->n] = value[0];
	csv->y[csv->n++] = value[1];
	return ST_OK;
}

/* The first line: what the columns are, and whether it is a point itself. */
static st_status
read_csv_head(struct st_csv *csv, struct csv_reader *r, const char *x, const char *y,
              struct st_error *e)
{
	if (!next_line(r))
		return st_fail(e, ST_EXIT_FAILED, "%s has no line with columns", r->path);
	r->separator = separator_of(r->line);
	if (split_line(r, e))
		return ST_FAILED;
	const bool named = are_names(&r->fields);
	if (find_column(r, x, 0, named, &r->x, e) || find_column(r, y, 1, named, &r->y, e))
		return ST_FAILED;
	csv->x_name = name_of_column(r, r->x, named, "x");
	csv->y_name = name_of_column(r, r->y, named, "y");
	if (!csv->x_name || !csv->y_name)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the points of %s", r->path);
	return named ? ST_OK : take_point(csv, r, e);
}

st_status
st_csv_read(struct st_csv *csv, const char *path, const char *x, const char *y, struct st_error *e)
{
	struct st_error why;
	size_t n;
	struct csv_reader *r = calloc(1, sizeof *r);
	*csv = (struct st_csv){0};
	if (!r)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to read %s", path);
	r->path = strcmp(path, "-") ? path : "standard input";
	st_status status = ST_OK;
	if (st_whole_read(&r->text, &n, path, ST_WHOLE_DATA, &why))
		status = st_fail(e, ST_EXIT_FAILED, "cannot read '%s': %s", path, why.text);
	else if (strlen(r->text) < n)
		status = st_fail(e, ST_EXIT_FAILED, "%s is no text: it has a byte of 0", r->path);
	if (!status) {
		r->rest = st_after_byte_order_mark(r->text);
		status = read_csv_head(csv, r, x, y, e);
	}
	while (!status && next_line(r))
		status = split_line(r, e) || take_point(csv, r, e) ? ST_FAILED : ST_OK;
	free(r->text);
	free(r);
	return status;
}

void
st_csv_free(struct st_csv *csv)
{
	free(csv->x_name);
	free(csv->y_name);
	free(csv->x);
	free(csv->y);
	*csv = (struct st_csv){0};
}

struct st_points
st_csv_points(const struct st_csv *csv)
{
	return (struct st_points){.x = csv->x, .y = csv->y, .n = csv->n};
}
