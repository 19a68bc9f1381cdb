/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats of a table: text, Markdown, LaTeX, CSV, JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/fields.h"
#include "report/grid.h"
#include "report/json.h"

char *
st_grid_plain(const struct st_grid_cell *c)
{
	char buffer[ST_NUMBER_SIZE], *text = NULL;
	int n = 0;
	switch (c->kind) {
	case ST_GRID_TEXT:
		return strdup(c->text ? c->text : "");
	case ST_GRID_HEX:
		n = asprintf(&text, "0x%" PRIx64, c->number);
		break;
	case ST_GRID_COUNT:
		return strdup(st_number(buffer, c->number));
	case ST_GRID_SIGNED:
		n = asprintf(&text, "%s%s", (int64_t)c->number < 0 ? "-" : "",
		             st_number(buffer, (int64_t)c->number < 0 ? -c->number : c->number));
		break;
	case ST_GRID_REAL:
		if (isnan(c->real))
			return strdup("-");
		n = asprintf(&text, "%.6g", c->real);
		break;
	default:
		return strdup("");
	}
	return n < 0 ? NULL : text;
}

/* For people, malloc'ed. */
static char *
shown_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	if (g->text)
		return g->text(g, row, c);
	struct st_grid_cell cell;
	g->cell(g, row, c, &cell);
	return st_grid_plain(&cell);
}

char *
st_grid_title(const struct st_grid_column *c)
{
	const size_t length = strlen(c->name), without = c->timed ? strlen("_ns") : 0;
	return strndup(c->name, length > without ? length - without : length);
}

/* A row of the view; the others' comes last. */
static size_t
view_row(const struct st_grid_view *v, size_t i)
{
	return i < v->n ? v->rows[i] : v->grid->rows - 1;
}

static void
print_text_rows(const struct st_grid_view *v, const struct st_report *r, FILE *out)
{
	const size_t n = v->columns.n;
	struct st_table_column *columns = calloc(n, sizeof *columns);
	char **titles = calloc(n, sizeof *titles);
	for (size_t i = 0; columns && titles && i < n; i++) {
		char *title = st_grid_title(v->columns.v[i]);
		titles[i] = title ? st_printable(title) : NULL;
		free(title);
		columns[i] =
		        (struct st_table_column){titles[i] ? titles[i] : "", v->columns.v[i]->left};
	}
	struct st_table *table = columns && titles ? st_table_new(columns, n) : NULL;
	for (size_t k = 0; table && k < v->n + v->others; k++)
		for (size_t i = 0; i < n; i++) {
			char *text = shown_text(v->grid, view_row(v, k), v->columns.v[i]);
			st_table_cell(table, "%s", text ? text : "");
			free(text);
		}
	if (table)
		st_table_print(table, out, r->style);
	st_table_free(table);
	for (size_t i = 0; titles && i < n; i++)
		free(titles[i]);
	free(titles);
	free(columns);
}

static void
grid_print_text(const struct st_grid_view *v, const struct st_report *r, FILE *out)
{
	const struct st_grid *g = v->grid;
	char *name = st_printable(g->name), *help = st_printable(g->help ? g->help : "");
	fprintf(out, "\n%s%s%s%s%s\n", r->style.colour ? "\033[1m" : "", name ? name : "",
	        r->style.colour ? "\033[0m" : "", help && *help ? ": " : "", help ? help : "");
	if (v->n || v->others)
		print_text_rows(v, r, out);
	else
		fputs("  none\n", out);
	if (v->n < v->all && g->more)
		fprintf(out, "  ... and %s more (%s)\n", ST_NUMBER(v->all - v->n), g->more);
	else if (v->n < v->all)
		fprintf(out, "  ... and %s more (--table %s, --top)\n", ST_NUMBER(v->all - v->n),
		        name ? name : "");
	free(name);
	free(help);
}

static void
print_csv(const struct st_grid_view *v, FILE *out)
{
	for (size_t i = 0; i < v->columns.n; i++) {
		fputs(i ? "," : "", out);
		st_csv_text(out, v->columns.v[i]->name);
	}
	putc('\n', out);
	for (size_t k = 0; k < v->n + v->others; k++) {
		for (size_t i = 0; i < v->columns.n; i++) {
			struct st_grid_cell c;
			v->grid->cell(v->grid, view_row(v, k), v->columns.v[i], &c);
			fputs(i ? "," : "", out);
			if (c.kind == ST_GRID_TEXT)
				st_csv_text(out, c.text ? c.text : "");
			else if (c.kind == ST_GRID_HEX)
				fprintf(out, "0x%" PRIx64, c.number);
			else if (c.kind == ST_GRID_COUNT)
				fprintf(out, "%" PRIu64, c.number);
			else if (c.kind == ST_GRID_SIGNED)
				fprintf(out, "%" PRId64, (int64_t)c.number);
			else if (c.kind == ST_GRID_REAL && isfinite(c.real))
				fprintf(out, "%.17g", c.real);
		}
		putc('\n', out);
	}
}

