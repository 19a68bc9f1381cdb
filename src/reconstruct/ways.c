/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A node must have been passed if it dominates the goal. The graph has two nodes more than the
 * function's: the outside, and the root, from which the ways begin. Where something unknown happens
 * (a jump through a register, a call that may be left by longjmp) an edge leads straight to the
 * goal or outside: what else such a way may pass only makes it longer, and says nothing of what all
 * ways have in common.
 *
 * Dominators as Cooper, Harvey and Kennedy find them: sets of them are intersected over the tree
 * that they form, in reverse postorder, until nothing changes.
 */
#include "reconstruct/ways.h"

struct flow {
	const struct st_graph *g;
	const struct st_ways_asked *asked;
	uint32_t n, outside, root, goal; /* n: of all nodes */
	uint32_t *first, *edges;         /* edges of node v: [first[v], first[v + 1]) */
	uint32_t *in_first, *in;         /* the same, backwards */
	uint32_t *order, *number; /* reverse postorder; a node's place in it, or ST_NO_NODE */
	uint32_t n_order;
	uint32_t *dominator; /* the nearest */
	bool *reaches;       /* the goal */
};

typedef void emit_edge(struct flow *f, uint32_t from, uint32_t to);

static bool
is_indirect(const struct st_node *n)
{
	return n->piece.how == ST_PIECE_INDIRECT_JUMP || n->piece.how == ST_PIECE_UNKNOWN;
}

static bool
may_be_left(const struct flow *f, const struct st_node *n)
{
	return st_piece_calls(n->piece.how) && !f->asked->returning;
}

/* Behind it code may be executed that the graph does not tell of. */
static bool
goes_anywhere(const struct flow *f, const struct st_node *n)
{
	return is_indirect(n) || (may_be_left(f, n) && f->g->comes_anywhere);
}

static void
edges_of_node(struct flow *f, uint32_t v, emit_edge *emit)
{
	const struct st_node *n = &f->g->nodes.v[v];
	for (unsigned i = 0; i < 2; i++)
		if (n->next[i] != ST_NO_NODE)
			emit(f, v, n->next[i]);
	if (n->leaves || may_be_left(f, n) || is_indirect(n) || n->piece.how == ST_PIECE_STOP)
		emit(f, v, f->outside);
	if (goes_anywhere(f, n))
		emit(f, v, f->goal);
}

static void
all_edges(struct flow *f, emit_edge *emit)
{
	for (size_t i = 0; i < f->asked->n; i++) {
		uint32_t to = f->asked->from[i];
		if (to != ST_NO_NODE)
			emit(f, f->root, to == ST_OUTSIDE ? f->outside : to);
	}
	for (uint32_t v = 0; v < f->g->nodes.n; v++)
		edges_of_node(f, v, emit);
	if (f->asked->renewed)
		for (size_t i = 0; i < f->g->entries.n; i++)
			emit(f, f->outside, f->g->entries.v[i]);
}

static void
count_edge(struct flow *f, uint32_t from, uint32_t to)
{
	f->first[from + 1]++;
	f->in_first[to + 1]++;
}

/* While edges are put in place, first and in_first say where a node's next one goes. */
static void
put_edge(struct flow *f, uint32_t from, uint32_t to)
{
	f->edges[f->first[from]++] = to;
	f->in[f->in_first[to]++] = from;
}

static void
add_up(uint32_t *first, uint32_t n)
{
	for (uint32_t v = 0; v < n; v++)
		first[v + 1] += first[v];
}

static void
step_back(uint32_t *first, uint32_t n)
{
	for (uint32_t v = n; v; v--)
		first[v] = first[v - 1];
	first[0] = 0;
}

static st_status
make_edges(struct flow *f)
{
	all_edges(f, count_edge);
	add_up(f->first, f->n);
	add_up(f->in_first, f->n);
	size_t n = f->first[f->n];
	f->edges = calloc(n + 1, sizeof *f->edges);
	f->in = calloc(n + 1, sizeof *f->in);
	if (!f->edges || !f->in)
		return -1;
	all_edges(f, put_edge);
	step_back(f->first, f->n);
	step_back(f->in_first, f->n);
	return 0;
}

/* ---- order ---- */

/* Depth first, with a stack of our own: functions can be large. next: a node's edge to be followed
 * next. */
static st_status
ways_put_in_order(struct flow *f)
{
	uint32_t *stack = calloc(f->n, sizeof *stack), *next = calloc(f->n, sizeof *next);
	uint32_t depth = 0, done = f->n;
	int status = stack && next ? 0 : -1;
	for (uint32_t v = 0; v < f->n; v++)
		f->number[v] = ST_NO_NODE;
	if (!status) {
		stack[depth++] = f->root;
		f->number[f->root] = 0;
	}
	while (depth) {
		uint32_t v = stack[depth - 1], edge = f->first[v] + next[v]++;
		if (edge >= f->first[v + 1]) {
			f->order[--done] = v;
			depth--;
		} else if (f->number[f->edges[edge]] == ST_NO_NODE) {
			f->number[f->edges[edge]] = 0;
			stack[depth++] = f->edges[edge];
		}
	}
	f->n_order = f->n - done;
	memmove(f->order, f->order + done, f->n_order * sizeof *f->order);
	for (uint32_t i = 0; i < f->n_order; i++)
		f->number[f->order[i]] = i;
	free(stack);
	free(next);
	return status;
}

/* ---- dominators ---- */

static uint32_t
intersect(const struct flow *f, uint32_t a, uint32_t b)
{
	while (a != b)
		if (f->number[a] > f->number[b])
			a = f->dominator[a];
		else
			b = f->dominator[b];
	return a;
}

