/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/mem.h"
#include "report/text.h"

static const char *const metric_names[] = {
#define M(id, word, help) [ST_MEM_##id] = (word),
        ST_MEM_METRICS(M)
#undef M
};

const char *
st_mem_metric_name(enum st_mem_metric metric)
{
	return metric_names[metric];
}

bool
st_mem_metric_named(const char *name, enum st_mem_metric *metric)
{
	for (unsigned i = 0; i < sizeof metric_names / sizeof *metric_names; i++)
		if (!strcmp(name, metric_names[i])) {
			*metric = (enum st_mem_metric)i;
			return true;
		}
	return false;
}

enum st_mem_metric
st_mem_usual_metric(const struct st_profile *p)
{
	const char *tool = st_mem_tool(p);
	return tool && strcmp(tool, ST_MEM_TOOL) != 0 ? ST_MEM_CALLS : ST_MEM_PEAK;
}

uint64_t
st_mem_value(const struct st_mem_context *c, enum st_mem_metric metric)
{
	switch (metric) {
	case ST_MEM_LIVE:
		return c->live;
	case ST_MEM_TOTAL:
		return c->bytes;
	case ST_MEM_CALLS:
		return c->calls;
	default:
		return c->peak;
	}
}

/* ---- totals ---- */

static void
print_peak_time(const struct st_mem *m, FILE *out)
{
	char from[ST_NUMBER_SIZE], to[ST_NUMBER_SIZE];
	if (m->peak_to_ns)
		fprintf(out, " (between %s and %s)", st_duration(from, (int64_t)m->peak_from_ns),
		        st_duration(to, (int64_t)m->peak_to_ns));
}

static void
print_domain(const struct st_mem *m, bool mapped, FILE *out)
{
	const struct st_mem_totals *t = &m->totals[mapped ? ST_ALLOC_MAPPED : ST_ALLOC_HEAP];
	char a[ST_NUMBER_SIZE], b[ST_NUMBER_SIZE];
	if (!t->calls && mapped)
		return;
	fprintf(out, "\n  %s  peak %s", mapped ? "mapped" : "heap  ",
	        ST_COUNT(t->peak, "byte", "bytes"));
	if (!mapped)
		print_peak_time(m, out);
	fprintf(out, ", %s of %s in all\n", ST_COUNT(t->calls, "allocation", "allocations"),
	        ST_COUNT(t->bytes, "byte", "bytes"));
	fprintf(out, "          never freed: %s of %s", ST_COUNT(t->live_blocks, "block", "blocks"),
	        ST_COUNT(t->live, "byte", "bytes"));
	if (t->in_place || t->moved)
		fprintf(out, "; reallocations: %s in place, %s moved", st_number(a, t->in_place),
		        st_number(b, t->moved));
	if (t->failed)
		fprintf(out, "; %s", ST_COUNT(t->failed, "call failed", "calls failed"));
	fputc('\n', out);
}

static void
print_notes(const struct st_mem *m, FILE *out)
{
	if (m->missed)
		fprintf(out,
		        "\n  note: %s not counted: made in a signal handler that interrupted the "
		        "counting, or there was no room\n",
		        ST_COUNT(m->missed, "call was", "calls were"));
	if (m->cut)
		fprintf(out,
		        "\n  note: the callers of %s are not all known: code without unwind "
		        "information, or calls nested more than %d deep\n",
		        ST_COUNT(m->cut, "allocation", "allocations"), ST_ALLOC_DEPTH);
}

/* ---- sites ---- */

struct order {
	const struct st_mem_sites *sites;
	enum st_mem_metric metric;
};

static int
by_metric(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct st_mem_site_row *x = &o->sites->rows.v[i], *y = &o->sites->rows.v[k];
	const uint64_t v = st_mem_value(&x->sum, o->metric), w = st_mem_value(&y->sum, o->metric);
	if (v != w)
		return v < w ? 1 : -1;
	return (i > k) - (i < k);
}

static void
mem_text_place(const struct st_mem_frame *f, FILE *out)
{
	char *name = st_printable(f->function);
	fputs(name ? name : "?", out);
	if (*f->file)
		fprintf(out, " (%s:%" PRIu32 ")", st_base_name(f->file), f->line);
	else if (*f->image)
		fprintf(out, " [%s]", st_base_name(f->image));
	free(name);
}

static bool
is_mem_site_of(const struct st_mem *m, const struct st_mem_site_row *row,
               const struct st_mem_context *c)
{
	const struct st_mem_frame *a = &m->frames.v[row->frame],
	                          *b = &m->frames.v[st_mem_site(m, c)];
	return row->mapped == c->mapped && a->line == b->line &&
	       !strcmp(a->function, b->function) && !strcmp(a->file, b->file) &&
	       !strcmp(a->image, b->image) && (a->line || a->offset == b->offset);
}

