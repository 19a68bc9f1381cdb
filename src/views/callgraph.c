/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/callgraph.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "contexts/pairs.h"

static st_status
callgraph_no_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the call graph");
}

/* ---- calling contexts, stacks of samples, allocations ---- */

/* Marks the labels that are below themselves on some path. open: by label, zeroed. */
static void
callgraph_mark_recursion(struct st_callgraph *g, const struct st_forest *f, uint32_t *open)
{
	for (uint32_t i = f->first; i != ST_NO_NODE;) {
		const uint32_t label = f->nodes[i].label;
		if (open[label]++)
			g->nodes.v[label].recursive = true;
		if (f->nodes[i].first != ST_NO_NODE) {
			i = f->nodes[i].first;
			continue;
		}
		for (; i != ST_NO_NODE; i = f->nodes[i].parent) {
			open[f->nodes[i].label]--;
			if (f->nodes[i].next != ST_NO_NODE)
				break;
		}
		if (i != ST_NO_NODE)
			i = f->nodes[i].next;
	}
}

static st_status
callgraph_mark_all(struct st_callgraph *g)
{
	const struct st_contexts *c = &g->costs.contexts;
	uint32_t *open = calloc(c->n_labels + 1, sizeof *open);
	for (size_t i = 0; open && i < c->groups.n; i++)
		callgraph_mark_recursion(g, &c->groups.v[i].ksf, open);
	free(open);
	return open ? ST_OK : ST_FAILED;
}

static st_status
callgraph_add_callees(struct st_callgraph *g, const struct st_forest *pairs,
                      const struct st_tree_node *caller)
{
	struct st_callgraph_node *from = &g->nodes.v[caller->label];
	for (uint32_t i = caller->first; i != ST_NO_NODE; i = pairs->nodes[i].next) {
		const struct st_tree_node *n = &pairs->nodes[i];
		struct st_callgraph_edge *edge = ST_PUSH(&g->edges);
		if (!edge)
			return ST_FAILED;
		*edge = (struct st_callgraph_edge){caller->label, n->label,
		                                   st_costs_value(&g->costs, &n->weight),
		                                   g->counted ? n->top : 0};
		if (edge->from == edge->to)
			edge->value = 0;
		from->total += edge->value;
	}
	return ST_OK;
}

/* The root that stands for a thread is no function, and calls nothing. What a thread waits for is a
 * function that its caller calls, so that all of the time is in some node. */
static bool
callgraph_has_node(const struct st_context_label *l)
{
	return !l->root || l->kind != ST_STACK_CODE;
}

static st_status
callgraph_add_pairs(struct st_callgraph *g, const struct st_forest *pairs)
{
	const struct st_contexts *c = &g->costs.contexts;
	for (size_t i = 0; i < c->n_labels; i++) {
		struct st_callgraph_node *node = ST_PUSH(&g->nodes);
		if (!node)
			return ST_FAILED;
		*node = (struct st_callgraph_node){.name = c->labels[i].name,
		                                   .image = c->labels[i].image};
	}
	for (uint32_t i = pairs->first; i != ST_NO_NODE; i = pairs->nodes[i].next) {
		const struct st_tree_node *root = &pairs->nodes[i];
		struct st_callgraph_node *node = &g->nodes.v[root->label];
		if (!callgraph_has_node(&c->labels[root->label]))
			continue;
		g->n_functions++;
		node->self = node->total = st_costs_value(&g->costs, &root->weight);
		node->calls = g->counted ? root->weight.count : 0;
		if (callgraph_add_callees(g, pairs, root))
			return ST_FAILED;
	}
	return callgraph_mark_all(g);
}

