/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Divides times although some calls were disturbed. An interrupt, or another guest of the host,
 * makes some calls longer, often by more than the other calls differ from each other: one call in
 * hundreds on an idle machine, one in ten on a busy one. With one such record, least squares may
 * miss the law. Records far above those with about the same prediction are left out if they are not
 * too many, and if much less of the squares remains without them. The note `dropped` has their
 * share.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/far.h"
#include "annotate/scopes.h"
#include "annotate/undisturbed.h"
#include "stats/robust.h"

/* Fewer records are too few to leave some out; a division by better models is repeated at most
 * ROUNDS times. */
enum { RECORDS_LEAST = 50, ROUNDS = 3 };
/* A record is judged by a model that reaches at most so far beyond the other records, as a share of
 * their range. */
static const double reach = 0.1;
/* The squares that remain must be less than this share of those of all records. */
static const double much_better = 0.5;

static double
ann_part_mean(const struct st_ann_problem *p, const struct st_ann_part *part, uint32_t row)
{
	return part->independent
	               ? st_family_mean(part->family.family, part->family.a, part->family.b)
	               : st_ann_fit_at(p, &part->fit, row);
}

/* Returns the distance of a record to the nearest of the leaf's models; *mean: the model's value.
 */
static double
ann_leaf_distance(const struct st_ann_problem *p, const struct st_ann_leaf *leaf, uint32_t row,
                  double *mean)
{
	double nearest = INFINITY;
	*mean = 0;
	for (size_t i = 0; i < leaf->parts.n; i++) {
		const double at = ann_part_mean(p, &leaf->parts.v[i], row), d = p->y[row] - at;
		if (fabs(d) < fabs(nearest)) {
			nearest = d;
			*mean = at;
		}
	}
	return nearest;
}

/* Returns the rows of the leaf; v: space for all rows. */
static struct st_ann_rows
ann_leaf_rows(const struct st_ann_problem *p, struct st_ann_rows rows,
              const struct st_ann_leaf *leaf, uint32_t *v)
{
	for (size_t i = 0; i < rows.n; i++)
		v[i] = rows.v[i];
	struct st_ann_rows own = {v, rows.n};
	for (size_t i = 0; i < leaf->tests.n; i++)
		own = st_ann_pass(p, own, &leaf->tests.v[i], v);
	return own;
}

static bool
ann_leaf_has_terms(const struct st_ann_leaf *leaf)
{
	for (size_t i = 0; i < leaf->parts.n; i++)
		if (!leaf->parts.v[i].independent)
			return true;
	return false;
}

/* The records, whether each is far above its model, and space for calculations. */
struct ann_disturbed {
	const struct st_ann_problem *p;
	struct st_ann_rows rows;
	bool *far;    /* by record: it is far above the model */
	bool *before; /* the marks before the last ones */
	uint32_t *v;  /* space for all rows */
	double *d;    /* space for two values of each row */
};

/* Marks the records that are far above others of their leaf with about the same prediction. Leaves
 * without terms have no law that a record could hide. */
static st_status
ann_mark_leaf(struct ann_disturbed *s, const struct st_ann_leaf *leaf)
{
	const struct st_ann_rows own = ann_leaf_rows(s->p, s->rows, leaf, s->v);
	bool *far = NULL;
	size_t marked;
	if (!own.n || !ann_leaf_has_terms(leaf))
		return ST_OK;
	far = calloc(own.n, sizeof *far);
	if (!far)
		return ST_FAILED;
	for (size_t i = 0; i < own.n; i++)
		s->d[own.n + i] = ann_leaf_distance(s->p, leaf, own.v[i], &s->d[i]);
	const st_status status = st_ann_mark_far(s->d, s->d + own.n, own.n, far, &marked);
	for (size_t i = 0; i < own.n; i++)
		s->far[own.v[i]] = far[i];
	free(far);
	return status;
}

/* Extends a range by a value, unless it is absent. */
static void
ann_extend(double range[2], double x)
{
	range[0] = fmin(range[0], x);
	range[1] = fmax(range[1], x);
}

