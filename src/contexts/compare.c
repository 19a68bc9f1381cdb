/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contexts/compare.h"

#include <stdlib.h>
#include <string.h>

/* ---- do they fit together? ---- */

static const char *
mode_name(enum st_context_mode mode)
{
	static const char *const names[] = {
#define M(id, name) #name,
	        ST_CONTEXT_MODES(M)
#undef M
	};
	return names[mode];
}

static const char *
k_text(uint32_t k, char text[16])
{
	snprintf(text, 16, k == (uint32_t)ST_K_INFINITE ? "inf" : "%u", k);
	return text;
}

static st_status
check_rule(bool a, bool b, bool usual, const char *option, const char *const names[ST_SIDES],
           struct st_error *e)
{
	if (a == b)
		return 0;
	return st_fail(e, ST_EXIT_USAGE,
	               "of the two only %s was measured with %s: measure both with it, or both "
	               "without",
	               a != usual ? names[ST_A] : names[ST_B], option);
}

st_status
st_compare_check(const struct st_profile *const profiles[ST_SIDES],
                 const char *const names[ST_SIDES], struct st_error *e)
{
	struct st_context_options o[ST_SIDES];
	char k[ST_SIDES][16];
	for (int side = 0; side < ST_SIDES; side++)
		if (!st_contexts_options(profiles[side], &o[side]))
			return st_fail(e, ST_EXIT_USAGE,
			               "%s has no contexts: strobe paths measures them; strobe "
			               "report shows how other profiles differ",
			               names[side]);
	if (o[ST_A].sampled != o[ST_B].sampled)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s has stacks of samples, and %s has contexts that were counted: "
		               "measure both with strobe run, or both with strobe paths",
		               names[o[ST_B].sampled], names[o[ST_A].sampled]);
	if (o[ST_A].mode != o[ST_B].mode)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s has contexts of mode %s, %s of mode %s: measure both with the "
		               "same --mode",
		               names[ST_A], mode_name(o[ST_A].mode), names[ST_B],
		               mode_name(o[ST_B].mode));
	if (o[ST_A].k != o[ST_B].k)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s was measured with -k %s, %s with -k %s: measure both with the "
		               "same -k",
		               names[ST_A], k_text(o[ST_A].k, k[ST_A]), names[ST_B],
		               k_text(o[ST_B].k, k[ST_B]));
#define R(name, usual, option)                                                                     \
	if (check_rule(o[ST_A].name, o[ST_B].name, usual, option, names, e))                       \
		return -1;
	ST_CONTEXT_RULES(R)
#undef R
	return 0;
}

/* ---- labels ---- */

struct maker {
	struct st_comparison *c;
	struct st_match match; /* of the labels of both sides */
};

/* One side's input to the matcher. */
struct side {
	struct st_match_image *images;
	struct st_match_function *functions;
};

static struct st_match_function
compared_function_of(const struct st_contexts *s, const struct st_context_label *l)
{
	bool named =
	        l->root || st_match_is_name(l->name, l->image, l->offset - (uint64_t)l->inside);
	return (struct st_match_function){.name = named ? l->name : NULL,
	                                  .file = l->file,
	                                  .image = l->in_image,
	                                  .artificial = l->root,
	                                  .offset = l->offset,
	                                  .inside = s->mode == ST_CONTEXT_FUNC ? 0 : l->inside};
}

static st_status
list_side(const struct st_contexts *s, struct side *side)
{
	size_t n_images = s->profile->images.n;
	side->images = malloc((n_images + 1) * sizeof *side->images);
	side->functions = malloc((s->n_labels + 1) * sizeof *side->functions);
	if (!side->images || !side->functions)
		return ST_FAILED;
	for (size_t i = 0; i < n_images; i++) {
		const struct st_profile_image *image = &s->profile->images.v[i];
		side->images[i] =
		        (struct st_match_image){image->path, image->build_id,
		                                st_profile_is_program(s->profile, image->path)};
	}
	for (size_t i = 0; i < s->n_labels; i++)
		side->functions[i] = compared_function_of(s, &s->labels[i]);
	return ST_OK;
}

/* Labels of both by their numbers: A's where it has one. */
static st_status
number_labels(struct maker *m)
{
	struct st_comparison *c = m->c;
	c->n_labels = m->match.n_functions;
	c->labels = malloc((c->n_labels + 1) * sizeof *c->labels);
	if (!c->labels)
		return ST_FAILED;
	for (int side = ST_SIDES; side-- > 0;)
		for (size_t i = 0; i < c->sides[side]->n_labels; i++)
			c->labels[m->match.function[side][i]] = &c->sides[side]->labels[i];
	return ST_OK;
}

