/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages of trees: calls from the outermost functions down, and from each function up to its
 * callers. */
#include "tui/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/text.h"
#include "tui/prompt.h"

enum { TREE_TOTAL_SHARE, TREE_SELF_SHARE, TREE_VALUE, TREE_NAME };

static char *
tree_name(const struct st_tui_tree *of, const struct st_tui_branch *b)
{
	enum { MOST_INDENT = 30 }; /* deeper rows have their depth as a number */
	char *name = st_tui_calls_name(of->calls, b->label),
	     *clean = name ? st_printable(name) : NULL;
	const char mark = b->leaf ? ' ' : b->expanded ? '-' : '+';
	char *text = NULL;
	if (clean && b->depth <= MOST_INDENT)
		text = st_text_of("%*s%c %s", (int)b->depth, "", mark, clean);
	else if (clean)
		text = st_text_of("%*s[%u] %c %s", MOST_INDENT - 5, "", b->depth, mark, clean);
	free(name);
	free(clean);
	return text;
}

static char *
tree_cell(const struct st_tui_page *p, size_t row, size_t column)
{
	const struct st_tui_tree *of = p->of;
	const struct st_tui_branch *b = &of->rows.v[row];
	/* Upwards, the self share is that of the function at the root. */
	if (of->callers && column > TREE_TOTAL_SHARE)
		column++;
	switch (column) {
	case TREE_TOTAL_SHARE:
		return st_text_of("%.2f", st_tui_calls_percent(of->calls, b->total));
	case TREE_SELF_SHARE:
		return st_text_of("%.2f", st_tui_calls_percent(of->calls, b->own));
	case TREE_VALUE:
		return st_tui_calls_value(of->calls, b->total);
	default:
		return tree_name(of, b);
	}
}

static enum st_tui_look
tree_look(const struct st_tui_page *p, size_t row)
{
	const struct st_tui_tree *of = p->of;
	return st_tui_look_of_percent(st_tui_calls_percent(of->calls, of->rows.v[row].total));
}

/* ---- opening and closing ---- */

/* The first row after a row and all rows below it. */
static size_t
tree_end(const struct st_tui_tree *of, size_t row)
{
	size_t end = row + 1;
	while (end < of->rows.n && of->rows.v[end].depth > of->rows.v[row].depth)
		end++;
	return end;
}

/* Inserts rows after a row. */
static st_status
tree_insert(struct st_tui_tree *of, size_t row, st_tui_branches *below)
{
	struct st_tui_branch *at;
	if (!ST_RESERVE(&of->rows, below->n))
		return ST_FAILED;
	at = of->rows.v + row + 1;
	memmove(at + below->n, at, (of->rows.n - row - 1) * sizeof *at);
	memcpy(at, below->v, below->n * sizeof *at);
	of->rows.n += below->n;
	free(below->v); /* of->rows owns the nodes of each row now */
	*below = (st_tui_branches){0};
	return ST_OK;
}

static bool
tree_expand(struct st_tui *t, struct st_tui_page *p, size_t row)
{
	struct st_tui_tree *of = p->of;
	struct st_tui_branch *b = &of->rows.v[row];
	st_tui_branches below;
	if (b->leaf || b->expanded)
		return false;
	if (st_tui_nodes_below(of->calls, of->callers, b, &below) ||
	    (below.n && tree_insert(of, row, &below))) {
		st_tui_nodes_free(&below);
		st_tui_say(t, "no memory left for the rows below this one");
		return false;
	}
	free(below.v);
	of->rows.v[row].expanded = of->rows.n != p->n;
	of->rows.v[row].leaf = of->rows.n == p->n; /* no row below it has any cost */
	st_tui_prompt_inserted(t, row, of->rows.n - p->n);
	p->n = of->rows.n;
	return of->rows.v[row].expanded;
}

