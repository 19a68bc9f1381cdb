/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Divides records by conditions of the code: categories, flags, and branches whose outcome follows
 * from a feature. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/scopes.h"

static bool
ann_test_holds(const struct st_ann_problem *p, const struct st_ann_test *t, uint32_t row)
{
	const double x = p->records->features.v[t->feature].v[row];
	switch (t->comparison) {
	case ST_ANN_AT_MOST:
		return x <= t->value;
	case ST_ANN_ABOVE:
		return x > t->value;
	case ST_ANN_AT_LEAST:
		return x >= t->value;
	case ST_ANN_IS:
		return x == t->value;
	case ST_ANN_IS_NOT:
		return !isnan(x) && x != t->value;
	case ST_ANN_PRESENT:
		return !isnan(x);
	default:
		return isnan(x);
	}
}

struct st_ann_rows
st_ann_pass(const struct st_ann_problem *p, struct st_ann_rows rows, const struct st_ann_test *t,
            uint32_t *v)
{
	struct st_ann_rows out = {v, 0};
	for (size_t i = 0; i < rows.n; i++)
		if (ann_test_holds(p, t, rows.v[i]))
			v[out.n++] = rows.v[i];
	return out;
}

st_status
st_ann_judge_split(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_split *s)
{
	uint32_t *v = malloc(rows.n * sizeof *v);
	st_status status = v ? ST_OK : ST_FAILED;
	size_t covered = 0;
	s->bic = s->rss = 0;
	for (size_t i = 0; i < s->n && !status; i++) {
		const struct st_ann_rows part = st_ann_pass(p, rows, &s->tests[i], v);
		struct st_ann_formula formula;
		covered += part.n;
		if (part.n < ST_ANN_RECORDS_LEAST) {
			s->n = 0;
			break;
		}
		status = st_ann_formulate(p, part, &formula);
		s->bic += formula.best.bic;
		s->rss += formula.best.rss;
	}
	if (covered != rows.n)
		s->n = 0;
	free(v);
	return status;
}

/* Makes a part for each value of a category or flag that the rows have. */
static void
ann_split_values(const struct st_ann_problem *p, struct st_ann_rows rows, uint16_t feature,
                 struct st_ann_split *s)
{
	const double *v = p->records->features.v[feature].v;
	s->n = 0;
	for (size_t i = 0; i < rows.n; i++) {
		const double x = v[rows.v[i]];
		size_t k = 0;
		while (k < s->n && !(s->tests[k].value == x ||
		                     (isnan(x) && s->tests[k].comparison == ST_ANN_ABSENT)))
			k++;
		if (k < s->n)
			continue;
		if (s->n == ST_ANN_PARTS_MOST) {
			s->n = 0;
			return;
		}
		s->tests[s->n++] = (struct st_ann_test){
		        feature, isnan(x) ? ST_ANN_ABSENT : ST_ANN_IS, isnan(x) ? 0 : x};
	}
	s->n = s->n > 1 ? s->n : 0;
}

/* Makes two parts if some records have the number and others do not. */
static void
ann_split_presence(const struct st_ann_problem *p, struct st_ann_rows rows, uint16_t feature,
                   struct st_ann_split *s)
{
	const double *v = p->records->features.v[feature].v;
	size_t absent = 0;
	for (size_t i = 0; i < rows.n; i++)
		absent += isnan(v[rows.v[i]]);
	s->n = absent && absent < rows.n ? 2 : 0;
	s->tests[0] = (struct st_ann_test){feature, ST_ANN_PRESENT, 0};
	s->tests[1] = (struct st_ann_test){feature, ST_ANN_ABSENT, 0};
}

/* The range of a feature on each side of a branch. */
struct ann_sides {
	size_t n[2];
	double low[2], high[2];
};

/* Returns false if a record did not execute the branch or lacks the feature, or if one side has no
 * record. */
static bool
ann_find_sides(const struct st_ann_branch *b, const double *x, struct st_ann_rows rows,
               double outcome, struct ann_sides *s)
{
	*s = (struct ann_sides){.low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};
	for (size_t i = 0; i < rows.n; i++) {
		const uint32_t row = rows.v[i];
		if (isnan(b->v[row]) || isnan(x[row]))
			return false;
		const int side = b->v[row] == outcome;
		s->n[side]++;
		s->low[side] = fmin(s->low[side], x[row]);
		s->high[side] = fmax(s->high[side], x[row]);
	}
	return s->n[0] && s->n[1];
}

