/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the functions and calls of a call graph to draw. */
#include <stdlib.h>

#include "views/callgraph.h"

struct callgraph_choosing {
	const struct st_callgraph *g;
	const struct st_callgraph_choice *c;
	struct st_callgraph_chosen *chosen;
	bool *within;     /* by node: within `levels` calls of the centre */
	uint32_t *number; /* by node: where it is in the choice, or ST_CALLGRAPH_NONE */
	/* By number in the choice: the sum of calls to, and from, functions not drawn. */
	struct st_callgraph_edge *to_others, *from_others;
};

/* Adds the nodes within `levels` calls of the centre, along the edges or against them. */
static void
callgraph_reach(struct callgraph_choosing *x, bool along, size_t *distance)
{
	const struct st_callgraph *g = x->g;
	for (size_t i = 0; i < g->nodes.n; i++)
		distance[i] = SIZE_MAX;
	distance[x->c->centre] = 0;
	bool changed = true;
	for (size_t level = 0; level < x->c->levels && changed; level++) {
		changed = false;
		for (size_t i = 0; i < g->edges.n; i++) {
			const struct st_callgraph_edge *e = &g->edges.v[i];
			const uint32_t near = along ? e->from : e->to,
			               far = along ? e->to : e->from;
			if (distance[near] != level || distance[far] != SIZE_MAX)
				continue;
			distance[far] = level + 1;
			changed = true;
		}
	}
	for (size_t i = 0; i < g->nodes.n; i++)
		x->within[i] |= distance[i] != SIZE_MAX;
}

static st_status
callgraph_find_within(struct callgraph_choosing *x)
{
	const size_t n = x->g->nodes.n;
	size_t *distance = malloc((n + 1) * sizeof *distance);
	if (!distance)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		x->within[i] = x->c->centre == ST_CALLGRAPH_NONE;
	if (x->c->centre != ST_CALLGRAPH_NONE) {
		callgraph_reach(x, true, distance);
		callgraph_reach(x, false, distance);
	}
	free(distance);
	return ST_OK;
}

static int
callgraph_by_total(const void *a, const void *b, void *of)
{
	const struct st_callgraph_node *nodes = of;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (nodes[x].total != nodes[y].total)
		return nodes[x].total > nodes[y].total ? -1 : 1;
	return (x > y) - (x < y);
}

/* Chooses the nodes; the centre is always one of them. */
static st_status
callgraph_choose_nodes(struct callgraph_choosing *x)
{
	struct st_callgraph_chosen *chosen = x->chosen;
	bool there = x->c->centre == ST_CALLGRAPH_NONE;
	for (uint32_t i = 0; i < x->g->nodes.n; i++) {
		const double total = x->g->nodes.v[i].total;
		if (i != x->c->centre &&
		    (!x->within[i] || !(total > 0) || total < x->c->least * x->g->all))
			continue;
		uint32_t *slot = ST_PUSH(&chosen->nodes);
		if (!slot)
			return ST_FAILED;
		*slot = i;
	}
	if (chosen->nodes.n)
		qsort_r(chosen->nodes.v, chosen->nodes.n, sizeof *chosen->nodes.v,
		        callgraph_by_total, x->g->nodes.v);
	if (chosen->nodes.n > x->c->most) {
		chosen->left_out = chosen->nodes.n - x->c->most;
		chosen->nodes.n = x->c->most;
	}
	for (uint32_t i = 0; i < chosen->nodes.n; i++)
		there |= chosen->nodes.v[i] == x->c->centre;
	if (!there)
		chosen->nodes.v[chosen->nodes.n - 1] = x->c->centre;
	for (uint32_t i = 0; i < chosen->nodes.n; i++)
		x->number[chosen->nodes.v[i]] = i;
	return ST_OK;
}

