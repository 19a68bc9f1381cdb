/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to the layered layout: the cells of its layers, and their order with few crossings. */
#ifndef STROBE_PLOT_LAYERS_ORDER_H
#define STROBE_PLOT_LAYERS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

/* A node, or the point at which an edge passes a layer. Links are 1 + their index; 0: none. */
struct st_layers_cell {
	int32_t rank;
	bool passes;
	uint32_t first_up, last_up, first_down, last_down;
	uint32_t place; /* in its layer */
};

/* Joins cells of neighbouring layers. */
struct st_layers_link {
	uint32_t from, to;           /* the upper cell and the lower one */
	uint32_t next_up, next_down; /* of the lower cell, of the upper cell */
};

struct st_layers_layer {
	uint32_t *cells; /* from left to right */
	size_t n;
};

struct st_layers_cells {
	ST_VEC(struct st_layers_cell) v;
	ST_VEC(struct st_layers_link) links;
	struct st_layers_layer *layers;
	size_t n_layers;
};

/* ST_FAILED: memory is exhausted. */
st_status st_layers_add_cell(struct st_layers_cells *c, int32_t rank, bool passes);
st_status st_layers_join(struct st_layers_cells *c, uint32_t from, uint32_t to);
/* Makes the layers, and sorts each by the mean place of the neighbours of its cells in the layer
 * before, downwards and upwards; keeps the order with the fewest crossings. */
st_status st_layers_order(struct st_layers_cells *c);
void st_layers_free_cells(struct st_layers_cells *c);

#endif
