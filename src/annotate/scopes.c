/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regression tree: divides the records by conditions, and finds a model of each scope. */
#include "annotate/scopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 6 };
static const double split_gain = 10;
/* A range is confirmed by no branch of the code: it must explain this share of the squares. */
static const double range_explains = 0.3;

struct ann_tree {
	const struct st_ann_problem *p;
	struct st_ann_leaves *out;
	struct st_ann_test path[DEPTH_MOST];
};

void
st_ann_leaves_free(struct st_ann_leaves *l)
{
	for (size_t i = 0; i < l->list.n; i++) {
		for (size_t k = 0; k < l->list.v[i].parts.n; k++)
			free(l->list.v[i].parts.v[k].branches);
		free(l->list.v[i].branches);
		free(l->list.v[i].tests.v);
		free(l->list.v[i].parts.v);
	}
	free(l->list.v);
	*l = (struct st_ann_leaves){0};
}

/* Adds a test to the others. It replaces a weaker test of the same feature. */
static st_status
ann_join_test(struct st_ann_leaf *leaf, const struct st_ann_test *t)
{
	const bool lower = t->comparison == ST_ANN_ABOVE || t->comparison == ST_ANN_AT_LEAST;
	for (size_t i = 0; i < leaf->tests.n; i++) {
		struct st_ann_test *o = &leaf->tests.v[i];
		const bool other_lower =
		        o->comparison == ST_ANN_ABOVE || o->comparison == ST_ANN_AT_LEAST;
		if (o->feature != t->feature)
			continue;
		if ((t->comparison == ST_ANN_AT_MOST && o->comparison == ST_ANN_AT_MOST) ||
		    (lower && other_lower) || o->comparison == ST_ANN_PRESENT) {
			*o = *t; /* tests deeper in the tree are stricter */
			return ST_OK;
		}
	}
	struct st_ann_test *to = ST_PUSH(&leaf->tests);
	if (!to)
		return ST_FAILED;
	*to = *t;
	return ST_OK;
}

static struct st_ann_leaf *
ann_new_leaf(struct ann_tree *t, size_t depth, struct st_ann_rows rows)
{
	struct st_ann_leaf *leaf = ST_PUSH(&t->out->list);
	if (!leaf)
		return NULL;
	leaf->n = rows.n;
	for (size_t i = 0; i < depth; i++)
		if (ann_join_test(leaf, &t->path[i]))
			return NULL;
	leaf->branches = st_ann_branch_note(t->p, leaf, rows);
	return leaf->branches ? leaf : NULL;
}

static st_status
ann_leaf_of(struct ann_tree *t, struct st_ann_rows rows, size_t depth,
            const struct st_ann_formula *formula)
{
	struct st_ann_leaf *leaf = ann_new_leaf(t, depth, rows);
	bool has_modes = false;
	if (!leaf ||
	    (formula && st_ann_find_branch_modes(t->p, rows, &formula->best, leaf, &has_modes)))
		return ST_FAILED;
	if (has_modes)
		return ST_OK;
	if (formula && !formula->good)
		return st_ann_find_mixture(t->p, rows, &formula->best, leaf);
	struct st_ann_part *part = st_ann_add_part(leaf, rows.n);
	if (!part)
		return ST_FAILED;
	return st_ann_model_part(t->p, rows,
	                         formula && formula->best.n_terms ? &formula->best : NULL, part);
}

/* Finds a division of a node that lowers BIC enough; s->n is 0 otherwise. */
static st_status
ann_choose_split(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_fit *whole, struct st_ann_split *s)
{
	if (st_ann_find_exact(p, rows, whole, s))
		return ST_FAILED;
	if (s->n && s->bic < whole->bic - split_gain)
		return ST_OK;
	s->n = 0;
	if (st_ann_fits_closely(p, rows, whole))
		return ST_OK;
	if (st_ann_find_range(p, rows, whole, s))
		return ST_FAILED;
	if (s->n && (s->bic + 2 * log((double)rows.n) > whole->bic - split_gain ||
	             s->rss > (1 - range_explains) * whole->rss))
		s->n = 0;
	return ST_OK;
}

static st_status
ann_divide_node(struct ann_tree *t, struct st_ann_rows rows, size_t depth)
{
	struct st_ann_formula formula;
	struct st_ann_split s = {0};
	if (rows.n < ST_ANN_RECORDS_LEAST)
		return ann_leaf_of(t, rows, depth, NULL);
	if (st_ann_formulate(t->p, rows, &formula))
		return ST_FAILED;
	if (depth < DEPTH_MOST && ann_choose_split(t->p, rows, &formula.best, &s))
		return ST_FAILED;
	if (!s.n)
		return ann_leaf_of(t, rows, depth, &formula);
	uint32_t *v = malloc(rows.n * sizeof *v);
	st_status status = v ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < s.n && !status; i++) {
		t->path[depth] = s.tests[i];
		status = ann_divide_node(t, st_ann_pass(t->p, rows, &s.tests[i], v), depth + 1);
	}
	free(v);
	return status;
}

st_status
st_ann_divide(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_leaves *out)
{
	struct ann_tree t = {.p = p, .out = out};
	*out = (struct st_ann_leaves){0};
	return ann_divide_node(&t, rows, 0);
}
