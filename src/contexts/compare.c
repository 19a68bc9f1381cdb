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
	uint32_t *label_of[ST_SIDES]; /* of a side's labels: that of both */
	bool blocks;
};

static const char *
base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path ? path : "";
}

static int
compare_labels(const struct st_context_label *a, const struct st_context_label *b, bool blocks)
{
	int order = strcmp(a->name, b->name);
	if (!order)
		order = strcmp(base_name(a->image), base_name(b->image));
	if (!order)
		order = a->root - b->root;
	if (!order && blocks)
		order = (a->inside > b->inside) - (a->inside < b->inside);
	return order;
}

struct entry {
	const struct st_context_label *label;
	const char *build; /* its image's build-id, "": unknown */
	uint32_t side, index;
};

static int
compare_places(const struct entry *x, const struct entry *y)
{
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	if (x->label->offset != y->label->offset)
		return x->label->offset < y->label->offset ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int
compare_entries(const void *a, const void *b, void *blocks)
{
	const struct entry *x = a, *y = b;
	int order = compare_labels(x->label, y->label, *(const bool *)blocks);
	return order ? order : compare_places(x, y);
}

/* Of two with one name and image. Another folder is no other file. */
static int
compare_files(const struct entry *x, const struct entry *y)
{
	return strcmp(base_name(x->label->file), base_name(y->label->file));
}

static int
compare_by_file(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = x->side == y->side ? compare_files(x, y) : 0;
	return order ? order : compare_places(x, y);
}

/*
 * Labels of one name and image. Where a side has several (static functions) they are matched by
 * their offsets in one build; else by their source files, if all are known; and in the order of
 * their addresses.
 */
struct group {
	struct entry *a, *b, *end; /* those of A, and behind them those of B */
	bool one_build, files;     /* all are of one, all files are known */
	bool single;               /* one each: the function may have moved to another file */
};

static struct group
group_of(struct entry *first, size_t n_a, size_t n_b)
{
	struct group g = {.a = first,
	                  .b = first + n_a,
	                  .end = first + n_a + n_b,
	                  .one_build = *first->build != 0,
	                  .files = true,
	                  .single = n_a == 1 && n_b == 1};
	for (const struct entry *x = first; x < g.end; x++) {
		g.one_build &= !strcmp(x->build, first->build);
		g.files &= x->label->file != NULL;
	}
	if (!g.one_build && g.files)
		qsort(first, n_a + n_b, sizeof *first, compare_by_file);
	return g;
}

/* Which comes first of one of A's and one of B's; 0: they are one. */
static int
match(const struct group *g, const struct entry *a, const struct entry *b)
{
	if (g->one_build)
		return (a->label->offset > b->label->offset) -
		       (a->label->offset < b->label->offset);
	return g->files && !g->single ? compare_files(a, b) : 0;
}

static void
number_group(struct maker *m, const struct group *g)
{
	struct st_comparison *c = m->c;
	const struct entry *a = g->a, *b = g->b;
	while (a < g->b || b < g->end) {
		int order = a == g->b ? 1 : b == g->end ? -1 : match(g, a, b);
		uint32_t label = (uint32_t)c->n_labels++;
		c->labels[label] = order <= 0 ? a->label : b->label;
		if (order <= 0)
			m->label_of[ST_A][a++->index] = label;
		if (order >= 0)
			m->label_of[ST_B][b++->index] = label;
	}
}

static void
number_labels(struct maker *m, struct entry *entries, size_t n)
{
	qsort_r(entries, n, sizeof *entries, compare_entries, &m->blocks);
	for (size_t i = 0, n_a, n_b; i < n; i += n_a + n_b) {
		n_a = n_b = 0;
		for (size_t k = i; k < n; k++) {
			if (compare_labels(entries[i].label, entries[k].label, m->blocks))
				break;
			n_a += entries[k].side == ST_A;
			n_b += entries[k].side == ST_B;
		}
		struct group g = group_of(&entries[i], n_a, n_b);
		number_group(m, &g);
	}
}

static const char *
build_of(const struct st_contexts *s, const struct st_context_label *l)
{
	return l->in_image == UINT32_MAX ? "" : s->profile->images.v[l->in_image].build_id;
}

static st_status
match_labels(struct maker *m)
{
	struct st_comparison *c = m->c;
	size_t n = 0, all = c->sides[ST_A]->n_labels + c->sides[ST_B]->n_labels;
	struct entry *entries = malloc((all + 1) * sizeof *entries);
	c->labels = malloc((all + 1) * sizeof *c->labels);
	if (!entries || !c->labels) {
		free(entries);
		return -1;
	}
	for (uint32_t side = 0; side < ST_SIDES; side++) {
		const struct st_contexts *s = c->sides[side];
		m->label_of[side] = malloc((s->n_labels + 1) * sizeof *m->label_of[side]);
		for (uint32_t i = 0; m->label_of[side] && i < s->n_labels; i++)
			entries[n++] =
			        (struct entry){&s->labels[i], build_of(s, &s->labels[i]), side, i};
	}
	if (n == all)
		number_labels(m, entries, n);
	free(entries);
	return n == all ? 0 : -1;
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
add_forest(struct maker *m, struct st_compared_trees *t, const struct st_forest *f, int side)
{
	struct st_comparison *c = m->c;
	uint32_t *node_of = malloc((f->n + 1) * sizeof *node_of);
	int status = node_of ? 0 : -1;
	for (uint32_t i = 0; i < f->n && !status; i++) {
		const struct st_tree_node *n = &f->nodes[i];
		bool root = n->parent == ST_NO_NODE;
		node_of[i] = st_forest_child(&t->forest, root ? ST_NO_NODE : node_of[n->parent],
		                             m->label_of[side][n->label]);
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
add_totals(struct st_compared_trees *t)
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
		if (!t || add_forest(m, t, m->c->kccf ? &g->kccf : &g->ksf, side))
			return -1;
	}
	return 0;
}

st_status
st_compare(struct st_comparison *c, const struct st_contexts *a, const struct st_contexts *b,
           bool kccf, struct st_error *e)
{
	struct maker m = {.c = c, .blocks = a->mode != ST_CONTEXT_FUNC};
	*c = (struct st_comparison){.sides = {a, b}, .kccf = kccf};
	int status = match_labels(&m) || add_side(&m, ST_A) || add_side(&m, ST_B) ? -1 : 0;
	for (size_t i = 0; i < c->trees.n && !status && !kccf; i++)
		add_totals(&c->trees.v[i]);
	free(m.label_of[ST_A]);
	free(m.label_of[ST_B]);
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