static st_status
callgraph_of_contexts(struct st_callgraph *g, const struct st_profile *p, const char *name,
                      const char *metric, struct st_error *e)
{
	struct st_forest pairs;
	struct st_context_options o;
	g->has_costs = true;
	if (st_costs_open(&g->costs, p, name, metric, false, e))
		return ST_FAILED;
	const struct st_contexts *c = &g->costs.contexts;
	if (c->mode != ST_CONTEXT_FUNC)
		return st_fail(e, ST_EXIT_FAILED,
		               "the contexts of %s are basic blocks, which call nothing: strobe "
		               "paths without --mode measures those of functions",
		               name);
	const bool numbers = st_contexts_options(p, &o) && !strcmp(g->costs.metric, "count");
	g->metric = !numbers ? g->costs.metric : c->sampled ? "samples" : "calls";
	g->unit = g->costs.unit;
	g->counted = st_contexts_options(p, &o) && !c->sampled;
	st_pairs_make(c, &pairs);
	const bool bad = pairs.out_of_memory || callgraph_add_pairs(g, &pairs);
	st_forest_free(&pairs);
	return bad ? callgraph_no_memory(e) : ST_OK;
}

/* ---- traces, and the tool calls ---- */

static st_status
callgraph_of_trace(struct st_callgraph *g, const struct st_profile *p, const char *metric,
                   struct st_error *e)
{
	if (metric && strcmp(metric, "time") != 0)
		return st_fail(e, ST_EXIT_USAGE, "no metric '%s' of a trace; --metric takes time",
		               metric);
	g->has_trace = true;
	if (st_trace_read(&g->trace, p, false, e))
		return ST_FAILED;
	g->metric = "time";
	g->unit = "ns";
	g->counted = true;
	for (size_t i = 0; i < g->trace.functions.n; i++) {
		const struct st_trace_function *f = &g->trace.functions.v[i];
		struct st_callgraph_node *node = ST_PUSH(&g->nodes);
		if (!node)
			return callgraph_no_memory(e);
		*node = (struct st_callgraph_node){f->name,
		                                   f->image,
		                                   (double)f->exclusive_ns,
		                                   (double)f->outermost_ns,
		                                   f->calls + f->lost,
		                                   false};
	}
	for (size_t i = 0; i < g->trace.pairs.n; i++) {
		const struct st_trace_pair *pair = &g->trace.pairs.v[i];
		if (pair->caller == ST_TRACE_NOBODY)
			continue;
		struct st_callgraph_edge *edge = ST_PUSH(&g->edges);
		if (!edge)
			return callgraph_no_memory(e);
		*edge = (struct st_callgraph_edge){
		        pair->caller, pair->callee,
		        pair->caller == pair->callee ? 0 : (double)pair->outermost_ns, pair->calls};
		if (pair->caller == pair->callee)
			g->nodes.v[pair->caller].recursive = true;
	}
	return ST_OK;
}

static const struct st_profile_table *
callgraph_table(const struct st_profile *p)
{
	for (size_t i = 0; i < p->tables.n; i++) {
		const struct st_profile_table *t = &p->tables.v[i];
		if (!strcmp(t->name, "pairs") && !strcmp(t->tool, "calls") && t->n_keys == 2 &&
		    t->n_columns > 2)
			return t;
	}
	return NULL;
}

/* The node of a function, made if there is none; ST_CALLGRAPH_NONE: memory is exhausted. */
static uint32_t
callgraph_node_of(struct st_callgraph *g, const struct st_profile *p,
                  const struct st_profile_value *v, struct st_hashmap *index, uint64_t **keys)
{
	const char *image = v->image < p->images.n ? p->images.v[v->image].path : NULL;
	const uint32_t hash = st_hash_number(v->number ^ ((uint64_t)v->image << 40));
	const uint32_t at = ST_HASHMAP_FIND(
	        index, hash, i, (*keys)[2 * i] == v->number && (*keys)[2 * i + 1] == v->image);
	if (at != ST_HASHMAP_NONE)
		return at;
	uint64_t *grown = reallocarray(*keys, g->nodes.n + 1, 2 * sizeof **keys);
	struct st_callgraph_node *node = grown ? ST_PUSH(&g->nodes) : NULL;
	if (grown)
		*keys = grown;
	const uint32_t made = (uint32_t)g->nodes.n - 1;
	if (!node || st_hashmap_add(index, hash, made))
		return ST_CALLGRAPH_NONE;
	(*keys)[2 * made] = v->number;
	(*keys)[2 * made + 1] = v->image;
	*node = (struct st_callgraph_node){.name = v->text, .image = image};
	return made;
}

