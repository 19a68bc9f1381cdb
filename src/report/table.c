/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "report/text.h"

struct st_table {
	const struct st_table_column *columns;
	size_t n_columns;
	ST_VEC(char *) cells;
};

struct st_table *
st_table_new(const struct st_table_column *columns, size_t n)
{
	struct st_table *t = calloc(1, sizeof *t);
	if (t) {
		t->columns = columns;
		t->n_columns = n;
	}
	return t;
}

void
st_table_free(struct st_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->cells.n; i++)
		free(t->cells.v[i]);
	free(t->cells.v);
	free(t);
}

void
st_table_cell(struct st_table *t, const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	if (!t)
		return;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	char **cell = ST_PUSH(&t->cells);
	if (cell && text)
		*cell = st_printable(text);
	free(text);
}

void
st_table_count(struct st_table *t, uint64_t value)
{
	char buffer[ST_NUMBER_SIZE];
	st_table_cell(t, "%s", st_number(buffer, value));
}

size_t
st_table_rows(const struct st_table *t)
{
	return t ? t->cells.n / t->n_columns : 0;
}

static size_t
column_width(const struct st_table *t, size_t column)
{
	size_t width = st_columns(t->columns[column].title);
	for (size_t i = column; i < t->cells.n; i += t->n_columns) {
		size_t n = t->cells.v[i] ? st_columns(t->cells.v[i]) : 0;
		width = n > width ? n : width;
	}
	return width;
}

static void
pad(FILE *out, size_t n)
{
	for (; n > 0; n--)
		putc(' ', out);
}

static void
table_print_cell(const struct st_table *t, FILE *out, size_t column, size_t width, const char *text)
{
	size_t n = st_columns(text), gap = width > n ? width - n : 0;
	fputs("  ", out);
	if (!t->columns[column].left)
		pad(out, gap);
	fputs(text, out);
	if (t->columns[column].left && column + 1 < t->n_columns)
		pad(out, gap);
}

/* Shortens a cell to `room` columns; of "name [image]" it is the name that gives way. */
static void
shorten_cell(char *text, size_t room)
{
	char *tail = strrchr(text, '[');
	size_t kept = tail && tail > text && tail[-1] == ' ' ? st_columns(--tail) : 0;
	if (!kept || kept > room / 2 || st_columns(text) <= room) {
		st_shorten(text, room);
		return;
	}
	char *copy = strdup(tail);
	if (!copy)
		return;
	*tail = '\0';
	st_shorten(text, room - kept);
	strcat(text, copy); /* fits: the text only got shorter */
	free(copy);
}

void
st_table_print(const struct st_table *t, FILE *out, struct st_style style)
{
	if (!t)
		return;
	size_t *widths = calloc(t->n_columns, sizeof *widths), used = 0, last = t->n_columns - 1;
	if (!widths)
		return;
	for (size_t c = 0; c < t->n_columns; c++) {
		widths[c] = column_width(t, c);
		used += c < last ? widths[c] + 2 : 2;
	}
	/* A name keeps at least this much, even if the row then wraps. */
	enum { LEAST = 16 };
	size_t room = style.width > used + LEAST ? style.width - used : LEAST;
	fputs(style.colour ? "\033[1m" : "", out);
	for (size_t c = 0; c < t->n_columns; c++)
		table_print_cell(t, out, c, widths[c], t->columns[c].title);
	fputs(style.colour ? "\033[0m\n" : "\n", out);
	for (size_t i = 0; i < t->cells.n; i++) {
		size_t c = i % t->n_columns;
		if (c == last && style.width && t->columns[c].left && t->cells.v[i])
			shorten_cell(t->cells.v[i], room);
		table_print_cell(t, out, c, widths[c], t->cells.v[i] ? t->cells.v[i] : "");
		if (c == last)
			putc('\n', out);
	}
	free(widths);
}
