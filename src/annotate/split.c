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

/* Sums over the parts of a division, about the residuals of their models. */
struct ann_judging {
	double n, squares, fourths;
	double logs; /* of n log(variance) of each part */
};

static void
ann_judge_part(const struct st_ann_problem *p, struct st_ann_rows part, const struct st_ann_fit *f,
               double floor, struct ann_judging *j)
{
	const double n = (double)part.n;
	j->n += n;
	j->squares += f->rss;
	j->logs += n * log(fmax(f->rss / n, floor));
	for (size_t i = 0; i < part.n; i++) {
		const double r = p->y[part.v[i]] - st_ann_fit_at(p, f, part.v[i]);
		j->fourths += r * r * r * r;
	}
}

/*
 * Returns by how much BIC is too low because the variances of the parts differ by chance. BIC
 * assumes normal residuals. The variances of residuals with long tails, as times have, differ much
 * more by chance: by Bartlett's test, corrected for the excess kurtosis k of the residuals, the
 * logarithm of the likelihood is too large by the factor 1 + k / 2.
 */
static double
ann_chance_of_variances(const struct ann_judging *j, double floor)
{
	const double variance = fmax(j->squares / j->n, floor),
	             excess = j->fourths / j->n / (variance * variance) - 3;
	return excess > 0 ? (j->n * log(variance) - j->logs) * excess / (2 + excess) : 0;
}

st_status
st_ann_judge_split(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_split *s)
{
	uint32_t *v = malloc(rows.n * sizeof *v);
	st_status status = v ? ST_OK : ST_FAILED;
	const double floor = st_ann_variance_floor(p, rows);
	struct ann_judging sums = {0};
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
		ann_judge_part(p, part, &formula.best, floor, &sums);
	}
	if (covered != rows.n)
		s->n = 0;
	if (s->n && !status)
		s->bic += ann_chance_of_variances(&sums, floor);
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
		        feature, isnan(x) ? ST_ANN_ABSENT : ST_ANN_IS, isnan(x) ? 0 : x, 0};
	}
	s->n = s->n > 1 ? s->n : 0;
}

/* Returns whether a number has exactly two values in all records of the function, as a flag does
 * that the program keeps in an integer. */
static bool
ann_has_two_values(const struct st_ann_records *r, uint16_t feature)
{
	const double *v = r->features.v[feature].v;
	double two[2];
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (isnan(v[i]) || (n && v[i] == two[0]) || (n > 1 && v[i] == two[1]))
			continue;
		if (n == 2)
			return false;
		two[n++] = v[i];
	}
	return n == 2;
}

