/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints annotations as text (docs/annotations.md), which prints as the same text when it has been
 * read again. */
#include <math.h>
#include <string.h>

#include "annotate/annotation.h"

/* The notes at the end of a line: "//: n 12; r2 0.9". */
struct ann_notes {
	FILE *out;
	int digits;
	bool begun;
};

static void
ann_note_begin(struct ann_notes *notes, const char *key)
{
	fprintf(notes->out, notes->begun ? "; %s" : " //: %s", key);
	notes->begun = true;
}

static void
ann_note_number(struct ann_notes *notes, const char *key, double value)
{
	if (isnan(value))
		return;
	ann_note_begin(notes, key);
	putc(' ', notes->out);
	st_ann_number_print(value, notes->out, notes->digits);
}

static void
ann_note_text(struct ann_notes *notes, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	ann_note_begin(notes, key);
	fprintf(notes->out, " %s", value);
}

static void
ann_model_notes(const struct st_ann_model *m, FILE *out, int digits)
{
	struct ann_notes notes = {out, digits, false};
	ann_note_text(&notes, "class", m->class);
	if (m->n)
		ann_note_number(&notes, "n", (double)m->n);
	ann_note_number(&notes, "r2", m->r2);
	ann_note_number(&notes, "r2_cv", m->r2_cv);
	ann_note_number(&notes, "fit_p", m->fit_p);
	if (m->selection != ST_ANN_PLAIN) {
		ann_note_text(&notes, "selection", st_ann_selection_name(m->selection));
		ann_note_number(&notes, "dropped", m->dropped);
	}
	ann_note_text(&notes, "branch", m->branches);
	if (m->se.n)
		ann_note_begin(&notes, "se");
	for (size_t i = 0; i < m->se.n; i++) {
		putc(' ', out);
		st_ann_number_print(m->se.v[i], out, digits);
	}
}

void
st_ann_print_model(const struct st_ann_model *m, FILE *out, int digits)
{
	if (m->distribution == ST_ANN_POINT) {
		st_ann_expr_print(m->a, out, digits);
		return;
	}
	fprintf(out, "%s(", st_ann_distribution_word(m->distribution));
	st_ann_expr_print(m->a, out, digits);
	if (m->b) {
		fputs(", ", out);
		st_ann_expr_print(m->b, out, digits);
	}
	putc(')', out);
}

static void
ann_print_model_line(const struct st_ann_model *m, FILE *out, int digits)
{
	if (!isnan(m->weight)) {
		putc('{', out);
		st_ann_number_print(m->weight, out, digits);
		fputs("} ", out);
	}
	st_ann_print_model(m, out, digits);
	putc(';', out);
	ann_model_notes(m, out, digits);
	putc('\n', out);
}

static void
ann_print_scope(const struct st_ann_scope *s, FILE *out, int digits)
{
	const bool block = s->condition && s->models.n && !isnan(s->models.v[0].weight);
	if (s->condition) {
		fputs("\t[", out);
		st_ann_expr_print(s->condition, out, digits);
		fputs(block ? "] {\n" : "] ", out);
	}
	for (size_t i = 0; i < s->models.n; i++) {
		fputs(block ? "\t\t" : s->condition ? "" : "\t", out);
		ann_print_model_line(&s->models.v[i], out, digits);
	}
	if (block)
		fputs("\t}\n", out);
}

static void
ann_print_declaration(const struct st_ann_declaration *d, FILE *out, int digits)
{
	struct ann_notes notes = {out, digits, false};
	fprintf(out, "\t%s %s = %s;", d->type, d->name, d->path);
	if (!isnan(d->low)) {
		ann_note_number(&notes, "range", d->low);
		putc(' ', out);
		st_ann_number_print(d->high, out, digits);
	}
	ann_note_text(&notes, "also", d->also);
	putc('\n', out);
}

static void
ann_print_head(const struct st_ann_annotation *a, FILE *out)
{
	const bool quoted = strpbrk(a->function, " \t(){}\"\\;,/") || !*a->function;
	if (quoted)
		putc('"', out);
	for (const char *at = a->function; *at; at++) {
		if (quoted && (*at == '"' || *at == '\\'))
			putc('\\', out);
		putc(*at, out);
	}
	fprintf(out, "%s.%s(", quoted ? "\"" : "", a->metric);
	for (size_t i = 0; i < a->parameters.n; i++)
		fprintf(out, i ? ", %s" : "%s", a->parameters.v[i]);
	fputs(") {\n", out);
}

static void
ann_print_note_line(FILE *out, const char *key, const char *value)
{
	if (value && *value)
		fprintf(out, "//: %s %s\n", key, value);
}

void
st_ann_print(const struct st_ann_annotation *a, FILE *out, int digits)
{
	ann_print_note_line(out, "image", a->image);
	ann_print_note_line(out, "unit", a->unit);
	ann_print_note_line(out, "date", a->date);
	ann_print_note_line(out, "note", a->note);
	if (a->records)
		fprintf(out, "//: records %zu\n", a->records);
	if (a->processes > 1 && !isnan(a->between)) {
		fprintf(out, "//: processes %zu ", a->processes);
		st_ann_number_print(a->between, out, digits);
		putc('\n', out);
	}
	if (a->pace > 0) {
		fputs("//: pace ", out);
		st_ann_number_print(a->pace, out, digits);
		putc('\n', out);
	}
	if (!isnan(a->overhead)) {
		fputs("//: overhead ", out);
		st_ann_number_print(a->overhead, out, digits);
		putc('\n', out);
	}
	ann_print_head(a, out);
	for (size_t i = 0; i < a->declarations.n; i++)
		ann_print_declaration(&a->declarations.v[i], out, digits);
	for (size_t i = 0; i < a->scopes.n; i++)
		ann_print_scope(&a->scopes.v[i], out, digits);
	fputs("}\n", out);
}

void
st_ann_print_file(const struct st_ann_file *f, FILE *out)
{
	for (size_t i = 0; i < f->list.n; i++) {
		if (i)
			putc('\n', out);
		st_ann_print(&f->list.v[i], out, 0);
	}
}
