/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/layers_order.h"

enum { LAYERS_ROUNDS = 12 };

/* An edge that points downwards, and the cells between its nodes. */
struct layers_chain {
	uint32_t from, to;
	size_t edge;
	bool turned;                   /* from and to are exchanged */
	uint32_t first_pass, n_passes; /* the first of these cells, and their number */
};

struct layers_making {
	struct st_layers *l;
	struct layers_chain *chains;
	size_t n_chains;
	int32_t *ranks;
	struct st_layers_cells cells;
	double *x;
};

/* ---- directions and layers ---- */

/* A search in depth: an edge to a node on the current path closes a cycle, and is turned. */
struct layers_search {
	uint32_t *first, *next; /* chains of each node: 1 + index; 0: none */
	uint32_t *at;           /* of each node: the chain to be followed next */
	uint32_t *path;
	uint8_t *state; /* 1: on the path, 2: done */
};

static void
layers_search_from(struct layers_making *m, struct layers_search *s, uint32_t start)
{
	size_t n = 0;
	if (s->state[start])
		return;
	s->path[n++] = start;
	s->state[start] = 1;
	while (n) {
		const uint32_t top = s->path[n - 1], chain = s->at[top];
		if (!chain) {
			s->state[top] = 2;
			n--;
			continue;
		}
		s->at[top] = s->next[chain - 1];
		const uint32_t to = m->chains[chain - 1].to;
		if (s->state[to] == 1)
			m->chains[chain - 1].turned = true;
		else if (!s->state[to]) {
			s->state[to] = 1;
			s->path[n++] = to;
		}
	}
}

static void
layers_search_all(struct layers_making *m, struct layers_search *s, uint8_t *called)
{
	const size_t n = m->l->n_nodes;
	for (size_t i = m->n_chains; i-- > 0;) {
		const struct layers_chain *c = &m->chains[i];
		s->next[i] = s->first[c->from];
		s->first[c->from] = (uint32_t)i + 1;
		called[c->to] = 1;
	}
	memcpy(s->at, s->first, n * sizeof *s->at);
	for (uint32_t i = 0; i < n; i++)
		if (!called[i])
			layers_search_from(m, s, i);
	for (uint32_t i = 0; i < n; i++)
		layers_search_from(m, s, i);
	for (size_t i = 0; i < m->n_chains; i++) {
		struct layers_chain *c = &m->chains[i];
		if (c->turned) {
			const uint32_t from = c->from;
			c->from = c->to;
			c->to = from;
		}
	}
}

static st_status
layers_point_downwards(struct layers_making *m)
{
	const size_t n = m->l->n_nodes + 1;
	struct layers_search s = {.first = calloc(n, sizeof *s.first),
	                          .next = calloc(m->n_chains + 1, sizeof *s.next),
	                          .at = calloc(n, sizeof *s.at),
	                          .path = calloc(n, sizeof *s.path),
	                          .state = calloc(n, 1)};
	uint8_t *called = calloc(n, 1);
	const bool good = s.first && s.next && s.at && s.path && s.state && called;
	if (good)
		layers_search_all(m, &s, called);
	free(called);
	free(s.first);
	free(s.next);
	free(s.at);
	free(s.path);
	free(s.state);
	return good ? ST_OK : ST_FAILED;
}

/* Puts a node one layer below the lowest of its callers, and a node without callers one layer above
 * the highest of its callees. */
static void
layers_rank(struct layers_making *m)
{
	bool changed = true;
	for (size_t round = 0; changed && round < m->l->n_nodes; round++) {
		changed = false;
		for (size_t i = 0; i < m->n_chains; i++) {
			const struct layers_chain *c = &m->chains[i];
			if (m->ranks[c->to] > m->ranks[c->from])
				continue;
			m->ranks[c->to] = m->ranks[c->from] + 1;
			changed = true;
		}
	}
	for (uint32_t node = 0; node < m->l->n_nodes; node++) {
		int32_t least = INT32_MAX;
		bool called = false;
		for (size_t i = 0; i < m->n_chains; i++) {
			const struct layers_chain *c = &m->chains[i];
			called |= c->to == node;
			if (c->from == node && m->ranks[c->to] < least)
				least = m->ranks[c->to];
		}
		if (!called && least != INT32_MAX)
			m->ranks[node] = least - 1;
	}
}