static json_t *
grid_cell_json(const struct st_grid_cell *c)
{
	char hex[24];
	switch (c->kind) {
	case ST_GRID_TEXT:
		return c->text ? st_json_text(c->text) : json_null();
	case ST_GRID_HEX:
		snprintf(hex, sizeof hex, "0x%" PRIx64, c->number);
		return json_string(hex);
	case ST_GRID_COUNT:
		return st_json_count(c->number);
	case ST_GRID_SIGNED:
		return json_integer((json_int_t)c->number);
	case ST_GRID_REAL:
		return st_json_real(c->real);
	default:
		return json_null();
	}
}

static json_t *
grid_row_json(const struct st_grid_view *v, size_t k)
{
	json_t *row = json_object();
	for (size_t i = 0; i < v->columns.n; i++) {
		struct st_grid_cell c;
		v->grid->cell(v->grid, view_row(v, k), v->columns.v[i], &c);
		json_t *name = st_json_text(v->columns.v[i]->name);
		int bad = json_object_set_new(row, name ? json_string_value(name) : "?",
		                              grid_cell_json(&c));
		json_decref(name);
		if (bad) {
			json_decref(row);
			return NULL;
		}
	}
	if (k >= v->n)
		json_object_set_new(row, "others", json_true());
	return row;
}

static st_status
print_json(const struct st_grid_view *v, FILE *out, struct st_error *e)
{
	enum { ALL_DIGITS = JSON_INDENT(1) | JSON_REAL_PRECISION(17) };
	json_t *root = json_object(), *rows = json_array(), *name = st_json_text(v->grid->name);
	int bad = json_object_set_new(root, name ? json_string_value(name) : "?", rows);
	for (size_t k = 0; k < v->n + v->others && !bad; k++)
		bad = json_array_append_new(rows, grid_row_json(v, k));
	bad = bad || json_dumpf(root, out, ALL_DIGITS) || putc('\n', out) < 0;
	json_decref(name);
	json_decref(root);
	return bad ? st_fail(e, ST_EXIT_FAILED, "no memory left to write the table as JSON")
	           : ST_OK;
}

/* Escapes characters that have a meaning in Markdown or LaTeX. */
static void
print_escaped(FILE *out, const char *text, bool latex)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '\r')
			putc(' ', out);
		else if (latex && *text == '\\')
			fputs("\\textbackslash{}", out);
		else if (latex && *text == '~')
			fputs("\\textasciitilde{}", out);
		else if (latex && *text == '^')
			fputs("\\textasciicircum{}", out);
		else if (latex && strchr("<>", *text))
			fprintf(out, "\\text%s{}", *text == '<' ? "less" : "greater");
		else
			fprintf(out, "%s%c",
			        strchr(latex ? "#$%&_{}" : "\\`*_|<>[]", *text) ? "\\" : "", *text);
	}
}

static void
print_markup_row(const struct st_grid_view *v, FILE *out, size_t k, bool latex)
{
	fputs(latex ? "" : "|", out);
	for (size_t i = 0; i < v->columns.n; i++) {
		char *text = k == SIZE_MAX ? st_grid_title(v->columns.v[i])
		                           : shown_text(v->grid, view_row(v, k), v->columns.v[i]);
		fputs(latex ? i ? " & " : "" : " ", out);
		print_escaped(out, text ? text : "", latex);
		fputs(latex ? "" : " |", out);
		free(text);
	}
	fputs(latex ? " \\\\\n" : "\n", out);
}

static void
print_markdown(const struct st_grid_view *v, FILE *out)
{
	print_markup_row(v, out, SIZE_MAX, false);
	putc('|', out);
	for (size_t i = 0; i < v->columns.n; i++)
		fputs(v->columns.v[i]->left ? " --- |" : " --: |", out);
	putc('\n', out);
	for (size_t k = 0; k < v->n + v->others; k++)
		print_markup_row(v, out, k, false);
}

static void
print_latex(const struct st_grid_view *v, FILE *out)
{
	fputs("\\begin{tabular}{", out);
	for (size_t i = 0; i < v->columns.n; i++)
		putc(v->columns.v[i]->left ? 'l' : 'r', out);
	fputs("}\n\\hline\n", out);
	print_markup_row(v, out, SIZE_MAX, true);
	fputs("\\hline\n", out);
	for (size_t k = 0; k < v->n + v->others; k++)
		print_markup_row(v, out, k, true);
	fputs("\\hline\n\\end{tabular}\n", out);
}

st_status
st_grid_print(const struct st_grid_view *v, const struct st_report *r, FILE *out,
              enum st_report_format format, struct st_error *e)
{
	if (format == ST_FORMAT_JSON)
		return print_json(v, out, e);
	if (format == ST_FORMAT_CSV)
		print_csv(v, out);
	else if (format == ST_FORMAT_MARKDOWN)
		print_markdown(v, out);
	else if (format == ST_FORMAT_LATEX)
		print_latex(v, out);
	else
		grid_print_text(v, r, out);
	return ST_OK;
}
