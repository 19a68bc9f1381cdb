/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/code_edges.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "contexts/pairs.h"
#include "report/branches.h"
#include "wire/results/blocks.h"

struct edges_maker {
	const struct st_profile *p;
	struct st_code_edges *edges;
	struct st_branches branches;
	bool *branch_taken; /* by branch: some block has brought it */
};

/* ---- from blocks ---- */

/* Returns the block that begins at an offset; NULL: none was executed there. */
static const struct st_profile_block *
edges_block_at(const struct st_profile *p, uint32_t image, uint64_t offset)
{
	size_t low = 0, high = p->blocks.n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct st_profile_block *b = &p->blocks.v[middle];
		if (b->image < image || (b->image == image && b->offset < offset))
			low = middle + 1;
		else
			high = middle;
	}
	const struct st_profile_block *b = low < p->blocks.n ? &p->blocks.v[low] : NULL;
	return b && b->image == image && b->offset == offset ? b : NULL;
}

/* Finds the line of code in a function; without one it is that of the function. */
static void
edges_line(struct edges_maker *m, uint32_t function, uint64_t offset, const char **file,
           uint32_t *number)
{
	const struct st_profile_function *f = &m->p->functions.v[function];
	struct st_image *image = st_places_image(&m->edges->places, f->image, NULL);
	struct st_line line;
	*file = f->file;
	*number = f->line;
	if (image && !st_image_line(image, offset, &line) && line.file && line.line) {
		*file = line.file;
		*number = line.line;
	}
}

/* Sets how often the branch at the end of a block was executed and taken. False: it is not known,
 * or another block that ends with the same branch has brought it. */
static bool
edges_branch(struct edges_maker *m, const struct st_profile_block *b, struct st_code_edge *edge)
{
	size_t end;
	const size_t first =
	        st_branches_from(&m->branches, b->image, b->offset, b->offset + b->bytes, &end);
	if (first == end || m->branch_taken[end - 1])
		return false;
	const struct st_branch *branch = &m->branches.v.v[end - 1];
	m->branch_taken[end - 1] = true;
	edge->followed = branch->taken;
	edge->executed = branch->taken + branch->not_taken;
	edge->conditional = true;
	return true;
}

/* A jump to the beginning of another function is a call, as it is for callgrind. */
static st_status
edges_add_block(struct edges_maker *m, const struct st_profile_block *b)
{
	struct st_code_edge edge = {.function = b->function,
	                            .callee = ST_EDGE_JUMP,
	                            .followed = b->executions,
	                            .executed = b->executions};
	const bool call = b->end == ST_END_CALL;
	if (b->target == UINT64_MAX || !b->bytes || b->function >= m->p->functions.n ||
	    (!call && b->end != ST_END_JUMP && b->end != ST_END_BRANCH))
		return ST_OK;
	if (b->end == ST_END_BRANCH && !edges_branch(m, b, &edge))
		return ST_OK;
	const struct st_profile_block *to = edges_block_at(m->p, b->image, b->target);
	const uint32_t target = to ? to->function : UINT32_MAX;
	const bool known = target < m->p->functions.n;
	if (call ||
	    (known && target != b->function && m->p->functions.v[target].offset == b->target)) {
		if (!known || !edge.followed)
			return ST_OK;
		edge.callee = target;
		edge.conditional = false;
		edge.executed = edge.followed;
	} else if (known && target != b->function) {
		return ST_OK; /* into the middle of another function */
	} else {
		edges_line(m, b->function, b->target, &edge.to_file, &edge.to_line);
	}
	edges_line(m, b->function, b->offset + b->bytes - 1, &edge.file, &edge.line);
	struct st_code_edge *slot = edge.executed ? ST_PUSH(&m->edges->v) : &edge;
	if (!slot)
		return ST_FAILED;
	*slot = edge;
	return ST_OK;
}