/* Clears the marks of records whose value of a feature is far outside those of the others: the cost
 * of such data may follow another law, which nothing contradicts. */
static void
ann_clear_outside(struct ann_disturbed *s, struct st_ann_rows own, uint16_t feature)
{
	const double *const x = s->p->records->features.v[feature].v;
	double range[2] = {INFINITY, -INFINITY};
	for (size_t i = 0; i < own.n; i++)
		if (!s->far[own.v[i]])
			ann_extend(range, x[own.v[i]]);
	const double beyond = reach * (range[1] - range[0]);
	for (size_t i = 0; i < own.n; i++) {
		const double at = x[own.v[i]];
		if (at < range[0] - beyond || at > range[1] + beyond)
			s->far[own.v[i]] = false;
	}
}

static void
ann_clear_leaf(struct ann_disturbed *s, const struct st_ann_leaf *leaf)
{
	const struct st_ann_rows own = ann_leaf_rows(s->p, s->rows, leaf, s->v);
	for (size_t i = 0; i < leaf->parts.n; i++) {
		const struct st_ann_part *part = &leaf->parts.v[i];
		for (size_t k = 0; k < part->fit.n_terms && !part->independent; k++) {
			const struct st_ann_term *t = &part->fit.terms[k];
			ann_clear_outside(s, own, t->a);
			if (t->b != ST_ANN_NO_FEATURE)
				ann_clear_outside(s, own, t->b);
		}
	}
}

/* Returns the squares of the distances of rows to the models of their leaves. */
static double
ann_leaves_squares(const struct ann_disturbed *s, struct st_ann_rows rows,
                   const struct st_ann_leaves *leaves)
{
	double sum = 0, mean;
	for (size_t k = 0; k < leaves->list.n; k++) {
		const struct st_ann_leaf *leaf = &leaves->list.v[k];
		const struct st_ann_rows own = ann_leaf_rows(s->p, rows, leaf, s->v);
		for (size_t i = 0; i < own.n; i++) {
			const double d = ann_leaf_distance(s->p, leaf, own.v[i], &mean);
			sum += d * d;
		}
	}
	return sum;
}

/* Writes the rows that are not marked to v. */
static struct st_ann_rows
ann_near_rows(const struct ann_disturbed *s, uint32_t *v)
{
	struct st_ann_rows near = {v, 0};
	for (size_t i = 0; i < s->rows.n; i++)
		if (!s->far[s->rows.v[i]])
			v[near.n++] = s->rows.v[i];
	return near;
}

/* Marks the records whose y is far above that of 99 % of the records: they may hide the law so well
 * that no model exists that they could be far from. */
static void
ann_mark_extremes(struct ann_disturbed *s)
{
	const size_t n = s->rows.n;
	for (size_t i = 0; i < n; i++)
		s->d[i] = s->p->y[s->rows.v[i]];
	st_sort_values(s->d, n);
	const double high = s->d[n - 1 - n / 100], limit = high + (high - s->d[n / 2]);
	for (size_t i = 0; i < n; i++)
		s->far[s->rows.v[i]] = s->p->y[s->rows.v[i]] > limit;
}

/* Notes in the models of each leaf the share of its records that was left out. */
static void
ann_note_dropped(struct ann_disturbed *s, struct st_ann_leaves *leaves)
{
	for (size_t k = 0; k < leaves->list.n; k++) {
		struct st_ann_leaf *leaf = &leaves->list.v[k];
		const struct st_ann_rows own = ann_leaf_rows(s->p, s->rows, leaf, s->v);
		size_t far = 0;
		for (size_t i = 0; i < own.n; i++)
			far += s->far[own.v[i]];
		const double share = own.n ? (double)far / (double)own.n : 0;
		for (size_t i = 0; i < leaf->parts.n && far; i++) {
			struct st_ann_part *part = &leaf->parts.v[i];
			part->dropped = share + (1 - share) * part->dropped;
			if (part->selection == ST_ANN_PLAIN)
				part->selection = ST_ANN_DOMINANT;
		}
	}
}

