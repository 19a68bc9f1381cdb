/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/stacktree.h"

#include <stdlib.h>

void
st_stack_tree_free(struct st_stack_tree *t)
{
	free(t->nodes.v);
	free(t->seen.v);
	st_hashmap_free(&t->index);
}

/* Whether the stack that comes next has the frame already; from now on it has. */
static int
stack_tree_meet(struct st_stack_tree *t, uint32_t frame, bool *met)
{
	while (t->seen.n <= frame) {
		uint64_t *slot = ST_PUSH(&t->seen);
		if (!slot)
			return -1;
		*slot = 0;
	}
	*met = t->seen.v[frame] == t->added + 1;
	t->seen.v[frame] = t->added + 1;
	return 0;
}

size_t
st_stack_tree_condense(struct st_stack_tree *t, uint32_t *path, size_t n)
{
	const size_t quarter = ST_STACK_LEVELS / 4;
	size_t kept = 0;
	if (n <= ST_STACK_LEVELS)
		return n;
	for (size_t i = 0; i < n; i++) {
		bool met;
		if (stack_tree_meet(t, path[i], &met))
			return 0;
		if (!met || i < quarter || i >= n - quarter)
			path[kept++] = path[i];
	}
	return kept;
}

/* The node of a frame below another; `most`: see st_stack_tree_add. False: no memory. *node is
 * ST_STACK_NO_PARENT where there is no room. */
static bool
stack_tree_child(struct st_stack_tree *t, uint32_t parent, uint32_t frame, size_t most,
                 uint32_t *node)
{
	const struct st_stack_node *v = t->nodes.v;
	const uint32_t hash = st_hash_numbers(parent, frame);
	*node = ST_HASHMAP_FIND(&t->index, hash, i, v[i].parent == parent && v[i].frame == frame);
	if (*node != ST_HASHMAP_NONE)
		return true;
	*node = ST_STACK_NO_PARENT;
	if (t->nodes.n >= most)
		return true;
	struct st_stack_node *new = ST_PUSH(&t->nodes);
	if (!new)
		return false;
	*new = (struct st_stack_node){.parent = parent, .frame = frame};
	*node = (uint32_t)t->nodes.n - 1;
	return !st_hashmap_add(&t->index, hash, *node);
}

/* Nodes that are signs always have room: each other node has at most a few of them. */
static bool
stack_tree_sign(struct st_stack_tree *t, uint32_t parent, uint32_t sign, uint32_t *node)
{
	return stack_tree_child(t, parent, sign, UINT32_MAX - 1, node) &&
	       *node != ST_STACK_NO_PARENT;
}

st_status
st_stack_tree_add(struct st_stack_tree *t, const struct st_stack_about *about, const uint32_t *path,
                  size_t n, size_t most)
{
	const bool sample = about->kind == ST_STACK_CODE;
	uint32_t at, next;
	if (!stack_tree_sign(t, ST_STACK_NO_PARENT, about->thread, &at) ||
	    (!about->whole && !stack_tree_sign(t, at, ST_FRAME_UNKNOWN, &at)))
		return ST_FAILED;
	for (size_t i = 0; i < n; i++, at = next) {
		if (!stack_tree_child(t, at, path[i], most, &next))
			return ST_FAILED;
		if (next != ST_STACK_NO_PARENT)
			continue;
		if (!stack_tree_sign(t, at, ST_FRAME_PRUNED, &at))
			return ST_FAILED;
		t->pruned++;
		break;
	}
	if (!sample && !stack_tree_sign(t, at, ST_FRAME_KINDS + (uint32_t)about->kind, &at))
		return ST_FAILED;
	t->nodes.v[at].count++;
	t->nodes.v[at].waited += about->waited;
	t->added++;
	t->stacks += sample;
	t->incomplete += sample && !about->whole;
	return ST_OK;
}
