/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a stream, printed as they are read: there can be very many. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/fields.h"
#include "report/json.h"
#include "rows/rowfile.h"

enum { PAGE = 1000 }; /* rows under one heading */

static void
csv_heading(const struct st_profile *p, const struct st_profile_table *s, FILE *out)
{
	size_t first = st_first_address(s->columns, s->n_columns);
	struct st_field fields[ST_COLUMN_FIELDS];
	fputs("pid,tid", out);
	for (size_t c = 0; c < s->n_columns; c++) {
		size_t n = st_fields(p, &s->columns[c], c == first, NULL, fields);
		for (size_t i = 0; i < n; i++) {
			putc(',', out);
			st_csv_text(out, fields[i].name);
		}
	}
	putc('\n', out);
}

static void
rows_csv_row(const struct st_profile *p, const struct st_profile_table *s,
             const struct st_row_shown *row, FILE *out)
{
	size_t first = st_first_address(s->columns, s->n_columns);
	struct st_field fields[ST_COLUMN_FIELDS];
	fprintf(out, "%" PRId64 ",%" PRId64, row->pid, row->tid);
	for (size_t c = 0; c < s->n_columns; c++) {
		size_t n = st_fields(p, &s->columns[c], c == first, &row->values[c], fields);
		for (size_t i = 0; i < n; i++) {
			putc(',', out);
			st_field_csv(out, &fields[i]);
		}
	}
	putc('\n', out);
}

/* A line with one object. */
static void
json_row(const struct st_profile *p, const struct st_profile_table *s,
         const struct st_row_shown *row, FILE *out)
{
	json_t *object = st_json_row(p, s->columns, s->n_columns, row->values, 0);
	/* Without memory the line is empty. */
	if (!json_object_set_new(object, "pid", json_integer(row->pid)) &&
	    !json_object_set_new(object, "tid", json_integer(row->tid)))
		json_dumpf(object, out, JSON_COMPACT);
	putc('\n', out);
	json_decref(object);
}

/* Whether the rows themselves say of which thread they are. */
static bool
has_thread(const struct st_profile_table *s)
{
	for (size_t c = 0; c < s->n_columns; c++)
		if (s->columns[c].type == STROBE_THREAD)
			return true;
	return false;
}

struct page {
	struct st_table_column columns[STROBE_MOST_COLUMNS + 1];
	char *titles[STROBE_MOST_COLUMNS];
	struct st_table *table;
};

static void
begin_page(struct page *page, const struct st_profile_table *s)
{
	size_t before = !has_thread(s);
	page->columns[0] = (struct st_table_column){"thread", false};
	for (size_t c = 0; c < s->n_columns; c++) {
		if (!page->titles[c])
			page->titles[c] = st_printable(s->columns[c].name);
		page->columns[before + c].title = page->titles[c] ? page->titles[c] : "";
		page->columns[before + c].left =
		        st_profile_shape(s->columns[c].type) != ST_VALUE_NUMBER;
	}
	page->table = st_table_new(page->columns, s->n_columns + before);
}

static void
end_page(struct page *page, FILE *out, struct st_style style)
{
	if (page->table && st_table_rows(page->table))
		st_table_print(page->table, out, style);
	st_table_free(page->table);
	page->table = NULL;
}

static void
text_row(const struct st_profile *p, const struct st_profile_table *s,
         const struct st_row_shown *row, struct page *page)
{
	if (!has_thread(s))
		st_table_cell(page->table, "%" PRId64, row->tid);
	for (size_t c = 0; c < s->n_columns; c++) {
		char *text = st_value_text(p, &s->columns[c], &row->values[c]);
		st_table_cell(page->table, "%s", text ? text : "");
		free(text);
	}
}

static st_status
rows_finish(FILE *out, struct st_error *e)
{
	if (!fflush(out) && !ferror(out))
		return 0;
	return st_fail(e, ST_EXIT_FAILED, "cannot write the rows: %s", strerror(errno));
}

st_status
st_report_rows(struct st_row_reader *reader, FILE *out, enum st_report_format format, uint64_t top,
               struct st_style style, struct st_error *e)
{
	const struct st_profile_table *s = st_row_reader_stream(reader);
	const struct st_profile *p = st_row_reader_profile(reader);
	struct st_row_shown row;
	struct page page = {0};
	uint64_t n = 0;
	int more = 1;
	if (format == ST_FORMAT_CSV)
		csv_heading(p, s, out);
	while ((!top || n < top) && !ferror(out) &&
	       (more = st_row_reader_next(reader, &row, e)) > 0) {
		if (format == ST_FORMAT_TEXT && n % PAGE == 0) {
			end_page(&page, out, style);
			begin_page(&page, s);
		}
		n++;
		if (format == ST_FORMAT_CSV)
			rows_csv_row(p, s, &row, out);
		else if (format == ST_FORMAT_JSON)
			json_row(p, s, &row, out);
		else
			text_row(p, s, &row, &page);
	}
	end_page(&page, out, style);
	for (size_t c = 0; c < s->n_columns; c++)
		free(page.titles[c]);
	uint64_t all = st_row_reader_rows(reader);
	if (format == ST_FORMAT_TEXT && n < all && more > 0)
		fprintf(out, "  ... and %s more (--top, --all)\n", ST_NUMBER(all - n));
	int failed = rows_finish(out, e);
	return more < 0 || failed ? -1 : 0;
}
