/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A layered layout of a directed graph: callers above callees, few crossings, long edges as chains
 * of points. It is Sugiyama's method, with the same steps as web/src/data/layers.js, so that the
 * page and strobe plot callgraph place a graph in the same way. */
#ifndef STROBE_PLOT_LAYERS_H
#define STROBE_PLOT_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/vec.h"

struct st_layers_point {
	double x, y;
};

struct st_layers_edge {
	uint32_t from, to; /* nodes */
	/* The result: points of struct st_layers, from the middle of the first node to the middle
	 * of the last one. n_points is 0 for an edge from a node to itself. */
	size_t first_point, n_points;
};

struct st_layers {
	size_t n_nodes, n_edges;
	struct st_layers_edge *edges;
	double box_width, box_height; /* of each node */
	double gap, rise;             /* between nodes of a layer, and between layers */
	double pass;                  /* the width that an edge takes in a layer that it passes */

	/* The result. */
	struct st_layers_point *middles; /* of the nodes */
	ST_VEC(struct st_layers_point) points;
	double width, height;
};

/* Places the nodes. ST_FAILED: memory is exhausted. The caller frees in both cases; the edges are
 * the caller's. */
st_status st_layers_place(struct st_layers *l);
void st_layers_free(struct st_layers *l);

#endif
