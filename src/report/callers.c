/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/callers.h"

#include <stdlib.h>

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

/* One side of a pair, and the samples in the callee while it was called by the caller. */
struct caller {
	uint64_t samples;
	uint32_t label;
};

static int
callers_order(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;
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
	const size_t top = c->r->top, shown = top && top < n ? top : n;
	struct st_table *t = st_table_new(columns, 3);
	qsort(v, n, sizeof *v, callers_order);
	for (size_t i = 0; i < shown; i++) {
		const struct st_context_label *l = &c->contexts.labels[v[i].label];
		st_table_count(t, v[i].samples);
		st_table_cell(t, "%.2f",
		              100.0 * (double)v[i].samples / (double)c->r->profile->run.stacks);
		if (l->in_function == UINT32_MAX)
			st_table_cell(t, "%s", l->name);
		else
			st_table_function(t, c->r->profile, l->in_function);
	}
	putc('\n', out);
	st_table_print(t, out, c->r->style);
	if (shown < n)
		fprintf(out, "  ... and %zu more (--top)\n", n - shown);
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
		if (found != ST_NO_NODE && nodes[found].weight.count)
			v[n++] = (struct caller){nodes[found].weight.count, nodes[i].label};
	}
	if (n)
		callers_print_table(c, v, n, "caller", out);
	n = 0;
	for (uint32_t i = own == ST_NO_NODE ? own : nodes[own].first; i != ST_NO_NODE;
	     i = nodes[i].next)
		if (nodes[i].weight.count)
			v[n++] = (struct caller){nodes[i].weight.count, nodes[i].label};
	if (n)
		callers_print_table(c, v, n, "callee", out);
	free(v);
}