static bool
tree_collapse(struct st_tui_page *p, size_t row)
{
	struct st_tui_tree *of = p->of;
	const size_t end = tree_end(of, row), n = end - row - 1;
	if (!of->rows.v[row].expanded)
		return false;
	for (size_t i = row + 1; i < end; i++)
		free(of->rows.v[i].nodes.v);
	memmove(&of->rows.v[row + 1], &of->rows.v[end], (of->rows.n - end) * sizeof *of->rows.v);
	of->rows.n -= n;
	of->rows.v[row].expanded = false;
	p->n = of->rows.n;
	return true;
}

static size_t
tree_parent(const struct st_tui_page *p, size_t row)
{
	const struct st_tui_tree *of = p->of;
	const uint32_t depth = of->rows.v[row].depth;
	while (row-- > 0)
		if (of->rows.v[row].depth < depth)
			return row;
	return SIZE_MAX;
}

/* Follows the callees (or callers) that have at least half of the total of the row above them. */
static size_t
tree_follow(struct st_tui *t, struct st_tui_page *p, size_t row)
{
	enum { MOST = 10000 }; /* levels; a deeper recursion is followed with another key */
	const struct st_tui_tree *of = p->of;
	for (size_t i = 0; i < MOST; i++) {
		if (!of->rows.v[row].expanded && !tree_expand(t, p, row))
			break;
		if (2 * of->rows.v[row + 1].total < of->rows.v[row].total)
			break;
		row++;
	}
	return row;
}

static void
tree_open(struct st_tui *t, struct st_tui_page *p, size_t row)
{
	const struct st_tui_tree *of = p->of;
	const uint32_t label = of->rows.v[row].label;
	const struct st_context_label *l = &of->calls->costs.contexts.labels[label];
	st_tui_open_function(t, &(struct st_tui_link){NULL, l->in_function, label});
}

static void
tree_free(struct st_tui_page *p)
{
	struct st_tui_tree *of = p->of;
	if (!of)
		return;
	st_tui_nodes_free(&of->rows);
	st_tui_tree_forget(of);
	free(of);
}

static const struct st_tui_kind tree_kind = {.keys = "+ - expand  * hottest  Enter open",
                                             .cell = tree_cell,
                                             .look = tree_look,
                                             .open = tree_open,
                                             .expand = tree_expand,
                                             .collapse = tree_collapse,
                                             .parent = tree_parent,
                                             .follow = tree_follow,
                                             .reveal = st_tui_tree_reveal,
                                             .free = tree_free};

/* ---- the page ---- */

static st_status
tree_columns(struct st_tui_page *p, const struct st_tui_calls *c, bool callers)
{
	if (st_tui_page_add_column(p, callers ? "share %" : "total %", false) ||
	    (!callers && st_tui_page_add_column(p, "self %", false)))
		return ST_FAILED;
	if (st_tui_page_add_column(p, st_tui_calls_metric(c, c->metric), false))
		return ST_FAILED;
	return st_tui_page_add_column(p, callers ? "function, callers below" : "function", true);
}

struct st_tui_page *
st_tui_tree_page(struct st_tui_calls *c, bool callers, struct st_error *e)
{
	if (st_tui_calls_need(c, e))
		return NULL;
	char *metric = st_tui_calls_title(c);
	struct st_tui_page *p = metric ? st_tui_page_new(&tree_kind, "%s by %s",
	                                                 callers ? "callers" : "calls", metric)
	                               : NULL;
	struct st_tui_tree *of = p ? calloc(1, sizeof *of) : NULL;
	free(metric);
	if (of) {
		of->calls = c;
		of->callers = callers;
		p->of = of;
		p->metrics = &st_tui_calls_metrics;
		if (!st_tui_nodes_roots(c, callers, &of->rows) && !tree_columns(p, c, callers)) {
			p->n = of->rows.n;
			return p;
		}
	}
	st_tui_page_free(p);
	st_cause(e, ST_EXIT_FAILED, "no memory left for the tree");
	return NULL;
}
