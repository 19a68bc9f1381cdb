/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search in a tree: it finds rows that are not shown, too, and expands only the rows above
 * them. */
#include <stdlib.h>
#include <string.h>

#include "tui/tree.h"

void
st_tui_tree_forget(struct st_tui_tree *of)
{
	for (size_t i = 0; of->nodes && i < of->calls->costs.contexts.groups.n; i++)
		free(of->nodes[i]);
	free(of->nodes);
	free(of->labels);
	free(of->searched);
	of->nodes = NULL;
	of->labels = NULL;
	of->searched = NULL;
}

/* Children come after their parents. */
static bool *
tree_search_forest(const struct st_tui_tree *of, const struct st_forest *f)
{
	bool *has = calloc((size_t)f->n + 1, sizeof *has);
	for (uint32_t i = 0; has && of->callers && i < f->n; i++) {
		const uint32_t parent = f->nodes[i].parent;
		has[i] =
		        parent != ST_NO_NODE && (has[parent] || of->labels[f->nodes[parent].label]);
	}
	for (uint32_t i = f->n; has && !of->callers && i-- > 0;)
		if (f->nodes[i].parent != ST_NO_NODE)
			has[f->nodes[i].parent] |= has[i] || of->labels[f->nodes[i].label];
	return has;
}

static st_status
tree_search_prepare(struct st_tui_tree *of, const char *text)
{
	const struct st_contexts *c = &of->calls->costs.contexts;
	if (of->searched && !strcmp(of->searched, text))
		return ST_OK;
	st_tui_tree_forget(of);
	of->searched = strdup(text);
	of->labels = calloc(c->n_labels + 1, sizeof *of->labels);
	of->nodes = calloc(c->groups.n + 1, sizeof *of->nodes);
	bool bad = !of->searched || !of->labels || !of->nodes;
	for (uint32_t i = 0; i < c->n_labels && !bad; i++) {
		char *name = st_tui_calls_name(of->calls, i);
		of->labels[i] = name && st_tui_contains(name, text);
		bad = !name;
		free(name);
	}
	for (size_t i = 0; i < c->groups.n && !bad; i++)
		bad = !(of->nodes[i] = tree_search_forest(of, &c->groups.v[i].ksf));
	if (bad)
		st_tui_tree_forget(of);
	return bad ? ST_FAILED : ST_OK;
}

/* ---- rows ---- */

/* Whether a root of a group contains the text, or a node below one. */
static bool
tree_search_roots(const struct st_tui_tree *of, uint32_t group)
{
	const struct st_forest *f = &of->calls->costs.contexts.groups.v[group].ksf;
	for (uint32_t i = f->first; i != ST_NO_NODE; i = f->nodes[i].next)
		if (of->labels[f->nodes[i].label] || of->nodes[group][i])
			return true;
	return false;
}

/* The same for a row of the tree of callers that has not been expanded yet. */
static bool
tree_search_function(const struct st_tui_tree *of, uint32_t label)
{
	const struct st_tui_calls *c = of->calls;
	for (uint32_t g = 0; g < c->costs.contexts.groups.n; g++) {
		const struct st_forest *f = &c->costs.contexts.groups.v[g].ksf;
		for (uint32_t i = 0; i < f->n && c->chosen[g]; i++)
			if (f->nodes[i].label == label && of->nodes[g][i] &&
			    st_tui_calls_own(c, g, i) > 0)
				return true;
	}
	return false;
}

/* Whether a row is not expanded and a row below it contains the text. */
static bool
tree_search_hidden(const struct st_tui_tree *of, const struct st_tui_branch *b)
{
	if (b->leaf || b->expanded)
		return false;
	if (of->callers && !b->nodes.n)
		return tree_search_function(of, b->label);
	for (size_t i = 0; i < b->nodes.n; i++) {
		const struct st_tui_node *n = &b->nodes.v[i];
		if (n->node == ST_NO_NODE ? tree_search_roots(of, n->group)
		                          : of->nodes[n->group][of->callers ? n->at : n->node])
			return true;
	}
	return false;
}

/* The last row below a row, after the rows that lead to the last match there are expanded. */
static size_t
tree_search_last(struct st_tui *t, struct st_tui_page *p, size_t row)
{
	const struct st_tui_tree *of = p->of;
	while (tree_search_hidden(of, &of->rows.v[row])) {
		if (!p->kind->expand(t, p, row))
			break;
		const uint32_t depth = of->rows.v[row].depth;
		while (row + 1 < of->rows.n && of->rows.v[row + 1].depth > depth)
			row++;
	}
	return row;
}

/* The next row in the order of the tree; a row with a hidden match below it is expanded first. */
static size_t
tree_search_step(struct st_tui *t, struct st_tui_page *p, size_t row, bool forward)
{
	const struct st_tui_tree *of = p->of;
	if (!forward)
		return tree_search_last(t, p, (row ? row : p->n) - 1);
	if (tree_search_hidden(of, &of->rows.v[row]))
		(void)p->kind->expand(t, p, row);
	return row + 1 < p->n ? row + 1 : 0;
}

bool
st_tui_tree_reveal(struct st_tui *t, struct st_tui_page *p, const char *text, bool forward,
                   size_t *row)
{
	struct st_tui_tree *of = p->of;
	if (tree_search_prepare(of, text)) {
		st_tui_say(t, "no memory left to search");
		return false;
	}
	for (size_t steps = 0; steps <= p->n; steps++) {
		*row = tree_search_step(t, p, *row, forward);
		if (of->labels[of->rows.v[*row].label])
			return true;
	}
	return false;
}
