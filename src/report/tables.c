/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tools' tables. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "report/fields.h"
#include "report/report.h"

/* In which order the columns are shown: what is counted before what it is counted by, whose last
 * name may be long. */
static size_t
shown_column(const struct st_profile_table *t, size_t i)
{
	size_t numbers = t->n_columns - t->n_keys;
	return i < numbers ? t->n_keys + i : i - numbers;
}

static void
add_cell(struct st_table *out, const struct st_profile *p, const struct st_profile_column *c,
         const struct st_profile_value *v)
{
	char *text = st_value_text(p, c, v);
	st_table_cell(out, "%s", text ? text : "");
	free(text);
}

static void
add_others(struct st_table *out, const struct st_profile *p, const struct st_profile_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		size_t c = shown_column(t, i);
		if (c >= t->n_keys)
			add_cell(out, p, &t->columns[c], &t->others[c]);
		else
			st_table_cell(out, "%s", c + 1 == t->n_keys ? "(others)" : "");
	}
}

static void
print_rows(const struct st_report *r, FILE *out, const struct st_profile_table *t,
           const uint32_t *order, size_t shown)
{
	struct st_table_column columns[STROBE_MOST_COLUMNS];
	char *titles[STROBE_MOST_COLUMNS];
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct st_profile_column *c = &t->columns[shown_column(t, i)];
		titles[i] = st_printable(c->name);
		columns[i].title = titles[i] ? titles[i] : "";
		columns[i].left =
		        c->role == STROBE_IS_KEY && st_profile_shape(c->type) != ST_VALUE_NUMBER;
	}
	struct st_table *table = st_table_new(columns, t->n_columns);
	for (size_t k = 0; k < shown; k++) {
		const struct st_profile_value *row =
		        t->values.v + (order ? order[k] : k) * t->n_columns;
		for (size_t i = 0; i < t->n_columns; i++) {
			size_t c = shown_column(t, i);
			add_cell(table, r->profile, &t->columns[c], &row[c]);
		}
	}
	if (t->has_others)
		add_others(table, r->profile, t);
	st_table_print(table, out, r->style);
	st_table_free(table);
	for (size_t i = 0; i < t->n_columns; i++)
		free(titles[i]);
}

static void
tables_print_table(const struct st_report *r, FILE *out, const struct st_profile_table *t,
                   const uint32_t *order)
{
	size_t n = st_profile_rows(t), shown = r->top && r->top < n ? r->top : n;
	char *name = st_printable(t->name), *help = st_printable(t->help);
	fprintf(out, "\n%s%s%s%s%s\n", r->style.colour ? "\033[1m" : "", name ? name : "",
	        r->style.colour ? "\033[0m" : "", help && *help ? ": " : "", help ? help : "");
	if (n || t->has_others)
		print_rows(r, out, t, order, shown);
	else
		fputs("  none\n", out);
	if (shown < n)
		fprintf(out, "  ... and %zu more (--table %s, --top)\n", n - shown,
		        name ? name : "");
	free(name);
	free(help);
}

void
st_report_tables(const struct st_report *r, FILE *out)
{
	for (size_t i = 0; i < r->profile->tables.n; i++)
		tables_print_table(r, out, &r->profile->tables.v[i], NULL);
}

static const char *
table_name(const void *tables, size_t i)
{
	return ((const struct st_profile_table *)tables)[i].name;
}

static const char *
column_name(const void *columns, size_t i)
{
	return ((const struct st_profile_column *)columns)[i].name;
}