void
st_ann_split_categories(const struct st_ann_problem *p, struct st_ann_rows rows, uint16_t feature,
                        struct st_ann_split *s)
{
	s->n = 0;
	if (p->records->features.v[feature].kind != ST_ANN_NUMERIC ||
	    ann_has_two_values(p->records, feature))
		ann_split_values(p, rows, feature, s);
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
	s->tests[0] = (struct st_ann_test){feature, ST_ANN_PRESENT, 0, 0};
	s->tests[1] = (struct st_ann_test){feature, ST_ANN_ABSENT, 0, 0};
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

double
st_ann_bound(double below, double above)
{
	const bool whole = below == floor(below) && above == floor(above);
	const double middle = below / 2 + above / 2, bound = whole ? floor(middle) : middle;
	return bound < above ? bound : below;
}

static void
ann_cut_between(struct st_ann_split *s, uint16_t feature, double below, double above,
                uint16_t branch)
{
	const double cut = st_ann_bound(below, above);
	s->tests[0] = (struct st_ann_test){feature, ST_ANN_AT_MOST, cut, branch};
	s->tests[1] = (struct st_ann_test){feature, ST_ANN_ABOVE, cut, branch};
	s->n = 2;
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
	const uint16_t branch = (uint16_t)(b - p->records->branches.v + 1);
	const bool below = sides.high[0] < sides.low[1], above = sides.high[1] < sides.low[0];
	if (below || above) {
		ann_cut_between(s, feature, below ? sides.high[0] : sides.high[1],
		                below ? sides.low[1] : sides.low[0], branch);
		return;
	}
	for (int single = 0; single < 2 && !s->n; single++)
		if (ann_is_apart(b, x, rows, outcome, &sides, single)) {
			s->tests[0] =
			        (struct st_ann_test){feature, ST_ANN_IS, sides.low[single], branch};
			s->tests[1] = (struct st_ann_test){feature, ST_ANN_IS_NOT,
			                                   sides.low[single], branch};
			s->n = 2;
		}
}

/* Conditions that were judged already: many branches follow from the same one. */
struct ann_judged {
	ST_VEC(struct ann_judged_split {
		size_t n; /* parts */
		struct st_ann_test first;
	})
	list;
};

static st_status
ann_try_split(const struct st_ann_problem *p, struct st_ann_rows rows, struct st_ann_split *s,
              struct ann_judged *judged, struct st_ann_split *best)
{
	if (!s->n)
		return ST_OK;
	for (size_t i = 0; i < judged->list.n; i++) {
		const struct ann_judged_split *is = &judged->list.v[i];
		if (is->n == s->n && is->first.feature == s->tests[0].feature &&
		    is->first.comparison == s->tests[0].comparison &&
		    is->first.value == s->tests[0].value)
			return ST_OK;
	}
	struct ann_judged_split *t = ST_PUSH(&judged->list);
	if (!t)
		return ST_FAILED;
	*t = (struct ann_judged_split){s->n, s->tests[0]};
	if (st_ann_judge_split(p, rows, s))
		return ST_FAILED;
	/* Features are tried in the order in which they are preferred. */
	if (s->n && (!best->n || s->bic < best->bic - 1e-9 * fabs(best->bic)))
		*best = *s;
	return ST_OK;
}

/* An outcome of a branch, and the range of a feature that its records have. */
struct ann_outcome {
	double outcome, low, high;
};
enum { OUTCOMES_MOST = 64 };

/* Returns how many outcomes the rows have: two, or the entries of a jump table. 0: a record did not
 * execute the branch or lacks the feature, or there are too many. */
static size_t
ann_find_outcome_ranges(const struct st_ann_branch *b, const double *x, struct st_ann_rows rows,
                        struct ann_outcome *out)
{
	size_t n = 0;
	for (size_t i = 0; i < rows.n; i++) {
		const uint32_t row = rows.v[i];
		size_t k = 0;
		if (isnan(b->v[row]) || isnan(x[row]))
			return 0;
		while (k < n && out[k].outcome != b->v[row])
			k++;
		if (k == OUTCOMES_MOST)
			return 0;
		if (k == n)
			out[n++] = (struct ann_outcome){b->v[row], x[row], x[row]};
		out[k].low = fmin(out[k].low, x[row]);
		out[k].high = fmax(out[k].high, x[row]);
	}
	return n;
}

static int
ann_outcome_order(const void *a, const void *b)
{
	const struct ann_outcome *p = a, *q = b;
	return (p->low > q->low) - (p->low < q->low);
}

/* An entry of a jump table for each value of the feature: a part for each. */
static void
ann_split_entries(const struct ann_outcome *v, size_t n, uint16_t feature, uint16_t branch,
                  struct st_ann_split *s)
{
	s->n = 0;
	for (size_t i = 0; i < n; i++)
		if (n > ST_ANN_PARTS_MOST || v[i].low != v[i].high ||
		    (i && v[i].low == v[i - 1].low))
			return;
	for (size_t i = 0; i < n; i++)
		s->tests[i] = (struct st_ann_test){feature, ST_ANN_IS, v[i].low, branch};
	s->n = n;
}

/* Tries each outcome of a branch against the others; of a jump table also all entries at once, and
 * the first ones, in the order of the feature, against the last ones. */
static st_status
ann_try_branch(const struct st_ann_problem *p, struct st_ann_rows rows,
               const struct st_ann_branch *b, uint16_t feature, struct ann_judged *judged,
               struct st_ann_split *best)
{
	struct ann_outcome v[OUTCOMES_MOST];
	struct st_ann_split s;
	const uint16_t branch = (uint16_t)(b - p->records->branches.v + 1);
	const size_t n = ann_find_outcome_ranges(b, p->records->features.v[feature].v, rows, v);
	for (size_t k = 0; k < n && n > 1; k++) {
		ann_split_branch(p, rows, b, v[k].outcome, feature, &s);
		if (ann_try_split(p, rows, &s, judged, best))
			return ST_FAILED;
	}
	if (n <= 2)
		return ST_OK;
	qsort(v, n, sizeof *v, ann_outcome_order);
	ann_split_entries(v, n, feature, branch, &s);
	if (ann_try_split(p, rows, &s, judged, best))
		return ST_FAILED;
	double high = v[0].high;
	for (size_t k = 1; k < n; k++) {
		ann_cut_between(&s, feature, high, v[k].low, branch);
		if (high < v[k].low && ann_try_split(p, rows, &s, judged, best))
			return ST_FAILED;
		high = fmax(high, v[k].high);
	}
	return ST_OK;
}

st_status
st_ann_find_exact(const struct st_ann_problem *p, struct st_ann_rows rows,
                  const struct st_ann_fit *whole, struct st_ann_split *out)
{
	/* If the undivided model is close, a number with two values may be one of its terms, and
	 * no condition on it is needed. */
	const bool numbers = !st_ann_fits_closely(p, rows, whole);
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
		/* A branch that divides the records in the same way is named instead. */
		if (status || !numbers || r->features.v[at].kind != ST_ANN_NUMERIC ||
		    !ann_has_two_values(r, at))
			continue;
		ann_split_values(p, rows, at, &s);
		status = ann_try_split(p, rows, &s, &judged, out);
	}
	free(judged.list.v);
	return status;
}
