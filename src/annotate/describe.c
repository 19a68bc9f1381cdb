/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Context in which the expressions of a scope are built. */
struct ann_writer {
	const struct st_ann_problem *p;
	bool *used; /* a flag of each feature: an expression has it */
};

static struct st_ann_expr *
ann_feature_name(const struct ann_writer *w, uint16_t feature)
{
	w->used[feature] = true;
	return st_ann_name(w->p->records->features.v[feature].name);
}

/* Builds factor * shape(x); factor NULL: 1. */
static struct st_ann_expr *
ann_shape_expr(const struct ann_writer *w, struct st_ann_expr *factor, uint16_t feature,
               enum st_ann_shape shape)
{
	struct st_ann_expr *x = ann_feature_name(w, feature);
	const bool has_factor = factor != NULL;
	if (shape == ST_ANN_LOG_X || shape == ST_ANN_SQRT_X)
		x = st_ann_call(shape == ST_ANN_LOG_X ? ST_ANN_LOG : ST_ANN_SQRT, x, NULL);
	else if (shape == ST_ANN_X_SQUARED || shape == ST_ANN_X_CUBED)
		x = st_ann_binary(ST_ANN_OP_POWER, x,
		                  st_ann_number(shape == ST_ANN_X_SQUARED ? 2 : 3));
	if (has_factor)
		x = st_ann_binary(ST_ANN_OP_MULTIPLY, factor, x);
	if (shape == ST_ANN_X_LOG_X)
		x = st_ann_binary(ST_ANN_OP_MULTIPLY, x,
		                  st_ann_call(ST_ANN_LOG, ann_feature_name(w, feature), NULL));
	return x;
}

static struct st_ann_expr *
ann_term_expr(const struct ann_writer *w, double coefficient, const struct st_ann_term *t)
{
	struct st_ann_expr *x =
	        ann_shape_expr(w, coefficient == 1 ? NULL : st_ann_number(coefficient), t->a,
	                       (enum st_ann_shape)t->shape_a);
	if (t->b != ST_ANN_NO_FEATURE && x)
		x = ann_shape_expr(w, x, t->b, (enum st_ann_shape)t->shape_b);
	return x;
}

/* Builds sum + coefficient * term; the absolute value of a negative coefficient is subtracted. */
static struct st_ann_expr *
ann_add_term(const struct ann_writer *w, struct st_ann_expr *sum, double coefficient,
             const struct st_ann_term *t)
{
	const bool negative = coefficient < 0;
	return st_ann_binary(negative ? ST_ANN_OP_SUBTRACT : ST_ANN_OP_ADD, sum,
	                     ann_term_expr(w, fabs(coefficient), t));
}

/* An intercept of 0, as exact data may have, is not written. */
static bool
ann_has_intercept(const struct st_ann_fit *f)
{
	return f->b[0] != 0 || !f->n_terms;
}

static struct st_ann_expr *
ann_mean_expr(const struct ann_writer *w, const struct st_ann_fit *f)
{
	struct st_ann_expr *sum =
	        ann_has_intercept(f) ? st_ann_number(f->b[0]) : ann_term_expr(w, f->b[1], f->terms);
	for (size_t i = ann_has_intercept(f) ? 0 : 1; i < f->n_terms; i++)
		sum = ann_add_term(w, sum, f->b[i + 1], &f->terms[i]);
	return sum;
}

/* Builds the standard deviation: a number, or a line through the absolute value of a term. */
static struct st_ann_expr *
ann_sd_expr(const struct ann_writer *w, const struct st_ann_fit *f)
{
	const struct st_ann_term t = f->sd_by;
	if (!f->grows)
		return st_ann_number(f->s);
	/* A term may be negative, but no standard deviation is. */
	struct st_ann_expr *plain = ann_shape_expr(w, NULL, t.a, (enum st_ann_shape)t.shape_a);
	if (t.b != ST_ANN_NO_FEATURE && plain)
		plain = ann_shape_expr(w, plain, t.b, (enum st_ann_shape)t.shape_b);
	plain = plain ? st_ann_call(ST_ANN_ABS, plain, NULL) : NULL;
	return st_ann_binary(ST_ANN_OP_ADD, st_ann_number(f->sd[0]),
	                     st_ann_binary(ST_ANN_OP_MULTIPLY, st_ann_number(f->sd[1]), plain));
}