static st_status
edges_add_blocks(struct edges_maker *m)
{
	if (st_branches_open(&m->branches, m->p))
		return ST_FAILED;
	m->branch_taken = calloc(m->branches.v.n + 1, sizeof *m->branch_taken);
	if (!m->branch_taken)
		return ST_FAILED;
	for (size_t i = 0; i < m->p->blocks.n; i++)
		if (edges_add_block(m, &m->p->blocks.v[i]))
			return ST_FAILED;
	return ST_OK;
}

/* ---- order ---- */

static int
edges_compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int
edges_order(const void *a, const void *b)
{
	const struct st_code_edge *x = a, *y = b;
	const uint64_t of_x[] = {x->function, x->callee, x->line, x->to_line, x->conditional};
	const uint64_t of_y[] = {y->function, y->callee, y->line, y->to_line, y->conditional};
	for (size_t i = 0; i < sizeof of_x / sizeof *of_x; i++)
		if (of_x[i] != of_y[i])
			return of_x[i] < of_y[i] ? -1 : 1;
	const int files = edges_compare_texts(x->file, y->file);
	return files ? files : edges_compare_texts(x->to_file, y->to_file);
}

/* Adds up the edges of one line: a line may have several calls of a function. */
static void
edges_join(struct st_code_edges *edges)
{
	size_t kept = 0;
	st_order(edges->v.v, edges->v.n, sizeof *edges->v.v, edges_order);
	for (size_t i = 0; i < edges->v.n; i++) {
		const struct st_code_edge *edge = &edges->v.v[i];
		struct st_code_edge *last = kept ? &edges->v.v[kept - 1] : NULL;
		if (last && !edges_order(last, edge)) {
			last->followed += edge->followed;
			last->executed += edge->executed;
			last->samples += edge->samples;
		} else {
			edges->v.v[kept++] = *edge;
		}
	}
	edges->v.n = kept;
}

/* ---- of pairs of functions ---- */

/* Returns the edges of a pair, *n of them, which lie one behind the other after edges_join. */
static struct st_code_edge *
edges_of_pair(struct st_code_edges *edges, size_t sorted, uint32_t caller, uint32_t callee,
              size_t *n)
{
	size_t low = 0, high = sorted;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct st_code_edge *x = &edges->v.v[middle];
		if (x->function < caller || (x->function == caller && x->callee < callee))
			low = middle + 1;
		else
			high = middle;
	}
	*n = 0;
	while (low + *n < sorted && edges->v.v[low + *n].function == caller &&
	       edges->v.v[low + *n].callee == callee)
		++*n;
	return *n ? &edges->v.v[low] : NULL;
}

/* Adds calls at the line of the caller. */
static st_status
edges_add_pair(struct edges_maker *m, uint32_t caller, uint32_t callee, uint64_t calls,
               uint64_t samples)
{
	const struct st_profile_function *f = &m->p->functions.v[caller];
	struct st_code_edge *edge = ST_PUSH(&m->edges->v);
	if (!edge)
		return ST_FAILED;
	*edge = (struct st_code_edge){.function = caller,
	                              .callee = callee,
	                              .file = f->file,
	                              .line = f->line,
	                              .followed = calls,
	                              .executed = calls,
	                              .samples = samples};
	return ST_OK;
}

/* Adds the calls that the tool `calls` has counted and that no block has: those through pointers.
 */
static st_status
edges_add_calls(struct edges_maker *m, const struct st_profile_table *t)
{
	const size_t sorted = m->edges->v.n, rows = st_profile_rows(t);
	for (size_t i = 0; i < rows; i++) {
		const struct st_profile_value *v = &t->values.v[i * t->n_columns];
		const uint32_t caller = v[0].function, callee = v[1].function;
		uint64_t direct = 0;
		size_t n;
		if (caller >= m->p->functions.n || callee >= m->p->functions.n)
			continue;
		const struct st_code_edge *pair =
		        edges_of_pair(m->edges, sorted, caller, callee, &n);
		for (size_t k = 0; k < n; k++)
			direct += pair[k].followed;
		if (v[2].number > direct &&
		    edges_add_pair(m, caller, callee, v[2].number - direct, 0))
			return ST_FAILED;
	}
	edges_join(m->edges);
	return ST_OK;
}

