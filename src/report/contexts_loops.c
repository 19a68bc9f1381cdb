/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contexts_loops.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "report/report.h"

static double
mean_of(const struct st_loop *l)
{
	return l->entries ? (double)l->iterations / (double)l->entries : 0;
}

/* "1:4 2+:1 16+:3" */
static void
write_classes(const struct st_loop *l, bool commas, FILE *out)
{
	const char *between = "";
	for (unsigned i = 0; i < STROBE_LOOP_CLASSES; i++) {
		if (!l->classes[i])
			continue;
		if (commas)
			fprintf(out, "%s%s%s:%s", between, ST_NUMBER(1ul << i), i ? "+" : "",
			        ST_NUMBER(l->classes[i]));
		else
			fprintf(out, "%s%lu%s:%" PRIu64, between, 1ul << i, i ? "+" : "",
			        l->classes[i]);
		between = " ";
	}
}

void
st_loop_text(const struct st_loop *l, FILE *out)
{
	fprintf(out,
	        " entries=%" PRIu64 " iterations=%" PRIu64 " min=%" PRIu64 " mean=%.1f max=%" PRIu64
	        " ",
	        l->entries, l->iterations, l->least, mean_of(l), l->most);
	write_classes(l, false, out);
}

void
st_loop_xml(const struct st_loop *l, FILE *out)
{
	fprintf(out,
	        " entries=\"%" PRIu64 "\" iterations=\"%" PRIu64 "\" leastIterations=\"%" PRIu64
	        "\" mostIterations=\"%" PRIu64 "\" histogram=\"",
	        l->entries, l->iterations, l->least, l->most);
	write_classes(l, false, out);
	fputc('"', out);
}

void
st_loop_json(const struct st_loop *l, FILE *out)
{
	const char *between = "";
	fprintf(out,
	        ", \"loop\": {\"entries\": %" PRIu64 ", \"iterations\": %" PRIu64
	        ", \"min\": %" PRIu64 ", \"mean\": %.2f, \"max\": %" PRIu64 ", \"histogram\": [",
	        l->entries, l->iterations, l->least, mean_of(l), l->most);
	for (unsigned i = 0; i < STROBE_LOOP_CLASSES; i++) {
		if (!l->classes[i])
			continue;
		fprintf(out, "%s{\"from\": %lu, \"entries\": %" PRIu64 "}", between, 1ul << i,
		        l->classes[i]);
		between = ", ";
	}
	fputs("]}", out);
}

uint32_t
st_loop_next(const struct st_contexts *c, uint32_t i)
{
	while (i < c->n_labels && !c->labels[i].loop)
		i++;
	return i;
}

/* ---- for a terminal ---- */

struct row {
	uint32_t label;
	const struct st_loop *loop;
};

static int
contexts_loops_compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->loop->iterations != y->loop->iterations)
		return x->loop->iterations < y->loop->iterations ? 1 : -1;
	return x->label < y->label ? -1 : x->label > y->label;
}

static void
contexts_loops_write_row(const struct st_contexts *c, const struct row *row, FILE *out)
{
	const struct st_context_label *label = &c->labels[row->label];
	const struct st_loop *l = row->loop;
	fprintf(out, "  %15s  %13s  %10s  %10.1f  %13s  %s%+" PRId64, ST_NUMBER(l->iterations),
	        ST_NUMBER(l->entries), ST_NUMBER(l->least), mean_of(l), ST_NUMBER(l->most),
	        label->name, label->inside);
	if (label->file)
		fprintf(out, " (%s:%" PRIu32 ")", st_base_name(label->file), label->line);
	fputs("  ", out);
	write_classes(l, true, out);
	fputc('\n', out);
}

void
st_loop_table(const struct st_contexts *c, size_t top, FILE *out)
{
	struct row *rows = malloc((c->loops.n + 1) * sizeof *rows);
	size_t n = 0;
	for (uint32_t i = 0; rows && (i = st_loop_next(c, i)) < c->n_labels; i++)
		rows[n++] = (struct row){i, st_loop_at(c, c->labels[i].loop)};
	if (!n) {
		free(rows);
		return;
	}
	qsort(rows, n, sizeof *rows, contexts_loops_compare);
	fprintf(out, "\n  %15s  %13s  %10s  %10s  %13s  loop, entries by iterations\n",
	        "iterations", "entries", "min", "mean", "max");
	for (size_t i = 0; i < n && (!top || i < top); i++)
		contexts_loops_write_row(c, &rows[i], out);
	free(rows);
}
