/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differences of contexts as JSON, written as it goes. docs/json.md is its description. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/contexts.h"
#include "report/contexts_diff.h"
#include "report/json.h"

enum { VERSION = 1 };

static void
write_side(const struct st_diff_report *r, const struct st_diff_rows *rows, int side, FILE *out)
{
	const struct st_profile *p = r->comparison->sides[side]->profile;
	fprintf(out, ",\n\"%c\": {\"file\": ", side == ST_A ? 'a' : 'b');
	st_json_print(r->names[side], out);
	fputs(", \"command\": [", out);
	for (size_t i = 0; i < p->run.command.n; i++) {
		fputs(i ? ", " : "", out);
		st_json_print(p->run.command.v[i], out);
	}
	fprintf(out, "], \"contexts\": %zu, \"whole\": %" PRIu64 "}",
	        r->comparison->n_contexts[side], rows->whole[side]);
}

static void
write_label(const struct st_comparison *c, const struct st_context_label *l, FILE *out)
{
	fputs("{\"name\": ", out);
	st_contexts_json_name(c->sides[ST_A], l, out);
	if (l->image) {
		fputs(", \"image\": ", out);
		st_json_print(l->image, out);
	}
	fputs("}", out);
}

static void
contexts_diff_json_write_path(const struct st_comparison *c, const struct st_diff_row *row,
                              uint32_t *path, FILE *out)
{
	const struct st_forest *f = &row->trees->forest;
	uint32_t n = 0;
	for (uint32_t node = row->node; node != ST_NO_NODE; node = f->nodes[node].parent)
		path[n++] = f->nodes[node].label;
	fputs("\"path\": [", out);
	while (n-- > 0) {
		write_label(c, c->labels[path[n]], out);
		fputs(n ? ", " : "]", out);
	}
}

static void
contexts_diff_json_write_row(const struct st_diff_report *r, const struct st_diff_rows *rows,
                             const struct st_diff_row *row, FILE *out)
{
	uint64_t a = st_diff_value(r, row, ST_A), b = st_diff_value(r, row, ST_B);
	if (row->trees->thread != UINT32_MAX)
		fprintf(out, ", \"thread\": %" PRIu32, row->trees->thread + 1);
	fprintf(out,
	        ", \"state\": \"%s\", \"a\": %" PRIu64 ", \"b\": %" PRIu64
	        ", \"change\": %s%" PRIu64,
	        st_diff_state(row), a, b, b < a ? "-" : "", b < a ? a - b : b - a);
	if (a)
		fprintf(out, ", \"relative\": %.17g", ((double)b - (double)a) / (double)a);
	else
		fputs(", \"relative\": null", out);
	fprintf(out, ", \"share_a\": %.17g, \"share_b\": %.17g}", st_diff_share(r, rows, row, ST_A),
	        st_diff_share(r, rows, row, ST_B));
}

static st_status
write_rows(const struct st_diff_report *r, const struct st_diff_rows *rows, FILE *out)
{
	const struct st_comparison *c = r->comparison;
	size_t n = r->top && r->top < rows->n ? r->top : rows->n, longest = 0;
	for (size_t i = 0; i < c->trees.n; i++)
		longest = c->trees.v[i].forest.n > longest ? c->trees.v[i].forest.n : longest;
	uint32_t *path = malloc((longest + 1) * sizeof *path);
	for (size_t i = 0; path && i < n; i++) {
		fputs(i ? ",\n{" : "\n{", out);
		contexts_diff_json_write_path(c, &rows->v[i], path, out);
		contexts_diff_json_write_row(r, rows, &rows->v[i], out);
	}
	free(path);
	return path ? 0 : -1;
}

st_status
st_diff_json(const struct st_diff_report *r, FILE *out, struct st_error *e)
{
	const struct st_comparison *c = r->comparison;
	struct st_diff_rows rows;
	char k[16];
	if (st_diff_list(r, &rows, e))
		return -1;
	bool infinite = c->sides[ST_A]->k == (uint32_t)ST_K_INFINITE;
	fprintf(out,
	        "{\"strobe\": {\"version\": %d, \"diff\": %d}, \"mode\": \"%s\", \"k\": ", VERSION,
	        VERSION, st_contexts_mode(c->sides[ST_A]));
	fprintf(out, infinite ? "\"%s\"" : "%s", st_contexts_k(c->sides[ST_A], k));
	fprintf(out, ", \"forest\": \"%s\", \"metric\": \"%s\"", c->kccf ? "kccf" : "ksf",
	        st_diff_metric_name(r->metric));
	write_side(r, &rows, ST_A, out);
	write_side(r, &rows, ST_B, out);
	fprintf(out,
	        ",\n\"appeared\": %zu, \"vanished\": %zu, \"same\": %zu, \"differ\": %zu,\n"
	        "\"contexts\": [",
	        rows.appeared, rows.vanished, rows.same, rows.n);
	int status = write_rows(r, &rows, out);
	fputs("]}\n", out);
	free(rows.v);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to compare the contexts") : 0;
}