static st_status
ann_describe_family(const struct st_ann_part *part, struct st_ann_model *m)
{
	static const enum st_ann_distribution distributions[] = {
	        [ST_FAMILY_NORMAL] = ST_ANN_NORMAL,
	        [ST_FAMILY_EXPONENTIAL] = ST_ANN_EXPONENTIAL,
	        [ST_FAMILY_LOGNORMAL] = ST_ANN_LOGNORMAL,
	        [ST_FAMILY_BINOMIAL] = ST_ANN_BINOMIAL};
	const double n = (double)part->n;
	m->distribution = distributions[part->family.family];
	m->a = st_ann_number(part->family.a);
	if (m->distribution != ST_ANN_EXPONENTIAL)
		m->b = st_ann_number(part->family.b);
	m->fit_p = part->family.p;
	strcpy(m->class, "constant");
	double *se = ST_PUSH(&m->se);
	if (!se || !m->a || (m->distribution != ST_ANN_EXPONENTIAL && !m->b))
		return ST_FAILED;
	*se = part->family.family == ST_FAMILY_BINOMIAL      ? 0
	      : part->family.family == ST_FAMILY_EXPONENTIAL ? part->family.a / sqrt(n)
	                                                     : part->family.b / sqrt(n);
	return ST_OK;
}

static st_status
ann_describe_fit(const struct ann_writer *w, const struct st_ann_part *part, struct st_ann_model *m)
{
	m->distribution = ST_ANN_NORMAL;
	m->a = ann_mean_expr(w, &part->fit);
	m->b = ann_sd_expr(w, &part->fit);
	m->r2 = part->fit.r2;
	m->r2_cv = part->r2_cv;
	strcpy(m->class, st_ann_class_name(part->fit.class));
	if (!m->a || !m->b)
		return ST_FAILED;
	for (size_t i = ann_has_intercept(&part->fit) ? 0 : 1; i <= part->fit.n_terms; i++) {
		double *se = ST_PUSH(&m->se);
		if (!se)
			return ST_FAILED;
		*se = part->fit.se[i];
	}
	return ST_OK;
}

static struct st_ann_expr *
ann_test_expr(const struct ann_writer *w, const struct st_ann_test *t)
{
	static const enum st_ann_operator operators[] = {[ST_ANN_AT_MOST] = ST_ANN_OP_LESS_EQUAL,
	                                                 [ST_ANN_ABOVE] = ST_ANN_OP_GREATER,
	                                                 [ST_ANN_AT_LEAST] =
	                                                         ST_ANN_OP_GREATER_EQUAL,
	                                                 [ST_ANN_IS] = ST_ANN_OP_EQUAL,
	                                                 [ST_ANN_IS_NOT] = ST_ANN_OP_UNEQUAL};
	const struct st_ann_feature *f = &w->p->records->features.v[t->feature];
	if (t->comparison == ST_ANN_PRESENT || t->comparison == ST_ANN_ABSENT) {
		struct st_ann_expr *same =
		        st_ann_binary(ST_ANN_OP_EQUAL, ann_feature_name(w, t->feature),
		                      ann_feature_name(w, t->feature));
		return t->comparison == ST_ANN_PRESENT ? same : st_ann_unary(ST_ANN_NOT, same);
	}
	return st_ann_binary(operators[t->comparison], ann_feature_name(w, t->feature),
	                     f->kind == ST_ANN_CATEGORY
	                             ? st_ann_label(f->labels.v[(size_t)t->value])
	                             : st_ann_number(t->value));
}

/* Names the branches that the condition, or the mode, follows from. */
static st_status
ann_describe_branches(const struct st_ann_leaf *leaf, const struct st_ann_part *part,
                      struct st_ann_model *m)
{
	const char *const of_leaf = leaf->branches ? leaf->branches : "",
	                  *const of_part = part->branches ? part->branches : "";
	if (!*of_leaf && !*of_part)
		return ST_OK;
	m->branches = st_text_of("%s%s%s", of_leaf, *of_leaf && *of_part ? ", " : "", of_part);
	return m->branches ? ST_OK : ST_FAILED;
}

st_status
st_ann_describe_leaf(const struct st_ann_problem *p, const struct st_ann_leaf *leaf,
                     struct st_ann_annotation *out, bool *used)
{
	const struct ann_writer w = {p, used};
	struct st_ann_scope *s = ST_PUSH(&out->scopes);
	if (!s)
		return ST_FAILED;
	for (size_t i = 0; i < leaf->tests.n; i++) {
		struct st_ann_expr *test = ann_test_expr(&w, &leaf->tests.v[i]);
		s->condition =
		        s->condition ? st_ann_binary(ST_ANN_OP_AND, s->condition, test) : test;
		if (!s->condition)
			return ST_FAILED;
	}
	for (size_t i = 0; i < leaf->parts.n; i++) {
		const struct st_ann_part *part = &leaf->parts.v[i];
		struct st_ann_model *m = ST_PUSH(&s->models);
		if (!m)
			return ST_FAILED;
		*m = st_ann_model_new();
		m->weight = part->weight;
		m->n = part->n;
		m->selection = part->selection;
		m->dropped = part->dropped;
		if (ann_describe_branches(leaf, part, m))
			return ST_FAILED;
		if (part->independent ? ann_describe_family(part, m)
		                      : ann_describe_fit(&w, part, m))
			return ST_FAILED;
	}
	return ST_OK;
}
