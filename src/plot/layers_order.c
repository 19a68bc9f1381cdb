/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot/layers_order.h"

#include <stdlib.h>
#include <string.h>

enum { ORDER_SWEEPS = 12 };

st_status
st_layers_add_cell(struct st_layers_cells *c, int32_t rank, bool passes)
{
	struct st_layers_cell *cell = ST_PUSH(&c->v);
	if (!cell)
		return ST_FAILED;
	cell->rank = rank;
	cell->passes = passes;
	if ((size_t)rank + 1 > c->n_layers)
		c->n_layers = (size_t)rank + 1;
	return ST_OK;
}

st_status
st_layers_join(struct st_layers_cells *c, uint32_t from, uint32_t to)
{
	struct st_layers_link *link = ST_PUSH(&c->links);
	if (!link)
		return ST_FAILED;
	const uint32_t number = (uint32_t)c->links.n;
	struct st_layers_cell *upper = &c->v.v[from], *lower = &c->v.v[to];
	*link = (struct st_layers_link){.from = from, .to = to};
	*(upper->last_down ? &c->links.v[upper->last_down - 1].next_down : &upper->first_down) =
	        number;
	*(lower->last_up ? &c->links.v[lower->last_up - 1].next_up : &lower->first_up) = number;
	upper->last_down = lower->last_up = number;
	return ST_OK;
}

static st_status
order_make_layers(struct st_layers_cells *c)
{
	c->layers = calloc(c->n_layers + 1, sizeof *c->layers);
	if (!c->layers)
		return ST_FAILED;
	for (size_t i = 0; i < c->v.n; i++)
		c->layers[c->v.v[i].rank].n++;
	for (size_t r = 0; r < c->n_layers; r++) {
		c->layers[r].cells = calloc(c->layers[r].n + 1, sizeof *c->layers[r].cells);
		if (!c->layers[r].cells)
			return ST_FAILED;
		c->layers[r].n = 0;
	}
	for (uint32_t i = 0; i < c->v.n; i++) {
		struct st_layers_layer *layer = &c->layers[c->v.v[i].rank];
		c->v.v[i].place = (uint32_t)layer->n;
		layer->cells[layer->n++] = i;
	}
	return ST_OK;
}

static int
order_by_place(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* ends: as many as links. */
static size_t
order_crossings_below(const struct st_layers_cells *c, const struct st_layers_layer *layer,
                      uint32_t *ends)
{
	size_t n = 0, sum = 0;
	for (size_t i = 0; i < layer->n; i++) {
		const size_t first = n;
		const struct st_layers_cell *cell = &c->v.v[layer->cells[i]];
		for (uint32_t k = cell->first_down; k; k = c->links.v[k - 1].next_down)
			ends[n++] = c->v.v[c->links.v[k - 1].to].place;
		qsort(&ends[first], n - first, sizeof *ends, order_by_place);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			sum += ends[i] > ends[k];
	return sum;
}

static size_t
order_crossings(const struct st_layers_cells *c, uint32_t *ends)
{
	size_t sum = 0;
	for (size_t r = 0; r < c->n_layers; r++)
		sum += order_crossings_below(c, &c->layers[r], ends);
	return sum;
}

struct order_sorting {
	const struct st_layers_cells *c;
	double *wanted; /* by cell */
};

static int
order_by_wanted(const void *a, const void *b, void *of)
{
	const struct order_sorting *s = of;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint32_t px = s->c->v.v[x].place, py = s->c->v.v[y].place;
	if (s->wanted[x] != s->wanted[y])
		return s->wanted[x] < s->wanted[y] ? -1 : 1;
	return (px > py) - (px < py);
}

static void
order_sort(struct st_layers_cells *c, struct st_layers_layer *layer, bool down, double *wanted)
{
	struct order_sorting s = {c, wanted};
	for (size_t i = 0; i < layer->n; i++) {
		const uint32_t cell = layer->cells[i];
		const struct st_layers_cell *at = &c->v.v[cell];
		double sum = 0;
		size_t n = 0;
		for (uint32_t k = down ? at->first_up : at->first_down; k; n++) {
			const struct st_layers_link *link = &c->links.v[k - 1];
			sum += c->v.v[down ? link->from : link->to].place;
			k = down ? link->next_up : link->next_down;
		}
		wanted[cell] = n ? sum / (double)n : at->place;
	}
	qsort_r(layer->cells, layer->n, sizeof *layer->cells, order_by_wanted, &s);
	for (size_t i = 0; i < layer->n; i++)
		c->v.v[layer->cells[i]].place = (uint32_t)i;
}

/* best: the place of each cell. */
static void
order_keep(const struct st_layers_cells *c, uint32_t *best)
{
	for (size_t i = 0; i < c->v.n; i++)
		best[i] = c->v.v[i].place;
}

static void
order_take(struct st_layers_cells *c, const uint32_t *best)
{
	for (uint32_t i = 0; i < c->v.n; i++) {
		c->v.v[i].place = best[i];
		c->layers[c->v.v[i].rank].cells[best[i]] = i;
	}
}

static void
order_sweep(struct st_layers_cells *c, double *wanted, uint32_t *ends, uint32_t *best)
{
	size_t least = order_crossings(c, ends);
	order_keep(c, best);
	for (int sweep = 0; sweep < ORDER_SWEEPS && least; sweep++) {
		const bool down = sweep % 2 == 0;
		for (size_t r = 0; r < c->n_layers; r++)
			order_sort(c, &c->layers[down ? r : c->n_layers - 1 - r], down, wanted);
		const size_t now = order_crossings(c, ends);
		if (now >= least)
			continue;
		least = now;
		order_keep(c, best);
	}
	order_take(c, best);
}

st_status
st_layers_order(struct st_layers_cells *c)
{
	double *wanted = calloc(c->v.n + 1, sizeof *wanted);
	uint32_t *ends = calloc(c->links.n + 1, sizeof *ends);
	uint32_t *best = calloc(c->v.n + 1, sizeof *best);
	const st_status status =
	        wanted && ends && best && !order_make_layers(c) ? ST_OK : ST_FAILED;
	if (!status)
		order_sweep(c, wanted, ends, best);
	free(wanted);
	free(ends);
	free(best);
	return status;
}

void
st_layers_free_cells(struct st_layers_cells *c)
{
	for (size_t r = 0; c->layers && r < c->n_layers; r++)
		free(c->layers[r].cells);
	free(c->layers);
	free(c->v.v);
	free(c->links.v);
}