static uint32_t
dominator_of(const struct flow *f, uint32_t v)
{
	uint32_t found = ST_NO_NODE;
	for (uint32_t i = f->in_first[v]; i < f->in_first[v + 1]; i++) {
		uint32_t from = f->in[i];
		if (f->number[from] == ST_NO_NODE || f->dominator[from] == ST_NO_NODE)
			continue;
		found = found == ST_NO_NODE ? from : intersect(f, found, from);
	}
	return found;
}

static void
find_dominators(struct flow *f)
{
	bool changed = true;
	for (uint32_t v = 0; v < f->n; v++)
		f->dominator[v] = ST_NO_NODE;
	f->dominator[f->root] = f->root;
	while (changed) {
		changed = false;
		for (uint32_t i = 1; i < f->n_order; i++) {
			uint32_t v = f->order[i], found = dominator_of(f, v);
			changed |= found != f->dominator[v];
			f->dominator[v] = found;
		}
	}
}

/* ---- what follows ---- */

/* Backwards from the goal. */
static st_status
find_reaching(struct flow *f)
{
	uint32_t *stack = calloc(f->n, sizeof *stack), depth = 0;
	if (!stack)
		return -1;
	f->reaches[f->goal] = true;
	stack[depth++] = f->goal;
	while (depth) {
		uint32_t v = stack[--depth];
		for (uint32_t i = f->in_first[v]; i < f->in_first[v + 1]; i++)
			if (!f->reaches[f->in[i]]) {
				f->reaches[f->in[i]] = true;
				stack[depth++] = f->in[i];
			}
	}
	free(stack);
	return 0;
}

/* Of a node's edges the one that leads on to the goal; ST_NO_NODE: none, or several. */
static uint32_t
only_way_on(const struct flow *f, uint32_t v)
{
	uint32_t found = ST_NO_NODE;
	for (uint32_t i = f->first[v]; i < f->first[v + 1]; i++) {
		if (!f->reaches[f->edges[i]] || f->edges[i] == found)
			continue;
		if (found != ST_NO_NODE)
			return ST_NO_NODE;
		found = f->edges[i];
	}
	return found;
}

static bool
leads_to_goal(const struct flow *f, uint32_t v)
{
	for (uint32_t i = f->first[v]; i < f->first[v + 1]; i++)
		if (f->reaches[f->edges[i]])
			return true;
	return false;
}

static bool
is_only_way(const struct flow *f)
{
	uint32_t v = f->root;
	if (f->goal == f->outside || leads_to_goal(f, f->goal))
		return false;
	for (uint32_t steps = 0; v != f->goal && steps <= f->n; steps++) {
		v = only_way_on(f, v);
		if (v == ST_NO_NODE || v == f->outside ||
		    (v != f->goal && goes_anywhere(f, &f->g->nodes.v[v])))
			return false;
	}
	return v == f->goal;
}

static st_status
ways_collect(const struct flow *f, struct st_ways *w)
{
	for (uint32_t v = f->dominator[f->goal]; v != f->root; v = f->dominator[v]) {
		uint32_t *node = v < f->g->nodes.n ? ST_PUSH(&w->must) : NULL;
		if (v < f->g->nodes.n && !node)
			return -1;
		if (node)
			*node = v;
	}
	for (size_t i = 0; i < w->must.n / 2; i++) {
		uint32_t other = w->must.v[w->must.n - 1 - i];
		w->must.v[w->must.n - 1 - i] = w->must.v[i];
		w->must.v[i] = other;
	}
	for (uint32_t v = 0; v < f->g->nodes.n; v++) {
		const struct st_node *n = &f->g->nodes.v[v];
		if (f->number[v] == ST_NO_NODE || !f->reaches[v] || v == f->goal)
			continue;
		w->open++;
		w->calls += st_piece_calls(n->piece.how);
		w->indirect += is_indirect(n);
	}
	w->open -= w->must.n;
	return 0;
}

static st_status
ways_allocate(struct flow *f)
{
	f->first = calloc(f->n + 1, sizeof *f->first);
	f->in_first = calloc(f->n + 1, sizeof *f->in_first);
	f->order = calloc(f->n, sizeof *f->order);
	f->number = calloc(f->n, sizeof *f->number);
	f->dominator = calloc(f->n, sizeof *f->dominator);
	f->reaches = calloc(f->n, sizeof *f->reaches);
	return f->first && f->in_first && f->order && f->number && f->dominator && f->reaches ? 0
	                                                                                      : -1;
}

static st_status
ways_find(struct flow *f, struct st_ways *w)
{
	if (ways_allocate(f) || make_edges(f) || ways_put_in_order(f))
		return -1;
	if (f->number[f->goal] == ST_NO_NODE || find_reaching(f))
		return -1;
	find_dominators(f);
	w->exact = is_only_way(f);
	return ways_collect(f, w);
}

st_status
st_ways_find(struct st_ways *w, const struct st_graph *g, const struct st_ways_asked *asked)
{
	struct flow f = {.g = g,
	                 .asked = asked,
	                 .n = (uint32_t)g->nodes.n + 2,
	                 .outside = (uint32_t)g->nodes.n,
	                 .root = (uint32_t)g->nodes.n + 1};
	*w = (struct st_ways){0};
	f.goal = asked->to == ST_OUTSIDE ? f.outside : asked->to;
	int status = ways_find(&f, w);
	free(f.first);
	free(f.edges);
	free(f.in_first);
	free(f.in);
	free(f.order);
	free(f.number);
	free(f.dominator);
	free(f.reaches);
	if (status)
		st_ways_free(w);
	return status;
}

void
st_ways_free(struct st_ways *w)
{
	free(w->must.v);
	*w = (struct st_ways){0};
}
