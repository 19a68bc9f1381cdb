/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The k-calling context forests: the ways up from each node of the k-slab forests. */
#include <stdlib.h>

#include "contexts/internal.h"

/* Whether a node has anything that its callers are told. */
static bool
has_weight(const struct st_tree_node *n)
{
	return n->weight.count || n->weight.self_ns || n->weight.instructions;
}

/* False: the forests would have more nodes than `most`; 0: no limit. */
static bool
invert(struct st_contexts *c, size_t most)
{
	size_t nodes = 0;
	for (size_t i = 0; i < c->groups.n; i++) {
		struct st_context_group *g = &c->groups.v[i];
		for (uint32_t node = 0; node < g->ksf.n; node++) {
			const struct st_tree_node *n = &g->ksf.nodes[node];
			if (has_weight(n))
				st_forest_invert(&g->ksf, node, c->k_callers, &n->weight, &g->kccf);
			if (most && nodes + g->kccf.n > most)
				return false;
		}
		nodes += g->kccf.n;
	}
	return true;
}

/* Adds to `ending` how many nodes with something to tell stand at each depth. */
static void
count_depths(const struct st_forest *f, uint32_t *depth, size_t *ending)
{
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t parent = f->nodes[i].parent;
		depth[i] = parent == ST_NO_NODE ? 0 : depth[parent] + 1;
		ending[depth[i]] += has_weight(&f->nodes[i]);
	}
}

/* Returns the largest k that needs no more than `most` steps up, from the number of nodes that end
 * at each depth: at each level there is one step for each node that is so deep. */
static uint32_t
bound_k(const size_t *ending, uint32_t depths, size_t most)
{
	size_t steps = 0, longer = 0;
	uint32_t k = 0, deepest = 0;
	for (uint32_t level = 0; level < depths; level++) {
		longer += ending[level];
		deepest = ending[level] ? level : deepest;
	}
	for (uint32_t level = 0; level <= deepest; level++) {
		steps += longer;
		longer -= ending[level];
		if (steps > most)
			break;
		k = level == deepest ? (uint32_t)ST_K_INFINITE : level;
	}
	return k;
}

/* The same of all forests, where each step may make a node. */
static uint32_t
largest_k(const struct st_contexts *c, size_t most)
{
	uint32_t n = 0, k = 0;
	for (size_t i = 0; i < c->groups.n; i++)
		n = c->groups.v[i].ksf.n > n ? c->groups.v[i].ksf.n : n;
	uint32_t *depth = malloc((n + 1ul) * sizeof *depth);
	size_t *ending = calloc(n + 1ul, sizeof *ending);
	if (depth && ending) {
		for (size_t i = 0; i < c->groups.n; i++)
			count_depths(&c->groups.v[i].ksf, depth, ending);
		k = bound_k(ending, n, most);
	}
	free(depth);
	free(ending);
	return k < c->k ? k : c->k;
}

static void
forget_callers(struct st_contexts *c)
{
	for (size_t i = 0; i < c->groups.n; i++)
		st_forest_free(&c->groups.v[i].kccf);
}

/* Nodes of one forest share those of the other, so that more steps than nodes may be worth trying:
 * but not for ever, as they grow with the square of a recursion's depth. What is left with one
 * level of callers is shown in any case: a function without its callers says nothing. */
void
st_contexts_make_callers(struct st_contexts *c, size_t most)
{
	enum { STEPS = 8, LEAST = 1 << 24, MOST_TRIED = 16 };
	size_t steps = STEPS * most;
	if (most)
		c->k_callers = largest_k(c, steps > LEAST ? steps : LEAST);
	if (invert(c, most))
		return;
	uint32_t least = largest_k(c, most);
	least = least ? least : c->k ? 1 : 0;
	for (uint32_t k = MOST_TRIED; k > least; k /= 2) {
		forget_callers(c);
		c->k_callers = k;
		if (k < c->k && invert(c, most))
			return;
	}
	forget_callers(c);
	c->k_callers = least;
	invert(c, 0);
}
