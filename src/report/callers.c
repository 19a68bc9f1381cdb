/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/callers.h"

#include <stdlib.h>

#include "base/number.h"
#include "contexts/contexts.h"

st_status
st_callers_open(struct st_callers *c, const struct st_report *r, struct st_error *e)
{
	const struct st_context_choice choice = {.join_threads = true};
	struct st_context_options o;
	*c = (struct st_callers){.r = r};
	if (!st_contexts_options(r->profile, &o) || !o.sampled)
		return ST_OK;
	if (st_contexts_make(&c->contexts, r->profile, &choice, e))
		return ST_FAILED;
	st_pairs_make(&c->contexts, &c->pairs);
	c->known = true;
	return c->pairs.out_of_memory
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for callers and callees")
	               : ST_OK;
}

void
st_callers_close(struct st_callers *c)
{
	if (c->known)
		st_forest_free(&c->pairs);
	st_contexts_free(&c->contexts);
}

/* One side of a pair, and the samples in the callee while it was called by the caller; the wall
 * time there, if it is known. */
struct caller {
	uint64_t samples, wall_ns;
	uint32_t label;
};

static int
callers_order(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;
	if (x->wall_ns != y->wall_ns)
		return x->wall_ns < y->wall_ns ? 1 : -1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->label > y->label) - (x->label < y->label);
}

static void
callers_print_table(const struct st_callers *c, struct caller *v, size_t n, const char *title,
                    FILE *out)
{
	const struct st_table_column columns[] = {
	        {"samples", false}, {"total %", false}, {title, true}};
	const struct st_table_column with_waits[] = {
	        {"wall time", false}, {"samples", false}, {"total %", false}, {title, true}};
	const bool waits = c->contexts.timed;
	const double all = (double)c->r->profile->run.stacks;
	const size_t top = c->r->top, shown = top && top < n ? top : n;
	struct st_table *t = st_table_new(waits ? with_waits : columns, waits ? 4 : 3);
	qsort(v, n, sizeof *v, callers_order);
	for (size_t i = 0; i < shown; i++) {
		const struct st_context_label *l = &c->contexts.labels[v[i].label];
		char wall[ST_NUMBER_SIZE];
		if (waits)
			st_table_cell(t, "%s", st_duration(wall, (int64_t)v[i].wall_ns));
		st_table_count(t, v[i].samples);
		if (all > 0)
			st_table_cell(t, "%.2f", 100.0 * (double)v[i].samples / all);
		else
			st_table_cell(t, "-");
		if (l->in_function == UINT32_MAX)
			st_table_cell(t, "%s", l->name);
		else
			st_table_function(t, c->r->profile, l->in_function);
	}
	putc('\n', out);
	st_table_print(t, out, c->r->style);
	if (shown < n)
		fprintf(out, "  ... and %s more (--top)\n", ST_NUMBER(n - shown));
	st_table_free(t);
}

/* Of a caller, the callee that was asked for; UINT32_MAX: it is none. */
static uint32_t
callers_find(const struct st_callers *c, uint32_t caller, uint32_t function)
{
	uint32_t i = c->pairs.nodes[caller].first;
	while (i != ST_NO_NODE &&
	       c->contexts.labels[c->pairs.nodes[i].label].in_function != function)
		i = c->pairs.nodes[i].next;
	return i;
}

static bool
callers_counts(const struct st_tree_node *pair)
{
	return pair->weight.count || pair->weight.self_ns;
}

static struct caller
caller_of(const struct st_tree_node *pair, uint32_t label)
{
	return (struct caller){pair->weight.count, pair->weight.self_ns, label};
}

void
st_callers_print(const struct st_callers *c, uint32_t function, FILE *out)
{
	const struct st_tree_node *nodes = c->pairs.nodes;
	struct caller *v = c->known ? calloc((size_t)c->pairs.n + 1, sizeof *v) : NULL;
	uint32_t own = ST_NO_NODE;
	size_t n = 0;
	if (!v)
		return;
	for (uint32_t i = c->pairs.first; i != ST_NO_NODE; i = nodes[i].next) {
		const uint32_t found = callers_find(c, i, function);
		if (c->contexts.labels[nodes[i].label].in_function == function)
			own = i;
		if (found != ST_NO_NODE && callers_counts(&nodes[found]))
			v[n++] = caller_of(&nodes[found], nodes[i].label);
	}
	if (n)
		callers_print_table(c, v, n, "caller", out);
	n = 0;
	for (uint32_t i = own == ST_NO_NODE ? own : nodes[own].first; i != ST_NO_NODE;
	     i = nodes[i].next)
		if (callers_counts(&nodes[i]))
			v[n++] = caller_of(&nodes[i], nodes[i].label);
	if (n)
		callers_print_table(c, v, n, "callee", out);
	free(v);
}