static st_status
callgraph_choose_edges(struct callgraph_choosing *x)
{
	for (size_t i = 0; i < x->g->edges.n; i++) {
		const struct st_callgraph_edge *e = &x->g->edges.v[i];
		const uint32_t from = x->number[e->from], to = x->number[e->to];
		if (e->from == e->to)
			continue;
		if (from != ST_CALLGRAPH_NONE && to != ST_CALLGRAPH_NONE && e->value > 0 &&
		    e->value >= x->c->least / 2 * x->g->all) {
			struct st_callgraph_edge *edge = ST_PUSH(&x->chosen->edges);
			if (!edge)
				return ST_FAILED;
			*edge = (struct st_callgraph_edge){from, to, e->value, e->calls};
			continue;
		}
		if (from != ST_CALLGRAPH_NONE) {
			x->to_others[from].value += e->value;
			x->to_others[from].calls += e->calls;
		}
		if (to != ST_CALLGRAPH_NONE) {
			x->from_others[to].value += e->value;
			x->from_others[to].calls += e->calls;
		}
	}
	return ST_OK;
}

/* Adds the edges to or from one of the two nodes that stand for what is not drawn. */
static st_status
callgraph_add_others(struct callgraph_choosing *x, const struct st_callgraph_edge *pooled, bool to,
                     uint32_t *node)
{
	struct st_callgraph_chosen *chosen = x->chosen;
	const uint32_t next =
	        (uint32_t)chosen->nodes.n + (chosen->others_to != ST_CALLGRAPH_NONE && !to);
	bool any = to && chosen->others_self > 0;
	for (uint32_t i = 0; i < chosen->nodes.n; i++) {
		if (!(pooled[i].value > 0))
			continue;
		struct st_callgraph_edge *edge = ST_PUSH(&chosen->edges);
		if (!edge)
			return ST_FAILED;
		*edge = (struct st_callgraph_edge){to ? i : next, to ? next : i, pooled[i].value,
		                                   pooled[i].calls};
		any = true;
	}
	*node = any ? next : ST_CALLGRAPH_NONE;
	return ST_OK;
}

static st_status
callgraph_choose_all(struct callgraph_choosing *x)
{
	struct st_callgraph_chosen *chosen = x->chosen;
	const struct st_callgraph *g = x->g;
	for (size_t i = 0; i < g->nodes.n; i++)
		x->number[i] = ST_CALLGRAPH_NONE;
	if (callgraph_find_within(x) || callgraph_choose_nodes(x))
		return ST_FAILED;
	for (size_t i = 0; i < g->nodes.n; i++)
		if (x->number[i] == ST_CALLGRAPH_NONE)
			chosen->others_self += g->nodes.v[i].self;
	return callgraph_choose_edges(x) ||
	                       callgraph_add_others(x, x->to_others, true, &chosen->others_to) ||
	                       callgraph_add_others(x, x->from_others, false, &chosen->others_from)
	               ? ST_FAILED
	               : ST_OK;
}

st_status
st_callgraph_choose(const struct st_callgraph *g, const struct st_callgraph_choice *c,
                    struct st_callgraph_chosen *chosen)
{
	const size_t n = g->nodes.n + 1;
	*chosen = (struct st_callgraph_chosen){.others_to = ST_CALLGRAPH_NONE,
	                                       .others_from = ST_CALLGRAPH_NONE};
	struct callgraph_choosing x = {.g = g,
	                               .c = c,
	                               .chosen = chosen,
	                               .within = calloc(n, sizeof *x.within),
	                               .number = calloc(n, sizeof *x.number),
	                               .to_others = calloc(n, sizeof *x.to_others),
	                               .from_others = calloc(n, sizeof *x.from_others)};
	const bool good = x.within && x.number && x.to_others && x.from_others;
	const st_status status = good ? callgraph_choose_all(&x) : ST_FAILED;
	free(x.within);
	free(x.number);
	free(x.to_others);
	free(x.from_others);
	return status;
}

void
st_callgraph_chosen_free(struct st_callgraph_chosen *chosen)
{
	free(chosen->nodes.v);
	free(chosen->edges.v);
}
