/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/nodes.h"

#include <stdlib.h>
#include <string.h>

/* A node and the label of the row that it belongs to. */
struct nodes_found {
	uint32_t label;
	struct st_tui_node node;
};
typedef ST_VEC(struct nodes_found) nodes_list;

static const struct st_forest *
nodes_forest(const struct st_tui_calls *c, uint32_t group)
{
	return &c->costs.contexts.groups.v[group].ksf;
}

static st_status
nodes_push(nodes_list *list, uint32_t label, struct st_tui_node node)
{
	struct nodes_found *slot = ST_PUSH(list);
	if (slot)
		*slot = (struct nodes_found){label, node};
	return slot ? ST_OK : ST_FAILED;
}

static int
nodes_order(const void *a, const void *b)
{
	const struct nodes_found *x = a, *y = b;
	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->node.group != y->node.group)
		return x->node.group < y->node.group ? -1 : 1;
	return (x->node.node > y->node.node) - (x->node.node < y->node.node);
}

static int
nodes_by_total(const void *a, const void *b)
{
	const struct st_tui_branch *x = a, *y = b;
	if (x->total < y->total || x->total > y->total)
		return x->total < y->total ? 1 : -1;
	return (x->label > y->label) - (x->label < y->label);
}

/* ---- rows of nodes ---- */

static void
nodes_add_up(const struct st_tui_calls *c, bool callers, struct st_tui_branch *b,
             const struct st_tui_node *n)
{
	const struct st_forest *f = nodes_forest(c, n->group);
	if (callers) {
		b->total += st_tui_calls_own(c, n->group, n->node);
		b->leaf &= f->nodes[n->at].parent == ST_NO_NODE;
	} else if (n->node == ST_NO_NODE) {
		for (uint32_t i = f->first; i != ST_NO_NODE; i = f->nodes[i].next)
			b->total += st_tui_calls_total(c, n->group, i);
		b->leaf &= f->first == ST_NO_NODE;
	} else {
		b->own += st_tui_calls_own(c, n->group, n->node);
		b->total += st_tui_calls_total(c, n->group, n->node);
		b->leaf &= f->nodes[n->node].first == ST_NO_NODE;
	}
}

/* Makes a row for each label that has a cost. */
static st_status
nodes_group(const struct st_tui_calls *c, bool callers, nodes_list *found, uint32_t depth,
            st_tui_branches *out)
{
	if (found->n)
		qsort(found->v, found->n, sizeof *found->v, nodes_order);
	for (size_t i = 0; i < found->n;) {
		struct st_tui_branch b = {.label = found->v[i].label, .depth = depth, .leaf = true};
		for (; i < found->n && found->v[i].label == b.label; i++) {
			struct st_tui_node *slot = ST_PUSH(&b.nodes);
			if (!slot) {
				free(b.nodes.v);
				return ST_FAILED;
			}
			*slot = found->v[i].node;
			nodes_add_up(c, callers, &b, slot);
		}
		struct st_tui_branch *to = b.total > 0 ? ST_PUSH(out) : NULL;
		if (to)
			*to = b;
		else
			free(b.nodes.v);
		if (!to && b.total > 0)
			return ST_FAILED;
	}
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, nodes_by_total);
	return ST_OK;
}

/* ---- downwards ---- */

static st_status
nodes_children(const struct st_tui_calls *c, const struct st_tui_node *n, nodes_list *found)
{
	const struct st_forest *f = nodes_forest(c, n->group);
	uint32_t i = n->node == ST_NO_NODE ? f->first : f->nodes[n->node].first;
	for (; i != ST_NO_NODE; i = f->nodes[i].next)
		if (nodes_push(found, f->nodes[i].label, (struct st_tui_node){n->group, i, i}))
			return ST_FAILED;
	return ST_OK;
}

/* The contexts inside functions are a forest for each function, which is then the root. */
static st_status
nodes_find_roots(const struct st_tui_calls *c, nodes_list *found)
{
	for (uint32_t i = 0; i < c->costs.contexts.groups.n; i++) {
		const struct st_tui_node above = {i, ST_NO_NODE, ST_NO_NODE};
		const uint32_t function = c->costs.contexts.groups.v[i].function;
		if (!c->chosen[i])
			continue;
		if (function == UINT32_MAX ? nodes_children(c, &above, found)
		                           : nodes_push(found, function, above))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- upwards ---- */

/* Makes a row for each label; its nodes are searched when it is expanded. */
static st_status
nodes_functions(const struct st_tui_calls *c, st_tui_branches *out)
{
	double *own, *total;
	st_status status = st_tui_calls_of_labels(c, &own, &total);
	for (uint32_t i = 0; i < c->costs.contexts.n_labels && !status; i++) {
		struct st_tui_branch *b = own[i] > 0 ? ST_PUSH(out) : NULL;
		if (b)
			*b = (struct st_tui_branch){.label = i, .own = own[i], .total = own[i]};
		else if (own[i] > 0)
			status = ST_FAILED;
	}
	free(own);
	free(total);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, nodes_by_total);
	return status;
}

static st_status
nodes_caller(const struct st_tui_calls *c, const struct st_tui_node *n, nodes_list *found)
{
	const struct st_forest *f = nodes_forest(c, n->group);
	const uint32_t caller = f->nodes[n->at].parent;
	if (caller == ST_NO_NODE)
		return ST_OK;
	return nodes_push(found, f->nodes[caller].label,
	                  (struct st_tui_node){n->group, n->node, caller});
}

/* The callers of a function in all contexts in which the function itself has a cost. */
static st_status
nodes_callers_of(const struct st_tui_calls *c, uint32_t label, nodes_list *found)
{
	for (uint32_t g = 0; g < c->costs.contexts.groups.n; g++) {
		const struct st_forest *f = nodes_forest(c, g);
		for (uint32_t i = 0; i < f->n && c->chosen[g]; i++) {
			const struct st_tui_node n = {g, i, i};
			if (f->nodes[i].label == label && st_tui_calls_own(c, g, i) > 0 &&
			    nodes_caller(c, &n, found))
				return ST_FAILED;
		}
	}
	return ST_OK;
}

/* ---- both ---- */

st_status
st_tui_nodes_roots(const struct st_tui_calls *c, bool callers, st_tui_branches *out)
{
	nodes_list found = {0};
	*out = (st_tui_branches){0};
	if (callers)
		return nodes_functions(c, out);
	st_status status = nodes_find_roots(c, &found);
	if (!status)
		status = nodes_group(c, callers, &found, 0, out);
	free(found.v);
	return status;
}

st_status
st_tui_nodes_below(const struct st_tui_calls *c, bool callers, const struct st_tui_branch *of,
                   st_tui_branches *out)
{
	nodes_list found = {0};
	st_status status = ST_OK;
	*out = (st_tui_branches){0};
	if (callers && !of->nodes.n)
		status = nodes_callers_of(c, of->label, &found);
	for (size_t i = 0; i < of->nodes.n && !status; i++)
		status = callers ? nodes_caller(c, &of->nodes.v[i], &found)
		                 : nodes_children(c, &of->nodes.v[i], &found);
	if (!status)
		status = nodes_group(c, callers, &found, of->depth + 1, out);
	free(found.v);
	return status;
}

void
st_tui_nodes_free(st_tui_branches *branches)
{
	for (size_t i = 0; i < branches->n; i++)
		free(branches->v[i].nodes.v);
	free(branches->v);
	*branches = (st_tui_branches){0};
}