static st_status
match_labels(struct maker *m)
{
	struct st_comparison *c = m->c;
	struct st_match_side sides[ST_SIDES];
	struct side made[ST_SIDES] = {0};
	st_status status = ST_OK;
	for (int i = 0; i < ST_SIDES && !status; i++) {
		status = list_side(c->sides[i], &made[i]);
		sides[i] = (struct st_match_side){made[i].images, c->sides[i]->profile->images.n,
		                                  made[i].functions, c->sides[i]->n_labels};
	}
	if (!status)
		status = st_match_make(&m->match, sides);
	for (int i = 0; i < ST_SIDES; i++) {
		free(made[i].images);
		free(made[i].functions);
	}
	return status ? status : number_labels(m);
}

/* ---- trees ---- */

static struct st_compared_trees *
find_trees(struct st_comparison *c, uint32_t thread)
{
	for (size_t i = 0; i < c->trees.n; i++)
		if (c->trees.v[i].thread == thread)
			return &c->trees.v[i];
	struct st_compared_trees *t = ST_PUSH(&c->trees);
	if (!t)
		return NULL;
	t->thread = thread;
	st_forest_init(&t->forest);
	return t;
}

static void
add_weight(struct st_weight *to, const struct st_weight *w)
{
	to->count += w->count;
	to->self_ns += w->self_ns;
	to->instructions += w->instructions;
}

static st_status
add_node(struct st_compared_trees *t, uint32_t node, int side, const struct st_weight *own)
{
	if (node == ST_NO_NODE || (node == t->nodes.n && !ST_PUSH(&t->nodes)))
		return -1;
	struct st_compared *both = &t->nodes.v[node];
	both->there[side] = true;
	add_weight(&both->own[side], own);
	return 0;
}

/* Parents come before their children in both forests. */
static st_status
add_forest_compared(struct maker *m, struct st_compared_trees *t, const struct st_forest *f,
                    int side)
{
	struct st_comparison *c = m->c;
	uint32_t *node_of = malloc((f->n + 1) * sizeof *node_of);
	int status = node_of ? 0 : -1;
	for (uint32_t i = 0; i < f->n && !status; i++) {
		const struct st_tree_node *n = &f->nodes[i];
		bool root = n->parent == ST_NO_NODE;
		node_of[i] = st_forest_child(&t->forest, root ? ST_NO_NODE : node_of[n->parent],
		                             m->match.function[side][n->label]);
		status = add_node(t, node_of[i], side, &n->weight);
		/* In the other forest deeper nodes are a part of those above them. */
		if (!c->kccf || root)
			add_weight(&c->whole[side], &n->weight);
	}
	c->n_contexts[side] += f->n;
	free(node_of);
	return status;
}

static void
add_totals_compared(struct st_compared_trees *t)
{
	for (uint32_t i = t->forest.n; i-- > 0;) {
		struct st_compared *n = &t->nodes.v[i];
		uint32_t parent = t->forest.nodes[i].parent;
		for (int side = 0; side < ST_SIDES; side++) {
			add_weight(&n->total[side], &n->own[side]);
			if (parent != ST_NO_NODE)
				add_weight(&t->nodes.v[parent].total[side], &n->total[side]);
		}
	}
}

static st_status
add_side(struct maker *m, int side)
{
	const struct st_contexts *s = m->c->sides[side];
	for (size_t i = 0; i < s->groups.n; i++) {
		const struct st_context_group *g = &s->groups.v[i];
		struct st_compared_trees *t = find_trees(m->c, g->thread);
		if (!t || add_forest_compared(m, t, m->c->kccf ? &g->kccf : &g->ksf, side))
			return -1;
	}
	return 0;
}

st_status
st_compare(struct st_comparison *c, const struct st_contexts *a, const struct st_contexts *b,
           bool kccf, struct st_error *e)
{
	struct maker m = {.c = c};
	*c = (struct st_comparison){.sides = {a, b}, .kccf = kccf};
	int status = match_labels(&m) || add_side(&m, ST_A) || add_side(&m, ST_B) ? -1 : 0;
	for (size_t i = 0; i < c->trees.n && !status && !kccf; i++)
		add_totals_compared(&c->trees.v[i]);
	st_match_free(&m.match);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left to compare the contexts") : 0;
}

void
st_compare_free(struct st_comparison *c)
{
	for (size_t i = 0; i < c->trees.n; i++) {
		st_forest_free(&c->trees.v[i].forest);
		free(c->trees.v[i].nodes.v);
	}
	free(c->trees.v);
	free(c->labels);
}