/* ---- cells ---- */

static st_status
layers_make_cells(struct layers_making *m)
{
	for (uint32_t i = 0; i < m->l->n_nodes; i++)
		if (st_layers_add_cell(&m->cells, m->ranks[i], false))
			return ST_FAILED;
	for (size_t i = 0; i < m->n_chains; i++) {
		struct layers_chain *c = &m->chains[i];
		uint32_t last = c->from;
		c->first_pass = (uint32_t)m->cells.v.n;
		for (int32_t rank = m->ranks[c->from] + 1; rank < m->ranks[c->to]; rank++) {
			const uint32_t cell = (uint32_t)m->cells.v.n;
			if (st_layers_add_cell(&m->cells, rank, true) ||
			    st_layers_join(&m->cells, last, cell))
				return ST_FAILED;
			last = cell;
			c->n_passes++;
		}
		if (st_layers_join(&m->cells, last, c->to))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- positions ---- */

static double
layers_half(const struct layers_making *m, uint32_t cell)
{
	return (m->cells.v.v[cell].passes ? m->l->pass : m->l->box_width) / 2;
}

/* The distance of the i-th cell of a layer from the one before it. */
static double
layers_apart(const struct layers_making *m, const struct st_layers_layer *layer, size_t i)
{
	return i ? layers_half(m, layer->cells[i - 1]) + m->l->gap + layers_half(m, layer->cells[i])
	         : 0;
}

static double
layers_wanted(const struct layers_making *m, uint32_t cell, bool up, bool down)
{
	double sum = 0;
	size_t n = 0;
	const struct st_layers_cell *c = &m->cells.v.v[cell];
	for (uint32_t i = up ? c->first_up : 0; i; i = m->cells.links.v[i - 1].next_up, n++)
		sum += m->x[m->cells.links.v[i - 1].from];
	for (uint32_t i = down ? c->first_down : 0; i; i = m->cells.links.v[i - 1].next_down, n++)
		sum += m->x[m->cells.links.v[i - 1].to];
	return n ? sum / (double)n : m->x[cell];
}

struct layers_pool {
	double sum;
	size_t n;
};

/* The positions nearest to the wanted ones (least squares) with the distances between neighbours:
 * pools those that would be too near. pools: as many as cells. */
static void
layers_spread(struct layers_making *m, const struct st_layers_layer *layer, bool up, bool down,
              struct layers_pool *pools)
{
	double offset = 0;
	size_t n = 0, cell = 0;
	for (size_t i = 0; i < layer->n; i++) {
		offset += layers_apart(m, layer, i);
		pools[n].sum = layers_wanted(m, layer->cells[i], up, down) - offset;
		pools[n++].n = 1;
		while (n > 1 && pools[n - 2].sum / (double)pools[n - 2].n >
		                        pools[n - 1].sum / (double)pools[n - 1].n) {
			pools[n - 2].sum += pools[n - 1].sum;
			pools[n - 2].n += pools[n - 1].n;
			n--;
		}
	}
	offset = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < pools[i].n; k++, cell++) {
			offset += layers_apart(m, layer, cell);
			m->x[layer->cells[cell]] = pools[i].sum / (double)pools[i].n + offset;
		}
}

static st_status
layers_across(struct layers_making *m)
{
	const size_t n = m->cells.n_layers;
	struct layers_pool *pools = calloc(m->cells.v.n + 1, sizeof *pools);
	if (!pools)
		return ST_FAILED;
	for (size_t r = 0; r < n; r++) {
		double at = 0;
		for (size_t i = 0; i < m->cells.layers[r].n; i++) {
			at += layers_apart(m, &m->cells.layers[r], i);
			m->x[m->cells.layers[r].cells[i]] = at;
		}
	}
	for (int round = 0; round < LAYERS_ROUNDS; round++) {
		const bool down = round % 2 == 0, both = round >= LAYERS_ROUNDS - 2;
		for (size_t r = 0; r < n; r++)
			layers_spread(m, &m->cells.layers[down ? r : n - 1 - r], down || both,
			              !down || both, pools);
	}
	free(pools);
	return ST_OK;
}

/* ---- the result ---- */

static struct st_layers_point
layers_point(const struct layers_making *m, uint32_t cell, double left)
{
	const struct st_layers *l = m->l;
	return (struct st_layers_point){floor(m->x[cell] - left + 0.5),
	                                l->box_height / 2 + m->cells.v.v[cell].rank *
	                                                            (l->box_height + l->rise)};
}

static st_status
layers_route(struct layers_making *m, const struct layers_chain *c, double left)
{
	struct st_layers_edge *e = &m->l->edges[c->edge];
	e->first_point = m->l->points.n;
	e->n_points = c->n_passes + 2;
	for (size_t i = 0; i < e->n_points; i++) {
		const size_t at = c->turned ? e->n_points - 1 - i : i;
		const uint32_t cell = !at                     ? c->from
		                      : at == e->n_points - 1 ? c->to
		                                              : c->first_pass + (uint32_t)at - 1;
		struct st_layers_point *p = ST_PUSH(&m->l->points);
		if (!p)
			return ST_FAILED;
		*p = layers_point(m, cell, left);
	}
	return ST_OK;
}

static st_status
layers_give(struct layers_making *m)
{
	struct st_layers *l = m->l;
	double left = INFINITY, right = -INFINITY;
	for (uint32_t i = 0; i < m->cells.v.n; i++) {
		left = fmin(left, m->x[i] - layers_half(m, i));
		right = fmax(right, m->x[i] + layers_half(m, i));
	}
	for (uint32_t i = 0; i < l->n_nodes; i++)
		l->middles[i] = layers_point(m, i, left);
	l->width = l->n_nodes ? floor(right - left + 0.5) : 0;
	l->height = m->cells.n_layers
	                    ? (double)m->cells.n_layers * (l->box_height + l->rise) - l->rise
	                    : 0;
	for (size_t i = 0; i < m->n_chains; i++)
		if (layers_route(m, &m->chains[i], left))
			return ST_FAILED;
	return ST_OK;
}

static st_status
layers_make(struct layers_making *m)
{
	struct st_layers *l = m->l;
	l->middles = calloc(l->n_nodes + 1, sizeof *l->middles);
	m->chains = calloc(l->n_edges + 1, sizeof *m->chains);
	m->ranks = calloc(l->n_nodes + 1, sizeof *m->ranks);
	if (!l->middles || !m->chains || !m->ranks)
		return ST_FAILED;
	for (size_t i = 0; i < l->n_edges; i++) {
		l->edges[i].first_point = l->edges[i].n_points = 0;
		if (l->edges[i].from != l->edges[i].to)
			m->chains[m->n_chains++] = (struct layers_chain){
			        .from = l->edges[i].from, .to = l->edges[i].to, .edge = i};
	}
	if (layers_point_downwards(m))
		return ST_FAILED;
	layers_rank(m);
	if (layers_make_cells(m) || st_layers_order(&m->cells))
		return ST_FAILED;
	m->x = calloc(m->cells.v.n + 1, sizeof *m->x);
	return m->x && !layers_across(m) ? layers_give(m) : ST_FAILED;
}

st_status
st_layers_place(struct st_layers *l)
{
	struct layers_making m = {.l = l};
	const st_status status = layers_make(&m);
	st_layers_free_cells(&m.cells);
	free(m.chains);
	free(m.ranks);
	free(m.x);
	return status;
}

void
st_layers_free(struct st_layers *l)
{
	free(l->middles);
	free(l->points.v);
}