/* The paths of a site, the greatest first; contexts are ordered by their peaks. */
static void
print_callers(const struct st_mem *m, const struct st_mem_site_row *row,
              const struct st_mem_view *view, FILE *out)
{
	enum { MOST_PATHS = 3 };
	bool printed[MOST_PATHS] = {0};
	size_t last[MOST_PATHS] = {0};
	for (int k = 0; k < MOST_PATHS; k++) {
		const struct st_mem_context *best = NULL;
		for (size_t i = 0; i < m->contexts.n; i++) {
			const struct st_mem_context *c = &m->contexts.v[i];
			bool before = false;
			for (int j = 0; j < k; j++)
				before |= printed[j] && last[j] == i;
			if (before || !is_mem_site_of(m, row, c) || !st_mem_value(c, view->metric))
				continue;
			if (!best ||
			    st_mem_value(c, view->metric) > st_mem_value(best, view->metric))
				best = c;
		}
		if (!best)
			return;
		printed[k] = true;
		last[k] = (size_t)(best - m->contexts.v);
		char number[ST_NUMBER_SIZE];
		fprintf(out, "    %s %s\n", st_number(number, st_mem_value(best, view->metric)),
		        st_mem_metric_name(view->metric));
		for (uint32_t at = best->frame; at != ST_MEM_NONE; at = m->frames.v[at].parent) {
			fputs("      ", out);
			mem_text_place(&m->frames.v[at], out);
			fputc('\n', out);
		}
	}
}

static void
add_site(struct st_table *table, const struct st_mem *m, const struct st_mem_site_row *s,
         uint64_t value, uint64_t all)
{
	const struct st_mem_frame *f = &m->frames.v[s->frame];
	struct st_text text;
	st_table_count(table, s->sum.peak);
	st_table_count(table, s->sum.live);
	st_table_count(table, s->sum.bytes);
	st_table_count(table, s->sum.calls);
	st_table_count(table, s->sum.short_lived);
	st_table_cell(table, "%.1f", all ? 100 * (double)value / (double)all : 0.0);
	if (!st_text_begin(&text))
		return;
	mem_text_place(f, text.out);
	if (s->mapped)
		fputs(" mapped", text.out);
	char *name = st_text_end(&text);
	st_table_cell(table, "%s", name ? name : "");
	free(name);
}

static void
print_sites(const struct st_mem *m, const struct st_mem_sites *sites, const uint32_t *order,
            size_t shown, const struct st_mem_view *view, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"peak", false},  {"never freed", false}, {"total", false}, {"calls", false},
	        {"short", false}, {"%", false},           {"where", true}};
	struct st_table *table = st_table_new(columns, sizeof columns / sizeof *columns);
	uint64_t all = 0;
	for (size_t i = 0; i < sites->rows.n; i++)
		all += st_mem_value(&sites->rows.v[i].sum, view->metric);
	for (size_t i = 0; i < shown; i++) {
		const struct st_mem_site_row *s = &sites->rows.v[order[i]];
		add_site(table, m, s, st_mem_value(&s->sum, view->metric), all);
	}
	fprintf(out, "\n  bytes by the code that asks for them, %% of %s:\n\n",
	        st_mem_metric_name(view->metric));
	st_table_print(table, out, st_style_of(out));
	st_table_free(table);
	if (shown < sites->rows.n)
		fprintf(out, "  ... and %s more (-n 0 prints all)\n",
		        ST_NUMBER(sites->rows.n - shown));
	for (size_t i = 0; i < shown && view->callers; i++) {
		const struct st_mem_site_row *s = &sites->rows.v[order[i]];
		fputs("\n  ", out);
		mem_text_place(&m->frames.v[s->frame], out);
		fputs(s->mapped ? ", mapped:\n" : ":\n", out);
		print_callers(m, s, view, out);
	}
}

void
st_mem_text(const struct st_mem *m, const struct st_mem_view *view, FILE *out)
{
	struct st_mem_sites sites;
	print_domain(m, false, out);
	print_domain(m, true, out);
	const st_status status = st_mem_group(m, &sites);
	uint32_t *order = calloc(sites.rows.n + 1, sizeof *order);
	struct order o = {&sites, view->metric};
	for (size_t i = 0; i < sites.rows.n && order; i++)
		order[i] = (uint32_t)i;
	if (order && sites.rows.n)
		qsort_r(order, sites.rows.n, sizeof *order, by_metric, &o);
	const size_t shown = view->top && view->top < sites.rows.n ? view->top : sites.rows.n;
	if (!status && order && sites.rows.n)
		print_sites(m, &sites, order, shown, view, out);
	print_notes(m, out);
	free(order);
	free(sites.rows.v);
}
