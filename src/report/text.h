/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text for people: numbers, names, tables, and what the terminal can show. */
#ifndef STROBE_REPORT_TEXT_H
#define STROBE_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/number.h"
#include "base/text.h"

/* The properties of an output stream. */
struct st_style {
	size_t width; /* columns; 0: no limit */
	bool colour;
};

/* Of a terminal its width, and colour unless NO_COLOR or TERM=dumb say otherwise; else neither. */
struct st_style st_style_of(FILE *stream);

/* A malloc'ed copy without control characters and marks of the direction of writing, which could
 * play tricks on a terminal. NULL: no memory. */
char *st_printable(const char *text);
/* Prints text of several lines, and of strobe's own colours, without any others; it is changed. */
void st_print_safely(FILE *out, char *text);
/* JSON, in which such characters are escaped. */
void st_print_json_safely(FILE *out, const char *text);
/* A stream in between: what is written to it reaches `to` at the end, printed safely. NULL: no
 * memory. */
struct st_safe {
	FILE *to;
	struct st_text text;
};
FILE *st_safe_begin(struct st_safe *s, FILE *to);
void st_safe_end(struct st_safe *s);
/* Text for a cell of a table in Markdown: markup is escaped, and no user is mentioned. */
void st_put_markdown(const char *text, FILE *out);
/* Columns a text takes on a terminal, one for each character. */
size_t st_columns(const char *text);
/* Shortens text in place to at most `columns` columns, "..." at its end. */
void st_shorten(char *text, size_t columns);

/* A table: cells are added in the order of the columns, row by row; printed, then freed by the
 * caller. */
struct st_table;
struct st_table_column {
	const char *title;
	bool left; /* else right-aligned. The last column, if left-aligned, gives way when a row is
	              too long */
};
struct st_table *st_table_new(const struct st_table_column *columns, size_t n);
void st_table_free(struct st_table *t);
__attribute__((format(printf, 2, 3))) void st_table_cell(struct st_table *t, const char *format,
                                                         ...);
void st_table_count(struct st_table *t, uint64_t value);
size_t st_table_rows(const struct st_table *t);
void st_table_print(const struct st_table *t, FILE *out, struct st_style style);

#endif
