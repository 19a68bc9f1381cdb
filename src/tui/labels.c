/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of functions (or basic blocks) by calling contexts: for profiles that count functions by
 * context only, and for a choice of threads. */
#include <stdlib.h>

#include "tui/calls.h"
#include "tui/pages.h"

#define LABEL_COLUMNS(C)                                                                           \
	C(SELF_SHARE, "self %", true)                                                              \
	C(TOTAL_SHARE, "total %", true)                                                            \
	C(SELF, "self", true)                                                                      \
	C(TOTAL, "total", true)                                                                    \
	C(NAME, "function", false)

enum {
#define C(id, name, number) LABELS_##id,
	LABEL_COLUMNS(C)
#undef C
};

/* The rows: the labels that have a cost. */
struct label_rows {
	struct st_tui_calls *calls;
	double *own, *total; /* by label */
	uint32_t *labels;    /* by row */
	size_t n;
};

static double
labels_number(const struct label_rows *rows, size_t row, size_t column)
{
	const uint32_t label = rows->labels[row];
	const bool own = column == LABELS_SELF_SHARE || column == LABELS_SELF;
	const double value = own ? rows->own[label] : rows->total[label];
	return column == LABELS_SELF_SHARE || column == LABELS_TOTAL_SHARE
	               ? st_tui_calls_percent(rows->calls, value)
	               : value;
}

static void
labels_cell(const struct st_grid *g, size_t row, const struct st_grid_column *c,
            struct st_grid_cell *out)
{
	const struct label_rows *rows = g->owned;
	*out = (struct st_grid_cell){.kind = ST_GRID_REAL};
	if (c->of == LABELS_NAME) {
		out->kind = ST_GRID_TEXT;
		out->text = rows->calls->costs.contexts.labels[rows->labels[row]].name;
		out->number = row;
	} else {
		out->real = labels_number(rows, row, c->of);
	}
}

static char *
labels_text(const struct st_grid *g, size_t row, const struct st_grid_column *c)
{
	const struct label_rows *rows = g->owned;
	if (c->of == LABELS_NAME)
		return st_tui_calls_name(rows->calls, rows->labels[row]);
	const double number = labels_number(rows, row, c->of);
	return c->of == LABELS_SELF_SHARE || c->of == LABELS_TOTAL_SHARE
	               ? st_text_of("%.2f", number)
	               : st_tui_calls_value(rows->calls, number);
}

static void
labels_release(void *owned)
{
	struct label_rows *rows = owned;
	free(rows->own);
	free(rows->total);
	free(rows->labels);
	free(rows);
}

static struct label_rows *
labels_make(struct st_tui_calls *c)
{
	struct label_rows *rows = calloc(1, sizeof *rows);
	if (!rows)
		return NULL;
	rows->calls = c;
	rows->labels = calloc(c->costs.contexts.n_labels + 1, sizeof *rows->labels);
	if (!rows->labels || st_tui_calls_of_labels(c, &rows->own, &rows->total)) {
		labels_release(rows);
		return NULL;
	}
	for (uint32_t i = 0; i < c->costs.contexts.n_labels; i++)
		if (rows->total[i] > 0)
			rows->labels[rows->n++] = i;
	return rows;
}

static bool
labels_link(const struct st_grid *g, size_t row, size_t i, struct st_tui_link *link)
{
	const struct label_rows *rows = g->owned;
	const struct st_context_label *l = &rows->calls->costs.contexts.labels[rows->labels[row]];
	*link = (struct st_tui_link){NULL, l->in_function, rows->labels[row]};
	return !i;
}

struct st_tui_page *
st_tui_labels_page(struct st_tui_calls *c, struct st_error *e)
{
	struct st_grid g = {.profile = c->profile,
	                    .name = "functions",
	                    .help = "",
	                    .cell = labels_cell,
	                    .text = labels_text,
	                    .release = labels_release};
	if (st_tui_calls_need(c, e))
		return NULL;
	struct label_rows *rows = labels_make(c);
	char *metric = st_tui_calls_title(c), *title = NULL;
	bool bad = !rows || !metric;
	g.owned = rows;
	g.release = rows ? labels_release : NULL;
	g.rows = rows ? rows->n : 0;
#define C(id, name, number) bad |= !st_grid_add(&g, name, number, LABELS_##id);
	LABEL_COLUMNS(C)
#undef C
	if (!bad)
		title = st_text_of("%s by %s",
		                   c->costs.contexts.mode == ST_CONTEXT_FUNC ? "functions"
		                                                             : "basic blocks",
		                   metric);
	struct st_tui_page *page = NULL;
	if (title)
		page = st_tui_grid_page(&g, st_tui_order_of(g.rows), title, e);
	else
		st_grid_free(&g);
	if (page && st_tui_page_sort(page, LABELS_SELF_SHARE, false)) {
		st_tui_page_free(page);
		page = NULL;
	}
	if (page) {
		page->metrics = &st_tui_calls_metrics;
		st_tui_grid_links(page, labels_link);
	} else {
		st_cause(e, ST_EXIT_FAILED, "no memory left for the functions");
	}
	free(metric);
	free(title);
	return page;
}
