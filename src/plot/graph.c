/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plot/layers.h"
#include "plot/svg.h"
#include "report/text.h"

/* In pixels; the boxes are those of the page (web/src/parts/graph.js). */
enum {
	GRAPH_WIDTH = 164,
	GRAPH_HEIGHT = 44,
	GRAPH_GAP = 24,
	GRAPH_RISE = 52,
	GRAPH_PASS = 12,
	GRAPH_MARGIN = 16,
	GRAPH_TOP = 56,
	GRAPH_WIDEST = 12, /* the width of an edge with a share of 1 */
	GRAPH_LETTERS = 19 /* of a name in a box */
};

struct graph_drawing {
	const struct st_graph *g;
	struct st_layers layers;
	struct st_svg svg;
	double left; /* of the graph */
};

static double
graph_share(double share)
{
	return fmin(fmax(share, 0), 1);
}

/* Hot boxes are red, cold ones pale. */
static void
graph_heat(char *style, size_t size, double share)
{
	const double heat = sqrt(graph_share(share));
	snprintf(style, size, "fill:hsl(%ld,90%%,%ld%%)", lround(48 - 40 * heat),
	         lround(93 - 31 * heat));
}

static struct st_layers_point
graph_point(const struct graph_drawing *d, struct st_layers_point p)
{
	return (struct st_layers_point){p.x + d->left, p.y + GRAPH_TOP + GRAPH_MARGIN};
}

/* The i-th point of an edge in the picture: it begins and ends at the sides of its boxes. */
static struct st_layers_point
graph_edge_point(const struct graph_drawing *d, const struct st_layers_edge *e, size_t i)
{
	const struct st_layers_point *points = &d->layers.points.v[e->first_point];
	const bool down = points[0].y < points[e->n_points - 1].y;
	const double half = (down ? 1 : -1) * GRAPH_HEIGHT / 2.0;
	struct st_layers_point p = graph_point(d, points[i]);
	p.y += !i ? half : i == e->n_points - 1 ? -half : 0;
	return p;
}

static void
graph_draw_edge(struct graph_drawing *d, size_t k)
{
	const struct st_graph_edge *edge = &d->g->edges[k];
	const struct st_layers_edge *e = &d->layers.edges[k];
	const bool other = d->g->nodes[edge->from].other || d->g->nodes[edge->to].other;
	char style[48];
	snprintf(style, sizeof style, "stroke-width:%.2f",
	         fmax(0.75, GRAPH_WIDEST * graph_share(edge->share)));
	st_svg_path_begin_styled(&d->svg, other ? "edge others" : "edge", style);
	struct st_layers_point before = graph_edge_point(d, e, 0);
	st_svg_path_to(&d->svg, before.x, before.y);
	for (size_t i = 1; i < e->n_points; i++) {
		const struct st_layers_point p = graph_edge_point(d, e, i);
		const double middle = (before.y + p.y) / 2;
		st_svg_path_curve(&d->svg, before.x, middle, p.x, middle, p.x, p.y);
		before = p;
	}
	st_svg_path_end(&d->svg, 0, edge->hint);
	const double back = graph_edge_point(d, e, e->n_points - 2).y < before.y ? -8 : 8;
	st_svg_path_begin(&d->svg, "arrow");
	st_svg_path_to(&d->svg, before.x, before.y);
	st_svg_path_to(&d->svg, before.x - 4, before.y + back);
	st_svg_path_to(&d->svg, before.x + 4, before.y + back);
	st_svg_path_end(&d->svg, 1, NULL);
}

static void
graph_draw_text(struct graph_drawing *d, size_t k)
{
	const struct st_graph_edge *edge = &d->g->edges[k];
	const struct st_layers_edge *e = &d->layers.edges[k];
	if (!edge->text)
		return;
	const size_t last = e->n_points - 1;
	const struct st_layers_point *points = &d->layers.points.v[e->first_point];
	const struct st_layers_point a = graph_point(d, points[last / 2]),
	                             b = graph_point(d, points[last - last / 2]);
	st_svg_text(&d->svg, floor((a.x + b.x) / 2 + 0.5), floor((a.y + b.y) / 2 + 0.5) + 4,
	            "middle edge-label", edge->text);
}

static void
graph_draw_box(struct graph_drawing *d, size_t i)
{
	const struct st_graph_node *n = &d->g->nodes[i];
	const struct st_layers_point at = graph_point(d, d->layers.middles[i]);
	char style[64], *name = st_printable(n->name);
	graph_heat(style, sizeof style, n->share);
	if (n->other)
		snprintf(style, sizeof style, "fill:#e4e4e4");
	st_svg_rectangle(&d->svg, at.x - GRAPH_WIDTH / 2.0, at.y - GRAPH_HEIGHT / 2.0, GRAPH_WIDTH,
	                 GRAPH_HEIGHT,
	                 n->other    ? "box others"
	                 : n->centre ? "box centre"
	                             : "box",
	                 style, n->hint);
	if (name) {
		st_shorten(name, GRAPH_LETTERS - (n->recursive ? 2 : 0));
		char *text = st_text_of("%s%s", name, n->recursive ? " \u21bb" : "");
		st_svg_text(&d->svg, at.x, at.y - 4, "middle name", text ? text : name);
		free(text);
	}
	st_svg_text(&d->svg, at.x, at.y + 13, "middle label", n->line);
	free(name);
}

static void
graph_draw(struct graph_drawing *d, FILE *out)
{
	const struct st_graph *g = d->g;
	const double least = fmax(st_svg_text_width(g->note), 1.3 * st_svg_text_width(g->title));
	const double width = fmax(d->layers.width, least) + 2 * GRAPH_MARGIN;
	d->left = (width - d->layers.width) / 2;
	st_svg_begin(&d->svg, out, width, d->layers.height + GRAPH_TOP + 2 * GRAPH_MARGIN,
	             g->title);
	st_svg_text(&d->svg, GRAPH_MARGIN, 24, "title", g->title);
	st_svg_text(&d->svg, GRAPH_MARGIN, 44, "note", g->note);
	for (size_t i = 0; i < g->n_edges; i++)
		if (d->layers.edges[i].n_points)
			graph_draw_edge(d, i);
	for (size_t i = 0; i < g->n_nodes; i++)
		graph_draw_box(d, i);
	for (size_t i = 0; i < g->n_edges; i++)
		if (d->layers.edges[i].n_points)
			graph_draw_text(d, i);
	st_svg_end(&d->svg);
}

st_status
st_plot_graph(const struct st_graph *g, FILE *out)
{
	struct st_layers_edge *edges = calloc(g->n_edges + 1, sizeof *edges);
	struct graph_drawing d = {.g = g,
	                          .layers = {.n_nodes = g->n_nodes,
	                                     .n_edges = g->n_edges,
	                                     .edges = edges,
	                                     .box_width = GRAPH_WIDTH,
	                                     .box_height = GRAPH_HEIGHT,
	                                     .gap = GRAPH_GAP,
	                                     .rise = GRAPH_RISE,
	                                     .pass = GRAPH_PASS}};
	for (size_t i = 0; edges && i < g->n_edges; i++) {
		edges[i].from = g->edges[i].from;
		edges[i].to = g->edges[i].to;
	}
	const st_status status = edges ? st_layers_place(&d.layers) : ST_FAILED;
	if (!status)
		graph_draw(&d, out);
	st_layers_free(&d.layers);
	free(edges);
	return status;
}
