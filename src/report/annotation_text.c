/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints annotations as a table in Markdown, and as a comment in C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "report/annotation.h"

enum { DIGITS = 4 };

/* Prints a cell. Characters with a meaning in Markdown are escaped. */
static void
annotation_cell(FILE *out, char *text)
{
	fputs("| ", out);
	for (const char *at = text; *at; at++) {
		if (strchr("|\\`*_", *at))
			putc('\\', out);
		putc(*at, out);
	}
	putc(' ', out);
}

/* These print a condition and a model as text; NULL: no memory. */
static char *
annotation_expr_text(const struct st_ann_expr *x)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	st_ann_expr_print(x, text.out, DIGITS);
	return st_text_end(&text);
}

static char *
annotation_model_text(const struct st_ann_model *m)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	st_ann_print_model(m, text.out, DIGITS);
	return st_text_end(&text);
}

static st_status
annotation_markdown_row(const struct st_ann_scope *s, const struct st_ann_model *m, FILE *out)
{
	char *condition = s->condition ? annotation_expr_text(s->condition) : strdup("always"),
	     *model = annotation_model_text(m);
	const st_status status = condition && model ? ST_OK : ST_FAILED;
	if (!status) {
		annotation_cell(out, condition);
		if (isnan(m->weight))
			fputs("| ", out);
		else
			fprintf(out, "| %.3g ", m->weight);
		annotation_cell(out, model);
		fprintf(out, "| %s ", m->class);
		if (isnan(m->r2))
			fputs("| ", out);
		else
			fprintf(out, "| %.4f ", m->r2);
		fprintf(out, "| %zu |\n", m->n);
	}
	free(condition);
	free(model);
	return status;
}

st_status
st_annotation_markdown(const struct st_ann_annotation *a, FILE *out)
{
	fprintf(out, "### %s of `%s`\n\n", a->metric, a->function);
	if (a->records)
		fprintf(out, "%s", ST_COUNT(a->records, "record", "records"));
	if (a->unit)
		fprintf(out, "%sin %s", a->records ? ", " : "", a->unit);
	fputs(a->records || a->unit ? ".\n\n" : "", out);
	for (size_t i = 0; i < a->declarations.n; i++) {
		const struct st_ann_declaration *d = &a->declarations.v[i];
		fprintf(out, "- `%s` is `%s`", d->name, d->path);
		if (!isnan(d->low))
			fprintf(out, ", observed from %.6g to %.6g", d->low, d->high);
		fprintf(out, d->also ? "; the records cannot tell it from %s\n" : "%s\n",
		        d->also ? d->also : "");
	}
	fputs(a->declarations.n ? "\n" : "", out);
	fputs("| condition | probability | model | class | R² | records |\n|-|-|-|-|-|-:|\n", out);
	for (size_t i = 0; i < a->scopes.n; i++)
		for (size_t k = 0; k < a->scopes.v[i].models.n; k++)
			if (annotation_markdown_row(&a->scopes.v[i], &a->scopes.v[i].models.v[k],
			                            out))
				return ST_FAILED;
	return ST_OK;
}

/* Prints lines of the language after asterisks; a blank in each asterisk and slash keeps the
 * comment open. */
st_status
st_annotation_comment(const struct st_ann_annotation *a, FILE *out)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return ST_FAILED;
	st_ann_print(a, text.out, DIGITS);
	char *v = st_text_end(&text), *rest = v;
	if (!v)
		return ST_FAILED;
	fputs("/*\n", out);
	for (char *line; (line = strsep(&rest, "\n"));) {
		if (!rest && !*line)
			break;
		fputs(" * ", out);
		for (const char *at = line; *at; at++) {
			putc(*at, out);
			if (*at == '*' && at[1] == '/')
				putc(' ', out);
		}
		putc('\n', out);
	}
	fputs(" */\n", out);
	free(v);
	return ST_OK;
}