/* Returns whether one side has a single value, which no record of the other side has. */
static bool
ann_is_apart(const struct st_ann_branch *b, const double *x, struct st_ann_rows rows,
             double outcome, const struct ann_sides *s, int single)
{
	if (s->low[single] != s->high[single])
		return false;
	for (size_t i = 0; i < rows.n; i++)
		if ((b->v[rows.v[i]] == outcome) != single && x[rows.v[i]] == s->low[single])
			return false;
	return true;
}

/* Finds a condition on a feature from which an outcome of a branch follows. */
static void
ann_split_branch(const struct st_ann_problem *p, struct st_ann_rows rows,
                 const struct st_ann_branch *b, double outcome, uint16_t feature,
                 struct st_ann_split *s)
{
	const double *x = p->records->features.v[feature].v;
	struct ann_sides sides;
	s->n = 0;
	if (!ann_find_sides(b, x, rows, outcome, &sides))
		return;
	const bool below = sides.high[0] < sides.low[1], above = sides.high[1] < sides.low[0];
	if (below || above) {
		const double cut = below ? sides.high[0] : sides.high[1];
		s->tests[0] = (struct st_ann_test){feature, ST_ANN_AT_MOST, cut};
		s->tests[1] = (struct st_ann_test){feature, ST_ANN_ABOVE, cut};
		s->n = 2;
		return;
	}
	for (int single = 0; single < 2 && !s->n; single++)
		if (ann_is_apart(b, x, rows, outcome, &sides, single)) {
			s->tests[0] = (struct st_ann_test){feature, ST_ANN_IS, sides.low[single]};
			s->tests[1] =
			        (struct st_ann_test){feature, ST_ANN_IS_NOT, sides.low[single]};
			s->n = 2;
		}
}

/* Conditions that were judged already: many branches follow from the same one. */
struct ann_judged {
	ST_VEC(struct st_ann_test) first;
};

static st_status
ann_try_split(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_split *s,
              struct ann_judged *judged, struct st_ann_split *best)
{
	if (!s->n)
		return ST_OK;
	for (size_t i = 0; i < judged->first.n; i++)
		if (judged->first.v[i].feature == s->tests[0].feature &&
		    judged->first.v[i].comparison == s->tests[0].comparison &&
		    judged->first.v[i].value == s->tests[0].value)
			return ST_OK;
	struct st_ann_test *t = ST_PUSH(&judged->first);
	if (!t)
		return ST_FAILED;
	*t = s->tests[0];
	if (st_ann_judge_split(p, rows, s))
		return ST_FAILED;
	/* Features are tried in the order in which they are preferred. */
	if (s->n && (!best->n || s->bic < best->bic - 1e-9 * fabs(best->bic)))
		*best = *s;
	return ST_OK;
}

/* Tries each outcome of a branch that the rows have: two, or the entries of a jump table. */
static st_status
ann_try_branch(const struct st_ann_problem *p, struct st_ann_rows rows,
               const struct st_ann_branch *b, uint16_t feature, struct ann_judged *judged,
               struct st_ann_split *best)
{
	double seen[ST_ANN_PARTS_MOST];
	size_t n = 0;
	for (size_t i = 0; i < rows.n; i++) {
		const double outcome = b->v[rows.v[i]];
		size_t k = 0;
		if (isnan(outcome))
			return ST_OK;
		while (k < n && seen[k] != outcome)
			k++;
		if (k < n)
			continue;
		if (n == ST_ANN_PARTS_MOST)
			return ST_OK;
		seen[n++] = outcome;
	}
	for (size_t k = 0; k < n && n > 1; k++) {
		struct st_ann_split s;
		ann_split_branch(p, rows, b, seen[k], feature, &s);
		if (ann_try_split(p, rows, &s, judged, best))
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_ann_find_exact(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_split *out)
{
	const struct st_ann_records *r = p->records;
	struct ann_judged judged = {0};
	st_status status = ST_OK;
	*out = (struct st_ann_split){0};
	for (size_t i = 0; i < r->features.n && !status; i++) {
		const uint16_t at = p->order[i];
		struct st_ann_split s;
		if (r->features.v[at].kind != ST_ANN_NUMERIC)
			ann_split_values(p, rows, at, &s);
		else
			ann_split_presence(p, rows, at, &s);
		status = ann_try_split(p, rows, &s, &judged, out);
		for (size_t b = 0; b < r->branches.n && !status; b++)
			status = ann_try_branch(p, rows, &r->branches.v[b], at, &judged, out);
	}
	free(judged.first.v);
	return status;
}