static st_status
callgraph_add_rows(struct st_callgraph *g, const struct st_profile *p,
                   const struct st_profile_table *t)
{
	struct st_hashmap index = {0};
	uint64_t *keys = NULL;
	st_status status = ST_OK;
	for (size_t i = 0; i + t->n_columns <= t->values.n && !status; i += t->n_columns) {
		const struct st_profile_value *row = &t->values.v[i];
		if (!row[0].text || !row[1].text)
			continue; /* in no function */
		const uint32_t from = callgraph_node_of(g, p, &row[0], &index, &keys);
		const uint32_t to = callgraph_node_of(g, p, &row[1], &index, &keys);
		struct st_callgraph_edge *edge =
		        from != ST_CALLGRAPH_NONE && to != ST_CALLGRAPH_NONE ? ST_PUSH(&g->edges)
		                                                             : NULL;
		if (!edge) {
			status = ST_FAILED;
			break;
		}
		*edge = (struct st_callgraph_edge){from, to, (double)row[2].number, row[2].number};
		g->nodes.v[to].self += edge->value;
		g->nodes.v[to].calls += edge->calls;
		g->nodes.v[from].total += edge->value;
		g->nodes.v[from].recursive |= from == to;
	}
	st_hashmap_free(&index);
	free(keys);
	return status;
}

/* self: calls of the function; total: these, or those that it makes if they are more. */
static st_status
callgraph_of_table(struct st_callgraph *g, const struct st_profile *p,
                   const struct st_profile_table *t, const char *metric, struct st_error *e)
{
	if (metric && strcmp(metric, "calls") != 0)
		return st_fail(e, ST_EXIT_USAGE,
		               "no metric '%s' of the tool calls; --metric takes calls", metric);
	g->metric = "calls";
	g->unit = "";
	g->counted = g->alone = true;
	if (callgraph_add_rows(g, p, t))
		return callgraph_no_memory(e);
	for (size_t i = 0; i < g->nodes.n; i++)
		if (g->nodes.v[i].total < g->nodes.v[i].self)
			g->nodes.v[i].total = g->nodes.v[i].self;
	return ST_OK;
}

st_status
st_callgraph_open(struct st_callgraph *g, const struct st_profile *p, const char *name,
                  const char *metric, struct st_error *e)
{
	struct st_context_options o;
	const struct st_profile_table *t = callgraph_table(p);
	*g = (struct st_callgraph){0};
	st_status status;
	if (!st_contexts_options(p, &o) && st_profile_has_tool(p, "calltimes"))
		status = callgraph_of_trace(g, p, metric, e);
	else if (t && (!st_contexts_options(p, &o) || (metric && !strcmp(metric, "calls"))))
		status = callgraph_of_table(g, p, t, metric, e);
	else
		status = callgraph_of_contexts(g, p, name, metric, e);
	if (!g->n_functions)
		g->n_functions = g->nodes.n;
	for (size_t i = 0; !status && i < g->nodes.n; i++)
		g->all += g->nodes.v[i].self;
	if (!status && !(g->all > 0))
		return st_fail(e, ST_EXIT_FAILED,
		               "the sum of '%s' in %s is 0: there is nothing to draw", g->metric,
		               name);
	return status;
}

void
st_callgraph_free(struct st_callgraph *g)
{
	if (g->has_costs)
		st_costs_free(&g->costs);
	if (g->has_trace)
		st_trace_free(&g->trace);
	free(g->nodes.v);
	free(g->edges.v);
}

uint32_t
st_callgraph_find(const struct st_callgraph *g, const char *name)
{
	uint32_t found = ST_CALLGRAPH_NONE;
	for (uint32_t i = 0; i < g->nodes.n; i++)
		if (!fnmatch(name, g->nodes.v[i].name, 0) &&
		    (found == ST_CALLGRAPH_NONE || g->nodes.v[i].total > g->nodes.v[found].total))
			found = i;
	return found;
}
