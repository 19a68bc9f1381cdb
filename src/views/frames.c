/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/frames.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "contexts/compare.h"

/* Returns "f"; "f (a.c:7)" if calls from several lines are several contexts; "f+12" for a basic
 * block. NULL: no memory. */
static const char *
frames_name(struct st_frames *f, const struct st_costs *c, const struct st_context_label *l)
{
	const bool call = c->lines && l->file && l->line;
	const bool block = c->contexts.mode != ST_CONTEXT_FUNC && !l->root;
	if (!call && !block)
		return l->name;
	char **text = ST_PUSH(&f->texts);
	if (!text)
		return NULL;
	*text = call ? st_text_of("%s (%s:%" PRIu32 ")", l->name, st_base_name(l->file), l->line)
	             : st_text_of("%s%+" PRId64, l->name, l->inside);
	return *text;
}

static st_status
frames_push(struct st_frames *f, const char *name, const char *image, uint32_t parent, double own,
            double before)
{
	struct st_flame_frame *frame = name ? ST_PUSH(&f->v) : NULL;
	if (!frame)
		return ST_FAILED;
	*frame = (struct st_flame_frame){name, image, parent, own, before};
	return ST_OK;
}

/* Contexts inside of functions are a forest for each function: it hangs below a frame of the
 * function. */
static st_status
frames_root(struct st_frames *f, const struct st_costs *c, const struct st_context_group *g,
            uint32_t *root)
{
	*root = g->function == UINT32_MAX ? ST_FLAME_ROOT : (uint32_t)f->v.n;
	if (g->function == UINT32_MAX)
		return ST_OK;
	const struct st_context_label *l = &c->contexts.labels[g->function];
	return frames_push(f, l->name, l->image, ST_FLAME_ROOT, 0, 0);
}

static st_status
frames_add_forest(struct st_frames *f, const struct st_costs *c, const struct st_forest *forest,
                  uint32_t root, struct st_error *e)
{
	const uint32_t first = (uint32_t)f->v.n;
	for (uint32_t i = 0; i < forest->n; i++) {
		const struct st_tree_node *n = &forest->nodes[i];
		const struct st_context_label *l = &c->contexts.labels[n->label];
		if (frames_push(f, frames_name(f, c, l), l->image,
		                n->parent == ST_NO_NODE ? root : first + n->parent,
		                st_costs_value(c, &n->weight), 0))
			return st_fail(e, ST_EXIT_FAILED, "no memory left for the flame graph");
	}
	return ST_OK;
}

/* Adds the path from each context that has a value up to its root. */
static st_status
frames_invert(const struct st_forest *from, struct st_forest *to)
{
	for (uint32_t i = 0; i < from->n; i++) {
		const struct st_weight *w = &from->nodes[i].weight;
		uint32_t node = ST_NO_NODE;
		if (!w->count && !w->self_ns && !w->instructions)
			continue;
		for (uint32_t k = i; k != ST_NO_NODE; k = from->nodes[k].parent)
			if ((node = st_forest_child(to, node, from->nodes[k].label)) == ST_NO_NODE)
				return ST_FAILED;
		st_forest_add(to, node, w);
	}
	return ST_OK;
}

static st_status
frames_add_inverted(struct st_frames *f, const struct st_costs *c, const struct st_forest *forest,
                    uint32_t root, struct st_error *e)
{
	struct st_forest inverted;
	st_forest_init(&inverted);
	st_status status =
	        frames_invert(forest, &inverted)
	                ? st_fail(e, ST_EXIT_FAILED, "no memory left for the flame graph")
	                : frames_add_forest(f, c, &inverted, root, e);
	st_forest_free(&inverted);
	return status;
}

st_status
st_frames_of(struct st_frames *f, const struct st_costs *c, bool inverted, struct st_error *e)
{
	*f = (struct st_frames){0};
	for (size_t i = 0; i < c->contexts.groups.n; i++) {
		const struct st_context_group *g = &c->contexts.groups.v[i];
		uint32_t root;
		if (frames_root(f, c, g, &root))
			return st_fail(e, ST_EXIT_FAILED, "no memory left for the flame graph");
		if (inverted ? frames_add_inverted(f, c, &g->ksf, root, e)
		             : frames_add_forest(f, c, &g->ksf, root, e))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
frames_add_compared(struct st_frames *f, const struct st_costs *a, const struct st_costs *b,
                    const struct st_comparison *c, const struct st_compared_trees *t)
{
	const uint32_t first = (uint32_t)f->v.n;
	for (uint32_t i = 0; i < t->forest.n; i++) {
		const struct st_tree_node *n = &t->forest.nodes[i];
		const struct st_context_label *l = c->labels[n->label];
		if (frames_push(f, frames_name(f, a, l), l->image,
		                n->parent == ST_NO_NODE ? ST_FLAME_ROOT : first + n->parent,
		                st_costs_value(b, &t->nodes.v[i].own[ST_B]),
		                st_costs_value(a, &t->nodes.v[i].own[ST_A])))
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_frames_of_difference(struct st_frames *f, const struct st_costs *a, const struct st_costs *b,
                        struct st_error *e)
{
	struct st_comparison c;
	*f = (struct st_frames){0};
	st_status status = st_compare(&c, &a->contexts, &b->contexts, false, e);
	for (size_t i = 0; i < c.trees.n && !status; i++)
		if (frames_add_compared(f, a, b, &c, &c.trees.v[i]))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the flame graph");
	st_compare_free(&c);
	return status;
}

void
st_frames_free(struct st_frames *f)
{
	for (size_t i = 0; i < f->texts.n; i++)
		free(f->texts.v[i]);
	free(f->texts.v);
	free(f->v.v);
}
