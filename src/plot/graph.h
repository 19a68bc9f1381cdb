/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call graph: functions as boxes, and calls as arrows. Colours and widths show the shares. */
#ifndef STROBE_PLOT_GRAPH_H
#define STROBE_PLOT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

struct st_graph_node {
	const char *name, *line; /* two lines of text */
	const char *hint;
	double share;   /* from 0 to 1 */
	bool recursive; /* has a mark after its name */
	bool other;     /* stands for the functions that are not drawn */
	bool centre;    /* has a thicker border */
};

struct st_graph_edge {
	uint32_t from, to;
	const char *text, *hint; /* text NULL: none */
	double share;
};

struct st_graph {
	const char *title, *note;
	const struct st_graph_node *nodes;
	size_t n_nodes;
	const struct st_graph_edge *edges;
	size_t n_edges;
};

/* ST_FAILED: memory is exhausted. */
st_status st_plot_graph(const struct st_graph *g, FILE *out);

#endif
