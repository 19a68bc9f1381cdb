/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contexts/forest.h"

#include <stdlib.h>

void
st_forest_init(struct st_forest *f)
{
	*f = (struct st_forest){.first = ST_NO_NODE, .last = ST_NO_NODE};
}

void
st_forest_free(struct st_forest *f)
{
	free(f->nodes);
	st_hashmap_free(&f->index);
	st_forest_init(f);
}

static uint32_t
hash_node(uint32_t parent, uint32_t label)
{
	return st_hash_number((uint64_t)parent << 32 | label);
}

static uint32_t
find_node(const struct st_forest *f, uint32_t parent, uint32_t label, uint32_t hash)
{
	const struct st_tree_node *n = f->nodes;
	return ST_HASHMAP_FIND(&f->index, hash, i, n[i].parent == parent && n[i].label == label);
}

/* Makes space for another node; without memory the forest is not complete. */
static bool
make_space(struct st_forest *f)
{
	const uint32_t room = f->room ? 2 * f->room : 64;
	if (f->n < f->room)
		return true;
	struct st_tree_node *nodes =
	        room > UINT32_MAX / 4 ? NULL : reallocarray(f->nodes, room, sizeof *nodes);
	f->out_of_memory |= !nodes;
	if (!nodes)
		return false;
	f->nodes = nodes;
	f->room = room;
	return true;
}

uint32_t
st_forest_find(const struct st_forest *f, uint32_t parent, uint32_t label)
{
	return find_node(f, parent, label, hash_node(parent, label));
}

uint32_t
st_forest_child(struct st_forest *f, uint32_t parent, uint32_t label)
{
	const uint32_t hash = hash_node(parent, label), known = find_node(f, parent, label, hash);
	if (known != ST_NO_NODE || !make_space(f))
		return known;
	if (st_hashmap_add(&f->index, hash, f->n)) {
		f->out_of_memory = true;
		return ST_NO_NODE;
	}
	uint32_t i = f->n++;
	f->nodes[i] = (struct st_tree_node){.label = label,
	                                    .parent = parent,
	                                    .first = ST_NO_NODE,
	                                    .last = ST_NO_NODE,
	                                    .next = ST_NO_NODE};
	uint32_t *first = parent == ST_NO_NODE ? &f->first : &f->nodes[parent].first;
	uint32_t *last = parent == ST_NO_NODE ? &f->last : &f->nodes[parent].last;
	if (*last == ST_NO_NODE)
		*first = i;
	else
		f->nodes[*last].next = i;
	*last = i;
	return i;
}

void
st_forest_add(struct st_forest *f, uint32_t node, const struct st_weight *w)
{
	if (node == ST_NO_NODE)
		return;
	struct st_weight *to = &f->nodes[node].weight;
	to->count += w->count;
	to->self_ns += w->self_ns;
	to->instructions += w->instructions;
}

void
st_forest_invert(const struct st_forest *f, uint32_t node, uint32_t k, const struct st_weight *w,
                 struct st_forest *out)
{
	uint32_t at = ST_NO_NODE;
	for (uint64_t n = 0; node != ST_NO_NODE && n <= k; n++) {
		at = st_forest_child(out, at, f->nodes[node].label);
		if (at == ST_NO_NODE)
			return;
		st_forest_add(out, at, w);
		node = f->nodes[node].parent;
	}
}

void
st_forest_keep(struct st_forest *f, const unsigned char *marks, unsigned char bit)
{
	struct st_forest out;
	uint32_t *node_of = malloc((f->n + 1) * sizeof *node_of);
	st_forest_init(&out);
	out.out_of_memory = !node_of;
	for (uint32_t i = 0; i < f->n && !out.out_of_memory; i++) {
		const struct st_tree_node *n = &f->nodes[i];
		if (!(marks[i] & bit))
			continue;
		uint32_t parent = n->parent == ST_NO_NODE ? ST_NO_NODE : node_of[n->parent];
		uint32_t node = node_of[i] = st_forest_child(&out, parent, n->label);
		if (node == ST_NO_NODE)
			break;
		out.nodes[node].weight = n->weight;
		out.nodes[node].top = n->top;
		out.nodes[node].loop = n->loop;
		out.nodes[node].total_ns = n->total_ns;
		out.nodes[node].total_instructions = n->total_instructions;
	}
	free(node_of);
	st_forest_free(f);
	*f = out;
}

void
st_forest_total(struct st_forest *f)
{
	for (uint32_t i = f->n; i-- > 0;) {
		struct st_tree_node *n = &f->nodes[i];
		n->total_ns += n->weight.self_ns;
		n->total_instructions += n->weight.instructions;
		if (n->parent == ST_NO_NODE)
			continue;
		f->nodes[n->parent].total_ns += n->total_ns;
		f->nodes[n->parent].total_instructions += n->total_instructions;
	}
}
