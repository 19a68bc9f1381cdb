/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "context/compare.h"

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

static int
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

int
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
	uint32_t side, index;
};

/* Of two with one name and image. Another folder is no other file, and an unknown one any. */
static int
compare_files(const struct entry *x, const struct entry *y)
{
	if (!x->label->file || !y->label->file)
		return 0;
	return strcmp(base_name(x->label->file), base_name(y->label->file));
}

static int
compare_entries(const void *a, const void *b, void *blocks)
{
	const struct entry *x = a, *y = b;
	int order = compare_labels(x->label, y->label, *(const bool *)blocks);
	if (!order)
		order = (x->side > y->side) - (x->side < y->side);
	if (!order)
		order = strcmp(base_name(x->label->file), base_name(y->label->file));
	if (!order)
		order = (x->label->offset > y->label->offset) -
		        (x->label->offset < y->label->offset);
	return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

/* Labels of one name and image, n_a of A and behind them n_b of B. Where a side has several (static
 * functions), they are matched by their source files, then in the order of their addresses. */
static void
number_group(struct maker *m, const struct entry *a, size_t n_a, size_t n_b)
{
	struct st_comparison *c = m->c;
	const struct entry *b = a + n_a, *end_a = b, *end_b = b + n_b;
	bool single = n_a == 1 && n_b == 1;
	while (a < end_a || b < end_b) {
		int order = a == end_a ? 1 : b == end_b ? -1 : single ? 0 : compare_files(a, b);
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
		number_group(m, &entries[i], n_a, n_b);
	}
}

static int
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
			entries[n++] = (struct entry){&s->labels[i], side, i};
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

static int
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
static int
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

static int
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

int
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
