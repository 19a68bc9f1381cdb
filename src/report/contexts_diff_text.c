/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differences of contexts for people: a table, the largest first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "report/contexts_diff.h"
#include "report/report.h"

static const char *const titles[] = {
#define M(id, word, field, total, title) title,
        ST_DIFF_METRICS(M)
#undef M
};

/* ---- what is compared ---- */

static void
contexts_diff_text_print_command(const struct st_profile *p, FILE *out)
{
	for (size_t i = 0; i < p->run.command.n; i++) {
		char *word = st_printable(p->run.command.v[i]);
		fprintf(out, "%s%s", i ? " " : "", word ? word : "");
		free(word);
	}
}

/* Milliseconds, as the table of hot contexts has them, or a number. */
static const char *
amount(const struct st_diff_report *r, char text[ST_NUMBER_SIZE], uint64_t value)
{
	if (r->metric != ST_DIFF_TIME && r->metric != ST_DIFF_TOTAL_TIME)
		return st_number(text, value);
	snprintf(text, ST_NUMBER_SIZE, "%.3f ms", (double)value / 1e6);
	return text;
}

/* The unit of a number: of one, or of several. */
static const char *
contexts_diff_text_unit(const struct st_diff_report *r, bool one)
{
	switch (r->metric) {
	case ST_DIFF_TIME:
	case ST_DIFF_TOTAL_TIME:
		return "";
	case ST_DIFF_COUNT:
		if (r->comparison->sides[ST_A]->sampled)
			return one ? " sample" : " samples";
		return one ? " activation" : " activations";
	default:
		return one ? " instruction" : " instructions";
	}
}

static void
print_side(const struct st_diff_report *r, const struct st_diff_rows *rows, int side, FILE *out)
{
	const struct st_comparison *c = r->comparison;
	char number[ST_NUMBER_SIZE];
	fprintf(out, "  %c: %s: ", side == ST_A ? 'A' : 'B', r->names[side]);
	contexts_diff_text_print_command(c->sides[side]->profile, out);
	fprintf(out, "; %s, %s%s\n", ST_COUNT(c->n_contexts[side], "context", "contexts"),
	        amount(r, number, rows->whole[side]),
	        contexts_diff_text_unit(r, rows->whole[side] == 1));
}

/* ---- the table ---- */

/* The last labels of the path; in the k-calling context forest callers come last. */
static char *
contexts_diff_text_path_of(const struct st_comparison *c, const struct st_diff_row *row)
{
	enum { MOST = 6 };
	const struct st_forest *f = &row->trees->forest;
	bool blocks = c->sides[ST_A]->mode != ST_CONTEXT_FUNC;
	uint32_t path[MOST], n = 0, node = row->node;
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	for (; node != ST_NO_NODE && n < MOST; node = f->nodes[node].parent)
		path[n++] = f->nodes[node].label;
	if (row->trees->thread != UINT32_MAX)
		fprintf(out, "thread %" PRIu32 ": ", row->trees->thread + 1);
	if (node != ST_NO_NODE)
		fputs(c->kccf ? ".. < " : ".. > ", out);
	while (n-- > 0) {
		const struct st_context_label *l = c->labels[path[n]];
		fputs(l->name, out);
		if (blocks && !l->root)
			fprintf(out, "+%" PRIu64, l->inside);
		if (n)
			fputs(c->kccf ? " < " : " > ", out);
	}
	return st_text_end(&built);
}

static void
add_change(struct st_table *t, const struct st_diff_report *r, uint64_t a, uint64_t b)
{
	char number[ST_NUMBER_SIZE];
	st_table_cell(t, "%c%s", b < a ? '-' : '+', amount(r, number, b < a ? a - b : b - a));
}

static void
add_relative(struct st_table *t, const struct st_diff_row *row, uint64_t a, uint64_t b)
{
	const char *state = st_diff_state(row);
	if (strcmp(state, "changed") != 0)
		st_table_cell(t, "%s", *state == 'a' ? "new" : "gone");
	else if (!a)
		st_table_cell(t, "-");
	else
		st_table_cell(t, "%+.1f%%", 100 * ((double)b - (double)a) / (double)a);
}

static void
contexts_diff_text_add_row(struct st_table *t, const struct st_diff_report *r,
                           const struct st_diff_rows *rows, const struct st_diff_row *row)
{
	uint64_t a = st_diff_value(r, row, ST_A), b = st_diff_value(r, row, ST_B);
	char number[ST_NUMBER_SIZE];
	char *path = contexts_diff_text_path_of(r->comparison, row);
	if (r->shares)
		st_table_cell(t, "%+.2f", 100 * row->change);
	else
		add_change(t, r, a, b);
	add_relative(t, row, a, b);
	for (int side = 0; side < ST_SIDES; side++)
		if (r->shares)
			st_table_cell(t, "%.2f%%", 100 * st_diff_share(r, rows, row, side));
		else
			st_table_cell(t, "%s", amount(r, number, side == ST_A ? a : b));
	st_table_cell(t, "%s", path ? path : "");
	free(path);
}

static st_status
contexts_diff_text_print_table(const struct st_diff_report *r, const struct st_diff_rows *rows,
                               FILE *out, struct st_error *e)
{
	char title[128];
	const bool samples = r->metric == ST_DIFF_COUNT && r->comparison->sides[ST_A]->sampled;
	snprintf(title, sizeof title, "contexts, by %s%s", samples ? "samples" : titles[r->metric],
	         r->shares ? ", as a share of all" : "");
	const struct st_table_column columns[] = {
	        {"change", false}, {"%", false}, {"A", false}, {"B", false}, {title, true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	size_t n = r->top && r->top < rows->n ? r->top : rows->n;
	if (!t)
		return st_fail(e, ST_EXIT_FAILED, "no memory left to compare the contexts");
	for (size_t i = 0; i < n; i++)
		contexts_diff_text_add_row(t, r, rows, &rows->v[i]);
	fputc('\n', out);
	st_table_print(t, out, r->style);
	st_table_free(t);
	if (n < rows->n)
		fprintf(out, "  ... and %s more (--hot)\n", ST_NUMBER(rows->n - n));
	return 0;
}

st_status
st_diff_print(const struct st_diff_report *r, FILE *out, struct st_error *e)
{
	const struct st_comparison *c = r->comparison;
	struct st_diff_rows rows;
	size_t all = 0;
	int status = 0;
	if (st_diff_list(r, &rows, e))
		return -1;
	print_side(r, &rows, ST_A, out);
	print_side(r, &rows, ST_B, out);
	for (size_t i = 0; i < c->trees.n; i++)
		all += c->trees.v[i].forest.n;
	fprintf(out, "  %s appeared, %s vanished, %s changed, %s did not change\n",
	        ST_COUNT(rows.appeared, "context", "contexts"), ST_NUMBER(rows.vanished),
	        ST_NUMBER(all - rows.appeared - rows.vanished - rows.same), ST_NUMBER(rows.same));
	if (rows.n)
		status = contexts_diff_text_print_table(r, &rows, out, e);
	free(rows.v);
	return status;
}
