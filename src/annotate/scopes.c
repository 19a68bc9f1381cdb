/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regression tree: divides the records by conditions, and finds a model of each scope. */
#include "annotate/scopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/chance.h"

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

/* Finds the best condition of the code; s->n is 0 if it does not lower BIC enough. */
static st_status
ann_choose_exact(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_fit *whole, struct st_ann_split *s)
{
	if (st_ann_find_exact(p, rows, whole, s))
		return ST_FAILED;
	if (s->n && !(s->bic < whole->bic - split_gain))
		s->n = 0;
	return ST_OK;
}

/* Finds the best range of a feature; s->n is 0 if it does not describe the records much better. */
static st_status
ann_choose_range(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_fit *whole, struct st_ann_split *s)
{
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

typedef st_status (*ann_choice)(const struct st_ann_problem *, struct st_ann_rows,
                                const struct st_ann_fit *, struct st_ann_split *);

static st_status
ann_split_strength(const struct st_ann_problem *p, struct st_ann_rows rows, ann_choice choose,
                   double *strength)
{
	struct st_ann_formula formula;
	struct st_ann_split s;
	*strength = -INFINITY;
	if (st_ann_formulate(p, rows, &formula) || choose(p, rows, &formula.best, &s))
		return ST_FAILED;
	if (s.n)
		*strength = formula.best.bic - s.bic;
	return ST_OK;
}

static st_status
ann_search_exact(const struct st_ann_problem *p, struct st_ann_rows rows, double *strength)
{
	return ann_split_strength(p, rows, ann_choose_exact, strength);
}

static st_status
ann_search_range(const struct st_ann_problem *p, struct st_ann_rows rows, double *strength)
{
	return ann_split_strength(p, rows, ann_choose_range, strength);
}

/* Finds a division of a node that describes the records clearly better, and not by chance; s->n is
 * 0 otherwise. */
static st_status
ann_choose_split(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_fit *whole, struct st_ann_split *s)
{
	static const ann_choice choices[] = {ann_choose_exact, ann_choose_range};
	static const st_ann_search searches[] = {ann_search_exact, ann_search_range};
	for (size_t i = 0; i < 2; i++) {
		bool chance = false;
		if (choices[i](p, rows, whole, s) ||
		    (s->n &&
		     st_ann_is_chance(p, rows, whole, searches[i], whole->bic - s->bic, &chance)))
			return ST_FAILED;
		if (s->n && !chance)
			return ST_OK;
	}
	s->n = 0;
	return ST_OK;
}

/* Returns in *all whether each part of a division has a dominant mode with a formula. */
static st_status
ann_all_have_dominant(const struct st_ann_problem *p, struct st_ann_rows rows,
                      const struct st_ann_split *s, bool *all)
{
	uint32_t *v = malloc(rows.n * sizeof *v);
	st_status status = v ? ST_OK : ST_FAILED;
	*all = s->n > 1;
	for (size_t i = 0; i < s->n && *all && !status; i++) {
		const struct st_ann_rows part = st_ann_pass(p, rows, &s->tests[i], v);
		struct st_ann_part selected;
		status = part.n < 2 * ST_ANN_RECORDS_LEAST
		                 ? (*all = false, ST_OK)
		                 : st_ann_find_selection(p, part, &selected, all);
		*all = *all && !status && selected.selection == ST_ANN_DOMINANT;
	}
	free(v);
	return status;
}

/* Outliers may hide that the laws of two categories differ. If each category has a dominant mode,
 * the records are divided by it. */
static st_status
ann_choose_dominant(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_split *s)
{
	for (size_t i = 0; i < p->records->features.n; i++) {
		bool all;
		st_ann_split_categories(p, rows, p->order[i], s);
		if (ann_all_have_dominant(p, rows, s, &all))
			return ST_FAILED;
		if (all)
			return ST_OK;
	}
	s->n = 0;
	return ST_OK;
}

/* Replaces a formula that is due to chance by a constant. */
static st_status
ann_confirm_formula(const struct st_ann_problem *p, struct st_ann_rows rows,
                    struct st_ann_formula *formula)
{
	struct st_ann_problem own = *p;
	bool chance;
	if (st_ann_fit_is_chance(p, rows, &formula->best, &chance))
		return ST_FAILED;
	own.options.classes = 1 << ST_ANN_CLASS_CONSTANT;
	return chance ? st_ann_formulate(&own, rows, formula) : ST_OK;
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
	if (!s.n && depth < DEPTH_MOST && !formula.good && ann_choose_dominant(t->p, rows, &s))
		return ST_FAILED;
	if (!s.n)
		return ann_confirm_formula(t->p, rows, &formula)
		               ? ST_FAILED
		               : ann_leaf_of(t, rows, depth, &formula);
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
