/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mem/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"

struct mem_tree {
	const struct st_mem *m;
	struct st_mem_tree *t;
	struct st_hashmap index; /* of nodes, by parent and frame */
	ST_VEC(uint32_t) path;   /* frames of a context, the allocation function first */
};

static bool
mem_tree_is_same(const struct st_mem_frame *a, const struct st_mem_frame *b)
{
	return a->line == b->line && !strcmp(a->function, b->function) &&
	       !strcmp(a->file, b->file) && !strcmp(a->image, b->image);
}

static uint32_t
mem_tree_hash(uint32_t parent, const struct st_mem_frame *f)
{
	uint32_t hash = st_hash_numbers(parent, f->line);
	for (const char *p = f->function; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	return hash;
}

/* ST_MEM_NONE: no memory. */
static uint32_t
mem_tree_child(struct mem_tree *x, uint32_t parent, uint32_t frame)
{
	const struct st_mem_frame *frames = x->m->frames.v;
	const struct st_mem_node *v = x->t->nodes.v;
	const uint32_t hash = mem_tree_hash(parent, &frames[frame]);
	const uint32_t known = ST_HASHMAP_FIND(
	        &x->index, hash, i,
	        v[i].parent == parent && mem_tree_is_same(&frames[v[i].frame], &frames[frame]));
	if (known != ST_HASHMAP_NONE)
		return known;
	const uint32_t n = (uint32_t)x->t->nodes.n, depth = v[parent].depth + 1;
	struct st_mem_node *new = ST_PUSH(&x->t->nodes);
	if (!new || st_hashmap_add(&x->index, hash, n))
		return ST_MEM_NONE;
	*new = (struct st_mem_node){.frame = frame,
	                            .parent = parent,
	                            .first = ST_MEM_NONE,
	                            .next = ST_MEM_NONE,
	                            .depth = depth};
	return n;
}

static void
mem_tree_add(struct st_mem_amounts *to, const struct st_mem_amounts *a)
{
	to->calls += a->calls;
	to->bytes += a->bytes;
	to->live += a->live;
	to->peak += a->peak;
}

static st_status
mem_tree_add_context(struct mem_tree *x, const struct st_mem_context *c, bool callers)
{
	const struct st_mem_amounts a = {c->calls, c->bytes, c->live, c->peak};
	uint32_t node = 0;
	x->path.n = 0;
	for (uint32_t at = c->frame; at != ST_MEM_NONE; at = x->m->frames.v[at].parent) {
		uint32_t *to = ST_PUSH(&x->path);
		if (!to)
			return ST_FAILED;
		*to = at;
	}
	for (size_t i = 0; i < x->path.n; i++) {
		const size_t at = callers ? i : x->path.n - 1 - i;
		node = mem_tree_child(x, node, x->path.v[at]);
		if (node == ST_MEM_NONE)
			return ST_FAILED;
	}
	mem_tree_add(&x->t->nodes.v[node].own, &a);
	return ST_OK;
}

/* The most calls first, then the most bytes. */
static int
mem_tree_order(const void *a, const void *b, void *nodes)
{
	const struct st_mem_node *v = nodes, *x = &v[*(const uint32_t *)a],
	                         *y = &v[*(const uint32_t *)b];
	if (x->subtree.calls != y->subtree.calls)
		return x->subtree.calls < y->subtree.calls ? 1 : -1;
	if (x->subtree.bytes != y->subtree.bytes)
		return x->subtree.bytes < y->subtree.bytes ? 1 : -1;
	return (x > y) - (x < y);
}

static st_status
mem_tree_finish(struct st_mem_tree *t)
{
	struct st_mem_node *v = t->nodes.v;
	uint32_t *order = calloc(t->nodes.n, sizeof *order);
	if (!order)
		return ST_FAILED;
	for (uint32_t i = (uint32_t)t->nodes.n; i-- > 0;) {
		mem_tree_add(&v[i].subtree, &v[i].own);
		if (v[i].parent != ST_MEM_NONE)
			mem_tree_add(&v[v[i].parent].subtree, &v[i].subtree);
		order[i] = i;
	}
	qsort_r(order, t->nodes.n, sizeof *order, mem_tree_order, v);
	for (size_t i = t->nodes.n; i-- > 0;) {
		struct st_mem_node *node = &v[order[i]];
		if (node->parent == ST_MEM_NONE)
			continue;
		node->next = v[node->parent].first;
		v[node->parent].first = order[i];
	}
	free(order);
	return ST_OK;
}

st_status
st_mem_tree_make(struct st_mem_tree *t, const struct st_mem *m, bool callers)
{
	struct mem_tree x = {.m = m, .t = t};
	*t = (struct st_mem_tree){0};
	struct st_mem_node *root = ST_PUSH(&t->nodes);
	if (!root)
		return ST_FAILED;
	*root = (struct st_mem_node){.frame = ST_MEM_NONE,
	                             .parent = ST_MEM_NONE,
	                             .first = ST_MEM_NONE,
	                             .next = ST_MEM_NONE};
	st_status status = ST_OK;
	for (size_t i = 0; i < m->contexts.n && !status; i++)
		status = mem_tree_add_context(&x, &m->contexts.v[i], callers);
	st_hashmap_free(&x.index);
	free(x.path.v);
	return status ? status : mem_tree_finish(t);
}

void
st_mem_tree_free(struct st_mem_tree *t)
{
	free(t->nodes.v);
	*t = (struct st_mem_tree){0};
}