/* Divides the samples of a pair among its calls in proportion to their executions, so that the sum
 * is kept. */
static void
edges_share(struct st_code_edge *pair, size_t n, uint64_t samples)
{
	double executions = 0, before = 0;
	for (size_t i = 0; i < n; i++)
		executions += (double)pair[i].followed;
	for (size_t i = 0; i < n; i++) {
		const double after = before + (double)pair[i].followed;
		const double all = (double)samples;
		pair[i].samples = (uint64_t)(all * after / executions + 0.5) -
		                  (uint64_t)(all * before / executions + 0.5);
		before = after;
	}
}

static st_status
edges_add_sampled(struct edges_maker *m, const struct st_contexts *c, const struct st_forest *pairs)
{
	const size_t sorted = m->edges->v.n;
	for (uint32_t i = pairs->first; i != ST_NO_NODE; i = pairs->nodes[i].next) {
		const uint32_t caller = c->labels[pairs->nodes[i].label].in_function;
		for (uint32_t k = pairs->nodes[i].first; k != ST_NO_NODE;
		     k = pairs->nodes[k].next) {
			const struct st_tree_node *node = &pairs->nodes[k];
			const uint32_t callee = c->labels[node->label].in_function;
			size_t n;
			if (caller >= m->p->functions.n || callee >= m->p->functions.n ||
			    !node->weight.count)
				continue;
			struct st_code_edge *pair =
			        edges_of_pair(m->edges, sorted, caller, callee, &n);
			if (pair)
				edges_share(pair, n, node->weight.count);
			else if (edges_add_pair(m, caller, callee, 1, node->weight.count))
				return ST_FAILED;
		}
	}
	edges_join(m->edges);
	return ST_OK;
}

static st_status
edges_add_samples(struct edges_maker *m, struct st_error *e)
{
	const struct st_context_choice choice = {.join_threads = true};
	struct st_context_options o;
	struct st_contexts c = {0};
	struct st_forest pairs;
	if (!st_contexts_options(m->p, &o))
		return ST_OK;
	st_status status = st_contexts_make(&c, m->p, &choice, e);
	if (!status) {
		st_pairs_make(&c, &pairs);
		if (pairs.out_of_memory || edges_add_sampled(m, &c, &pairs))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the calls");
		st_forest_free(&pairs);
	}
	st_contexts_free(&c);
	return status;
}

/* ---- all of it ---- */

static st_status
edges_add_counted(struct edges_maker *m)
{
	if (st_places_open(&m->edges->places, m->p) || edges_add_blocks(m))
		return ST_FAILED;
	edges_join(m->edges);
	for (size_t i = 0; i < m->p->tables.n; i++) {
		const struct st_profile_table *t = &m->p->tables.v[i];
		if (!strcmp(t->tool, "calls") && !strcmp(t->name, "pairs") && t->n_keys == 2 &&
		    t->n_columns > 2 && edges_add_calls(m, t))
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_code_edges_make(struct st_code_edges *edges, const struct st_profile *p, struct st_error *e)
{
	struct edges_maker m = {.p = p, .edges = edges};
	*edges = (struct st_code_edges){0};
	st_status status = edges_add_counted(&m)
	                           ? st_fail(e, ST_EXIT_FAILED, "no memory left for the calls")
	                           : edges_add_samples(&m, e);
	st_branches_close(&m.branches);
	free(m.branch_taken);
	return status;
}

void
st_code_edges_free(struct st_code_edges *edges)
{
	free(edges->v.v);
	st_places_close(&edges->places);
	*edges = (struct st_code_edges){0};
}
