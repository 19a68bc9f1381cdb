/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over calling contexts: by function, and by caller and callee. */
#include <stdlib.h>

#include "contexts/pairs.h"
#include "tui/calls.h"

/* ---- by function ---- */

/* The sums by label. on_way: how often each label is on the path to the current node. */
struct sums_walk {
	const struct st_tui_calls *c;
	double *own, *total;
	uint32_t *on_way;
};

static void
sums_enter(struct sums_walk *w, uint32_t group, uint32_t node)
{
	const uint32_t label = w->c->costs.contexts.groups.v[group].ksf.nodes[node].label;
	w->own[label] += st_tui_calls_own(w->c, group, node);
	if (!w->on_way[label]++)
		w->total[label] += st_tui_calls_total(w->c, group, node);
}

/* Does not recurse, because a tree may be as deep as the stack of the program was. */
static void
sums_of_forest(struct sums_walk *w, uint32_t group)
{
	const struct st_forest *f = &w->c->costs.contexts.groups.v[group].ksf;
	for (uint32_t i = f->first; i != ST_NO_NODE;) {
		sums_enter(w, group, i);
		if (f->nodes[i].first != ST_NO_NODE) {
			i = f->nodes[i].first;
			continue;
		}
		for (; i != ST_NO_NODE; i = f->nodes[i].parent) {
			w->on_way[f->nodes[i].label]--;
			if (f->nodes[i].next != ST_NO_NODE)
				break;
		}
		i = i == ST_NO_NODE ? i : f->nodes[i].next;
	}
}

st_status
st_tui_calls_of_labels(const struct st_tui_calls *c, double **own, double **total)
{
	const size_t n = c->costs.contexts.n_labels + 1;
	struct sums_walk w = {c, calloc(n, sizeof *w.own), calloc(n, sizeof *w.total),
	                      calloc(n, sizeof *w.on_way)};
	const bool bad = !w.own || !w.total || !w.on_way;
	for (uint32_t i = 0; !bad && i < c->costs.contexts.groups.n; i++)
		if (c->chosen[i])
			sums_of_forest(&w, i);
	free(w.on_way);
	if (bad) {
		free(w.own);
		free(w.total);
		w.own = w.total = NULL;
	}
	*own = w.own;
	*total = w.total;
	return bad ? ST_FAILED : ST_OK;
}

/* ---- by caller and callee ---- */

/* Makes the pairs of the chosen threads. */
static st_status
sums_make_pairs(struct st_tui_calls *c)
{
	struct st_contexts some = c->costs.contexts;
	some.groups.v = calloc(some.groups.n + 1, sizeof *some.groups.v);
	if (!some.groups.v)
		return ST_FAILED;
	some.groups.n = 0;
	for (size_t i = 0; i < c->costs.contexts.groups.n; i++)
		if (c->chosen[i])
			some.groups.v[some.groups.n++] = c->costs.contexts.groups.v[i];
	st_pairs_make(&some, &c->pairs);
	c->paired = true;
	free(some.groups.v);
	return c->pairs.out_of_memory ? ST_FAILED : ST_OK;
}

/* The value of a pair. Calls are those of the callee alone, without the calls below it. */
static double
sums_pair_value(const struct st_tui_calls *c, const struct st_tree_node *n)
{
	const bool counted = c->costs.field == offsetof(struct st_weight, count) &&
	                     !c->costs.contexts.sampled && !c->costs.contexts.counted;
	return counted ? (double)n->top : st_costs_value(&c->costs, &n->weight);
}

static st_status
sums_add_pair(const struct st_tui_calls *c, st_tui_pairs *out, uint32_t label, uint32_t pair)
{
	const double value = sums_pair_value(c, &c->pairs.nodes[pair]);
	struct st_tui_pair *to = value > 0 ? ST_PUSH(out) : NULL;
	if (to)
		*to = (struct st_tui_pair){label, value};
	return to || value <= 0 ? ST_OK : ST_FAILED;
}

static int
sums_pair_order(const void *a, const void *b)
{
	const struct st_tui_pair *x = a, *y = b;
	if (x->value < y->value || x->value > y->value)
		return x->value < y->value ? 1 : -1;
	return (x->label > y->label) - (x->label < y->label);
}

/* Collects the callers or the callees of a label: in the forest, callees are below their caller. */
static st_status
sums_collect(const struct st_tui_calls *c, uint32_t label, bool callers, st_tui_pairs *out)
{
	const struct st_tree_node *nodes = c->pairs.nodes;
	for (uint32_t i = c->pairs.first; i != ST_NO_NODE; i = nodes[i].next) {
		if (!callers && nodes[i].label != label)
			continue;
		for (uint32_t k = nodes[i].first; k != ST_NO_NODE; k = nodes[k].next) {
			if (callers && nodes[k].label != label)
				continue;
			if (sums_add_pair(c, out, callers ? nodes[i].label : nodes[k].label, k))
				return ST_FAILED;
		}
	}
	return ST_OK;
}

st_status
st_tui_calls_pairs(struct st_tui_calls *c, uint32_t label, bool callers, st_tui_pairs *out,
                   struct st_error *e)
{
	*out = (st_tui_pairs){0};
	if ((!c->paired && sums_make_pairs(c)) || sums_collect(c, label, callers, out))
		return st_fail(e, ST_EXIT_FAILED, "no memory left for callers and callees");
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, sums_pair_order);
	return ST_OK;
}
