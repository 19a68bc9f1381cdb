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
	free(f->slots);
	st_forest_init(f);
}

static uint32_t
slot_of(const struct st_forest *f, uint32_t parent, uint32_t label)
{
	uint64_t h = ((uint64_t)parent << 32 | label) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32) & (f->n_slots - 1);
}

/* The slot of the node, or the free one where it belongs. */
static uint32_t *
find_slot(const struct st_forest *f, uint32_t parent, uint32_t label)
{
	uint32_t at = slot_of(f, parent, label);
	for (; f->slots[at]; at = (at + 1) & (f->n_slots - 1)) {
		const struct st_tree_node *n = &f->nodes[f->slots[at] - 1];
		if (n->parent == parent && n->label == label)
			break;
	}
	return &f->slots[at];
}

static bool
grow(struct st_forest *f)
{
	uint32_t room = f->room ? 2 * f->room : 64;
	struct st_tree_node *nodes = reallocarray(f->nodes, room, sizeof *nodes);
	uint32_t *slots = nodes ? calloc(2ul * room, sizeof *slots) : NULL;
	if (nodes)
		f->nodes = nodes;
	if (!slots || room > UINT32_MAX / 4) {
		free(slots);
		f->out_of_memory = true;
		return false;
	}
	free(f->slots);
	f->room = room;
	f->slots = slots;
	f->n_slots = 2 * room;
	for (uint32_t i = 0; i < f->n; i++)
		*find_slot(f, f->nodes[i].parent, f->nodes[i].label) = i + 1;
	return true;
}

uint32_t
st_forest_find(const struct st_forest *f, uint32_t parent, uint32_t label)
{
	return f->n ? *find_slot(f, parent, label) - 1 : ST_NO_NODE;
}

uint32_t
st_forest_child(struct st_forest *f, uint32_t parent, uint32_t label)
{
	uint32_t known = st_forest_find(f, parent, label);
	if (known != ST_NO_NODE || (f->n == f->room && !grow(f)))
		return known;
	uint32_t i = f->n++;
	f->nodes[i] = (struct st_tree_node){.label = label,
	                                    .parent = parent,
	                                    .first = ST_NO_NODE,
	                                    .last = ST_NO_NODE,
	                                    .next = ST_NO_NODE};
	*find_slot(f, parent, label) = i + 1;
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