/* What the message about an unknown name ends with: the nearest one, or all of them. malloc'ed. */
static char *
suggest(const char *word, const char *all, size_t n, const char *(*get)(const void *, size_t),
        const void *of)
{
	const char *near = st_nearest(word, n, get, of);
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	if (near)
		fprintf(out, "did you mean '%s'?", near);
	else
		fprintf(out, "its %s: ", all);
	for (size_t i = 0; !near && i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", get(of, i));
	char *text = st_text_end(&built), *clean = text ? st_printable(text) : NULL;
	free(text);
	return clean;
}

/* NULL, with *e, when there is none. */
static const struct st_profile_table *
tables_find_table(const struct st_profile *p, const char *name, struct st_error *e)
{
	for (size_t i = 0; i < p->tables.n; i++)
		if (!strcmp(p->tables.v[i].name, name))
			return &p->tables.v[i];
	char *rest = p->tables.n ? suggest(name, "tables", p->tables.n, table_name, p->tables.v)
	                         : strdup("its tool makes none");
	st_cause(e, ST_EXIT_USAGE, "the profile has no table '%s'; %s", name, rest ? rest : "");
	free(rest);
	return NULL;
}

struct sorting {
	const struct st_profile *p;
	const struct st_profile_table *t;
	size_t column;
};

static int
sorted_order(const void *a, const void *b, void *arg)
{
	const struct sorting *s = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct st_profile_column *c = &s->t->columns[s->column];
	const struct st_profile_value *x = &s->t->values.v[i * s->t->n_columns + s->column];
	const struct st_profile_value *y = &s->t->values.v[j * s->t->n_columns + s->column];
	int order = strcmp(x->text ? x->text : "", y->text ? y->text : "");
	if (!order && x->number != y->number) {
		bool less = c->type == STROBE_SIGNED ? (int64_t)x->number < (int64_t)y->number
		                                     : x->number < y->number;
		/* Counts: the greatest first; places: by offset. */
		order = less == (st_profile_shape(c->type) == ST_VALUE_NUMBER) ? 1 : -1;
	}
	return order ? order : (i > j) - (i < j);
}

/* The rows in the order of a column, NULL: as they are. 0, or -1 with *e. */
static st_status
order_rows(const struct st_profile *p, const struct st_profile_table *t, const char *column,
           uint32_t **order, struct st_error *e)
{
	struct sorting s = {p, t, 0};
	size_t n = st_profile_rows(t);
	*order = NULL;
	if (!column)
		return 0;
	while (s.column < t->n_columns && strcmp(t->columns[s.column].name, column))
		s.column++;
	if (s.column == t->n_columns) {
		char *rest = suggest(column, "columns", t->n_columns, column_name, t->columns);
		st_cause(e, ST_EXIT_USAGE, "the table %s has no column '%s'; %s", t->name, column,
		         rest ? rest : "");
		free(rest);
		return -1;
	}
	*order = calloc(n ? n : 1, sizeof **order);
	if (!*order)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to sort the table");
	for (size_t i = 0; i < n; i++)
		(*order)[i] = (uint32_t)i;
	qsort_r(*order, n, sizeof **order, sorted_order, &s);
	return 0;
}

static void
tables_csv_row(const struct st_profile *p, FILE *out, const struct st_profile_table *t,
               const struct st_profile_value *row, bool others)
{
	size_t first = st_first_address(t->columns, t->n_columns);
	struct st_field fields[ST_COLUMN_FIELDS];
	for (size_t c = 0; c < t->n_columns; c++) {
		bool known = row && !(others && c < t->n_keys);
		size_t n = st_fields(p, &t->columns[c], c == first, known ? &row[c] : NULL, fields);
		for (size_t i = 0; i < n; i++) {
			if (c || i)
				putc(',', out);
			if (row)
				st_field_csv(out, &fields[i]);
			else
				st_csv_text(out, fields[i].name);
		}
	}
	putc('\n', out);
}

static void
tables_print_csv(const struct st_report *r, FILE *out, const struct st_profile_table *t,
                 const uint32_t *order)
{
	size_t n = st_profile_rows(t), shown = r->top && r->top < n ? r->top : n;
	tables_csv_row(r->profile, out, t, NULL, false);
	for (size_t k = 0; k < shown; k++)
		tables_csv_row(r->profile, out, t,
		               t->values.v + (order ? order[k] : k) * t->n_columns, false);
	if (t->has_others)
		tables_csv_row(r->profile, out, t, t->others, true);
}

st_status
st_report_table(const struct st_report *r, FILE *out, const char *name, const char *sort,
                enum st_report_format format, struct st_error *e)
{
	const struct st_profile_table *t = tables_find_table(r->profile, name, e);
	uint32_t *order;
	int status = 0;
	if (!t && !strcmp(name, "overshoots") && r->profile->overshoots.n)
		return st_report_overshoots(r, out, format, e);
	if (!t && !strcmp(name, "qos") && r->profile->qos.source)
		return st_report_qos(r, out, format, e);
	if (!t || order_rows(r->profile, t, sort, &order, e))
		return -1;
	if (format == ST_FORMAT_CSV)
		tables_print_csv(r, out, t, order);
	else if (format == ST_FORMAT_JSON)
		status = st_report_json_table(r, out, t, order, e);
	else
		tables_print_table(r, out, t, order);
	free(order);
	return status;
}