/* Marks the records that a division leaves far above others; *n: their number; *same: they are
 * those that were marked before. */
static st_status
ann_mark_by(struct ann_disturbed *s, const struct st_ann_leaves *by, size_t *n, bool *same)
{
	st_status status = ST_OK;
	for (size_t i = 0; i < s->rows.n; i++) {
		s->before[s->rows.v[i]] = s->far[s->rows.v[i]];
		s->far[s->rows.v[i]] = false;
	}
	for (size_t k = 0; k < by->list.n && !status; k++)
		status = ann_mark_leaf(s, &by->list.v[k]);
	for (size_t k = 0; k < by->list.n && !status; k++)
		ann_clear_leaf(s, &by->list.v[k]);
	*n = 0;
	*same = true;
	for (size_t i = 0; i < s->rows.n; i++) {
		*n += s->far[s->rows.v[i]];
		*same &= s->far[s->rows.v[i]] == s->before[s->rows.v[i]];
	}
	return status;
}

/* Divides the records that are not marked, and replaces `out`. */
static st_status
ann_divide_near(struct ann_disturbed *s, uint32_t *v, struct st_ann_leaves *out)
{
	const struct st_ann_rows near = ann_near_rows(s, v);
	st_ann_leaves_free(out);
	*out = (struct st_ann_leaves){0};
	return st_ann_divide(s->p, near, out);
}

static bool
ann_are_few(const struct ann_disturbed *s, size_t n)
{
	return n && (double)n <= ST_ANN_DISTURBED_MOST * (double)s->rows.n;
}

/* Finds a division of the undisturbed records. Each division shows better than the one before it
 * which records are far above. whole: that of all records; *n: the number of records that are left
 * out, and marked; 0: none, or too many. */
static st_status
ann_divide_undisturbed(struct ann_disturbed *s, const struct st_ann_leaves *whole, uint32_t *v,
                       struct st_ann_leaves *better, size_t *n)
{
	bool same = false;
	ann_mark_extremes(s);
	const bool extremes = ann_near_rows(s, v).n < s->rows.n;
	st_status status = extremes ? ann_divide_near(s, v, better) : ST_OK;
	if (!status)
		status = ann_mark_by(s, extremes ? better : whole, n, &same);
	same &= extremes;
	for (int round = 0; round < ROUNDS && !status && ann_are_few(s, *n) && !same; round++) {
		status = ann_divide_near(s, v, better);
		if (!status && round + 1 < ROUNDS)
			status = ann_mark_by(s, better, n, &same);
	}
	if (!ann_are_few(s, *n))
		*n = 0;
	return status;
}

st_status
st_ann_divide_times(const struct st_ann_problem *p, struct st_ann_rows rows,
                    struct st_ann_leaves *out)
{
	struct st_ann_leaves better = {0};
	struct ann_disturbed s = {.p = p, .rows = rows};
	uint32_t *v = malloc((rows.n + 1) * sizeof *v);
	size_t n = 0;
	s.far = calloc(2 * (p->records->n + 1), sizeof *s.far);
	s.before = s.far ? s.far + p->records->n + 1 : NULL;
	s.v = malloc((rows.n + 1) * sizeof *s.v);
	s.d = malloc((2 * rows.n + 1) * sizeof *s.d);
	st_status status = v && s.far && s.v && s.d ? st_ann_divide(p, rows, out) : ST_FAILED;
	if (!status && rows.n >= RECORDS_LEAST)
		status = ann_divide_undisturbed(&s, out, v, &better, &n);
	if (!status && n) {
		const struct st_ann_rows near = ann_near_rows(&s, v);
		if (ann_leaves_squares(&s, near, &better) <
		    much_better * ann_leaves_squares(&s, rows, out)) {
			ann_note_dropped(&s, &better);
			st_ann_leaves_free(out);
			*out = better;
			better = (struct st_ann_leaves){0};
		}
	}
	st_ann_leaves_free(&better);
	free(v);
	free(s.far);
	free(s.v);
	free(s.d);
	return status;
}
