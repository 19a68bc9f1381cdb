/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layered layout of graphs: tests/web/unit/layers.test.js places the same graphs, at the same
 * points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "plot/layers.h"

enum { MOST_EDGES = 128 };

struct graph {
	struct st_layers l;
	struct st_layers_edge edges[MOST_EDGES];
};

static void
place(struct graph *g, size_t n)
{
	g->l = (struct st_layers){.n_nodes = n,
	                          .n_edges = g->l.n_edges,
	                          .edges = g->edges,
	                          .box_width = 100,
	                          .box_height = 40,
	                          .gap = 20,
	                          .rise = 60,
	                          .pass = 10};
	assert_int_equal(st_layers_place(&g->l), 0);
}

static void
edge(struct graph *g, uint32_t from, uint32_t to)
{
	assert_true(g->l.n_edges < MOST_EDGES);
	g->edges[g->l.n_edges++] = (struct st_layers_edge){.from = from, .to = to};
}

static void
is_at(const struct graph *g, size_t node, double x, double y)
{
	assert_true(g->l.middles[node].x == x);
	assert_true(g->l.middles[node].y == y);
}

static struct st_layers_point
point_of(const struct graph *g, size_t of, size_t i)
{
	assert_true(i < g->edges[of].n_points);
	return g->l.points.v[g->edges[of].first_point + i];
}

static void
callers_are_above_the_middle_of_callees(void **state)
{
	(void)state;
	struct graph g = {0};
	edge(&g, 0, 1);
	edge(&g, 0, 2);
	place(&g, 3);
	is_at(&g, 0, 110, 20);
	is_at(&g, 1, 50, 120);
	is_at(&g, 2, 170, 120);
	assert_true(g.l.width == 220 && g.l.height == 140);
	assert_int_equal(g.edges[0].n_points, 2);
	assert_true(point_of(&g, 0, 0).x == 110 && point_of(&g, 0, 1).x == 50);
	st_layers_free(&g.l);
}

static void
nothing_and_single_nodes(void **state)
{
	(void)state;
	struct graph g = {0};
	place(&g, 0);
	assert_true(g.l.width == 0 && g.l.height == 0);
	st_layers_free(&g.l);
	place(&g, 1);
	is_at(&g, 0, 50, 20);
	st_layers_free(&g.l);
	place(&g, 2);
	is_at(&g, 0, 50, 20);
	is_at(&g, 1, 170, 20);
	st_layers_free(&g.l);
}

static void
long_edges_go_around(void **state)
{
	(void)state;
	struct graph g = {0};
	edge(&g, 0, 1);
	edge(&g, 1, 2);
	edge(&g, 0, 2);
	place(&g, 3);
	assert_int_equal(g.edges[2].n_points, 3);
	assert_true(point_of(&g, 2, 1).y == 120);
	assert_true(fabs(point_of(&g, 2, 1).x - g.l.middles[1].x) == 75);
	st_layers_free(&g.l);
}

static void
cycles_have_an_edge_upwards(void **state)
{
	(void)state;
	struct graph g = {0};
	edge(&g, 0, 1);
	edge(&g, 1, 2);
	edge(&g, 2, 1);
	edge(&g, 1, 1);
	place(&g, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(g.l.middles[i].y == 20 + 100 * (double)i);
	assert_true(point_of(&g, 2, 0).y == 220 && point_of(&g, 2, 1).y == 120);
	assert_int_equal(g.edges[3].n_points, 0);
	st_layers_free(&g.l);
}

static void
crossings_are_undone(void **state)
{
	(void)state;
	struct graph g = {0};
	edge(&g, 0, 3);
	edge(&g, 1, 2);
	place(&g, 4);
	assert_true(g.l.middles[0].x < g.l.middles[1].x);
	assert_true(g.l.middles[0].x == g.l.middles[3].x);
	assert_true(g.l.middles[1].x == g.l.middles[2].x);
	st_layers_free(&g.l);
}

static void
starts_are_just_above_what_they_call(void **state)
{
	(void)state;
	struct graph g = {0};
	edge(&g, 0, 1);
	edge(&g, 1, 2);
	edge(&g, 3, 2);
	place(&g, 4);
	assert_true(g.l.middles[3].y == g.l.middles[1].y);
	st_layers_free(&g.l);
}

static uint32_t
next_random(uint32_t *seed, uint32_t n)
{
	*seed = (uint32_t)(((uint64_t)*seed * 1103515245u + 12345u) % 2147483648u);
	return (*seed >> 8) % n;
}

static void
boxes_do_not_overlap(const struct graph *g)
{
	for (size_t i = 0; i < g->l.n_nodes; i++) {
		const struct st_layers_point a = g->l.middles[i];
		assert_true(a.x >= 50 && a.x <= g->l.width - 50 + 0.5);
		for (size_t k = 0; k < i; k++)
			assert_true(a.y != g->l.middles[k].y ||
			            fabs(a.x - g->l.middles[k].x) >= 119);
	}
}

static void
routes_join_their_boxes(const struct graph *g)
{
	for (size_t i = 0; i < g->l.n_edges; i++) {
		const struct st_layers_edge *e = &g->edges[i];
		if (e->from == e->to) {
			assert_int_equal(e->n_points, 0);
			continue;
		}
		const struct st_layers_point a = point_of(g, i, 0),
		                             b = point_of(g, i, e->n_points - 1);
		assert_true(a.x == g->l.middles[e->from].x && a.y == g->l.middles[e->from].y);
		assert_true(b.x == g->l.middles[e->to].x && b.y == g->l.middles[e->to].y);
		assert_true(a.y != b.y);
	}
}

/* Adds all coordinates to a checksum. */
static uint32_t
add_places(const struct graph *g, uint32_t sum)
{
	for (size_t i = 0; i < g->l.n_nodes; i++)
		sum = (sum * 31 + (uint32_t)g->l.middles[i].x) * 31 + (uint32_t)g->l.middles[i].y;
	for (size_t i = 0; i < g->l.n_edges; i++)
		for (size_t k = 0; k < g->edges[i].n_points; k++) {
			const struct st_layers_point p = point_of(g, i, k);
			sum = (sum * 31 + (uint32_t)p.x) * 31 + (uint32_t)p.y;
		}
	return sum;
}

static void
random_graphs(void **state)
{
	(void)state;
	uint32_t seed = 1, sum = 0;
	for (int round = 0; round < 200; round++) {
		struct graph g = {0};
		const uint32_t n = 2 + next_random(&seed, 30);
		for (uint32_t m = next_random(&seed, 3 * n); m; m--) {
			const uint32_t from = next_random(&seed, n);
			edge(&g, from, next_random(&seed, n));
		}
		place(&g, n);
		boxes_do_not_overlap(&g);
		routes_join_their_boxes(&g);
		sum = add_places(&g, sum);
		st_layers_free(&g.l);
	}
	assert_int_equal(sum, 274364417); /* that of the page, too: tests/web/unit/layers.test.js */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(callers_are_above_the_middle_of_callees),
	        cmocka_unit_test(nothing_and_single_nodes),
	        cmocka_unit_test(long_edges_go_around),
	        cmocka_unit_test(cycles_have_an_edge_upwards),
	        cmocka_unit_test(crossings_are_undone),
	        cmocka_unit_test(starts_are_just_above_what_they_call),
	        cmocka_unit_test(random_graphs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
