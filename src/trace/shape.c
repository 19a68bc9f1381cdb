/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = UINT32_MAX, FEW_FUNCTIONS = 20, LEAST_LEVELS = 2 };

enum st_trace_shape
st_trace_shape_named(const char *name)
{
	static const char *const names[] = {[ST_SHAPE_TOP_DOWN] = "top-down",
	                                    [ST_SHAPE_BOTTOM_UP] = "bottom-up",
	                                    [ST_SHAPE_MATCH] = "match"};
	for (unsigned i = ST_SHAPE_TOP_DOWN; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return (enum st_trace_shape)i;
	return ST_SHAPE_NONE;
}

/* A number that is one more than that of its neighbour, at most. */
static bool
comes_after(uint32_t *number, uint32_t neighbour)
{
	if (neighbour == UNKNOWN || *number <= neighbour + 1)
		return false;
	*number = neighbour + 1;
	return true;
}

static bool
is_call_of_another(const struct st_trace_pair *pair)
{
	return pair->calls && pair->caller != ST_TRACE_NOBODY && pair->caller != pair->callee;
}

static void
begin_graph(struct st_trace_graph *g, const struct st_trace *t)
{
	for (size_t i = 0; i < t->functions.n; i++) {
		g->level[i] = UNKNOWN;
		g->height[i] = 0;
	}
	for (size_t i = 0; i < t->pairs.n; i++) {
		const struct st_trace_pair *pair = &t->pairs.v[i];
		if (pair->calls && pair->caller == ST_TRACE_NOBODY)
			g->level[pair->callee] = 0;
		if (is_call_of_another(pair))
			g->height[pair->caller] = UNKNOWN;
	}
}

/* Each round finds what is one call farther away. */
static void
measure_graph(struct st_trace_graph *g, const struct st_trace *t)
{
	bool changes = true;
	while (changes) {
		changes = false;
		for (size_t i = 0; i < t->pairs.n; i++) {
			const struct st_trace_pair *pair = &t->pairs.v[i];
			if (!is_call_of_another(pair))
				continue;
			changes |= comes_after(&g->level[pair->callee], g->level[pair->caller]);
			changes |= comes_after(&g->height[pair->caller], g->height[pair->callee]);
		}
	}
}

st_status
st_trace_graph_make(struct st_trace_graph *g, const struct st_trace *t, enum st_trace_shape shape)
{
	const size_t n = t->functions.n;
	*g = (struct st_trace_graph){.shape = shape, .functions = n};
	g->level = calloc(n + 1, sizeof *g->level);
	g->height = calloc(n + 1, sizeof *g->height);
	if (!g->level || !g->height)
		return ST_FAILED;
	begin_graph(g, t);
	measure_graph(g, t);
	for (size_t i = 0; i < n; i++)
		if (g->level[i] != UNKNOWN && g->level[i] >= g->levels)
			g->levels = g->level[i] + 1;
	g->kept = (g->levels + 1) / 2;
	g->kept = g->kept < LEAST_LEVELS ? LEAST_LEVELS : g->kept;
	return ST_OK;
}

void
st_trace_graph_free(struct st_trace_graph *g)
{
	free(g->level);
	free(g->height);
}

static bool
is_too_high(const struct st_trace_graph *g, uint32_t f, char *reason, size_t room)
{
	if (g->height[f] == UNKNOWN || g->height[f] < g->kept)
		return false;
	snprintf(reason, room,
	         "%u calls lead from it down to a function that calls no other, and functions with "
	         "fewer than %u are kept",
	         g->height[f], g->kept);
	return true;
}

static bool
is_too_low(const struct st_trace_graph *g, uint32_t f, char *reason, size_t room)
{
	if (g->level[f] == UNKNOWN || !g->level[f])
		return false;
	if (g->level[f] >= g->kept)
		snprintf(reason, room,
		         "it is on level %u of the call graph, and levels 0 to %u are kept",
		         g->level[f], g->kept - 1);
	else if (g->functions > FEW_FUNCTIONS && !g->height[f])
		snprintf(reason, room, "it calls no other function");
	else
		return false;
	return true;
}

bool
st_trace_graph_leaves_out(const struct st_trace_graph *g, uint32_t function, char *reason,
                          size_t room)
{
	switch (g->shape) {
	case ST_SHAPE_TOP_DOWN:
		return is_too_low(g, function, reason, room);
	case ST_SHAPE_BOTTOM_UP:
		return is_too_high(g, function, reason, room);
	default:
		return false;
	}
}
