/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contexts/pairs.h"

#include <stdlib.h>

struct maker {
	struct st_forest *pairs;
	uint32_t *innermost; /* by label: the innermost of its nodes on the way, or ST_NO_NODE */
};

/* The state of a walk at each node: the sum of its subtree, and the path to it. */
struct step {
	struct st_weight total;
	uint32_t outer; /* the next node of this label above it, or ST_NO_NODE */
	uint32_t child; /* the node below it on the way, while the walk is there */
};

static struct st_weight
difference(struct st_weight a, const struct st_weight *b)
{
	a.count -= b->count;
	a.self_ns -= b->self_ns;
	a.instructions -= b->instructions;
	return a;
}

static void
add_totals_pairs(const struct st_forest *f, struct step *steps)
{
	for (uint32_t i = f->n; i-- > 0;) { /* children come after their parents */
		struct st_weight *t = &steps[i].total;
		const struct st_weight *own = &f->nodes[i].weight;
		t->count += own->count;
		t->self_ns += own->self_ns;
		t->instructions += own->instructions;
		if (f->nodes[i].parent == ST_NO_NODE)
			continue;
		struct st_weight *above = &steps[f->nodes[i].parent].total;
		above->count += t->count;
		above->self_ns += t->self_ns;
		above->instructions += t->instructions;
	}
}

static uint32_t
find_pair(struct maker *s, uint32_t caller, uint32_t callee)
{
	uint32_t root = st_forest_child(s->pairs, ST_NO_NODE, caller);
	return root == ST_NO_NODE ? root : st_forest_child(s->pairs, root, callee);
}

static void
add_cost(struct maker *s, uint32_t caller, uint32_t callee, const struct st_weight *w)
{
	uint32_t pair = caller == callee ? ST_NO_NODE : find_pair(s, caller, callee);
	if (pair != ST_NO_NODE)
		st_forest_add(s->pairs, pair, w);
}

static void
enter(struct maker *s, const struct st_forest *f, struct step *steps, uint32_t i)
{
	const struct st_tree_node *n = &f->nodes[i];
	uint32_t own = st_forest_child(s->pairs, ST_NO_NODE, n->label);
	uint32_t outer = s->innermost[n->label];
	if (own != ST_NO_NODE)
		st_forest_add(s->pairs, own, &n->weight);
	if (n->parent != ST_NO_NODE) {
		uint32_t caller = f->nodes[n->parent].label, pair = find_pair(s, caller, n->label);
		steps[n->parent].child = i;
		if (pair != ST_NO_NODE)
			s->pairs->nodes[pair].top += n->weight.count;
		add_cost(s, caller, n->label, &steps[i].total);
	}
	if (outer != ST_NO_NODE) {
		struct st_weight less = difference((struct st_weight){0}, &steps[i].total);
		add_cost(s, n->label, f->nodes[steps[outer].child].label, &less);
	}
	steps[i].outer = outer;
	s->innermost[n->label] = i;
}

/* Without recursion: a tree may be as deep as the program's. */
static void
add_forest_pairs(struct maker *s, const struct st_forest *f, struct step *steps)
{
	add_totals_pairs(f, steps);
	for (uint32_t i = f->first; i != ST_NO_NODE;) {
		enter(s, f, steps, i);
		if (f->nodes[i].first != ST_NO_NODE) {
			i = f->nodes[i].first;
			continue;
		}
		for (; i != ST_NO_NODE; i = f->nodes[i].parent) {
			s->innermost[f->nodes[i].label] = steps[i].outer;
			if (f->nodes[i].next != ST_NO_NODE)
				break;
		}
		if (i != ST_NO_NODE)
			i = f->nodes[i].next;
	}
}

static void
add_blocks(struct st_forest *pairs, const struct st_forest *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t own = st_forest_child(pairs, ST_NO_NODE, f->nodes[i].label);
		if (own != ST_NO_NODE)
			st_forest_add(pairs, own, &f->nodes[i].weight);
	}
}

static void
add_groups(const struct st_contexts *c, struct maker *s)
{
	for (size_t i = 0; i < c->groups.n; i++) {
		const struct st_forest *f = &c->groups.v[i].ksf;
		struct step *steps = calloc(f->n + 1, sizeof *steps);
		if (steps)
			add_forest_pairs(s, f, steps);
		else
			s->pairs->out_of_memory = true;
		free(steps);
	}
}

void
st_pairs_make(const struct st_contexts *c, struct st_forest *pairs)
{
	st_forest_init(pairs);
	if (c->mode != ST_CONTEXT_FUNC) {
		for (size_t i = 0; i < c->groups.n; i++)
			add_blocks(pairs, &c->groups.v[i].ksf);
		return;
	}
	struct maker s = {pairs, malloc((c->n_labels + 1) * sizeof *s.innermost)};
	for (size_t i = 0; s.innermost && i < c->n_labels; i++)
		s.innermost[i] = ST_NO_NODE;
	if (s.innermost)
		add_groups(c, &s);
	else
		pairs->out_of_memory = true;
	free(s.innermost);
}
