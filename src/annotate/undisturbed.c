/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Divides times although a few calls were disturbed. An interrupt, or another guest of the host,
 * makes about one call in some hundreds longer, often by more than the other calls differ from each
 * other. With one such record, least squares may miss the law. Records far above the model of their
 * scope are left out if they are few, and if much less of the squares remains without them. The
 * note `dropped` has their share.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/scopes.h"
#include "annotate/undisturbed.h"
#include "stats/robust.h"

/* A record is far above the model at FAR standard deviations, by the median of the distances. At
 * most one record in PER_DISTURBED may be left out. */
enum { FAR = 20, PER_DISTURBED = 50 };
/* Distances below this share of the model's value are not far, however exact the others are. */
static const double near_share = 0.05;
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

/* Returns the standard deviation of the rounding of times to multiples of a tick: the difference
 * between times that are as close as any is a tick. Without rounding it is almost 0. Sorts y. */
static double
ann_rounding_sd(double *y, size_t n)
{
	double tick = INFINITY;
	st_sort_values(y, n);
	for (size_t i = 1; i < n; i++)
		if (y[i] - y[i - 1] > 1e-9 * fabs(y[i]))
			tick = fmin(tick, y[i] - y[i - 1]);
	return isfinite(tick) ? tick / sqrt(12) : 0;
}

/* The records, whether each is far above its model, and space for calculations. */
struct ann_disturbed {
	const struct st_ann_problem *p;
	struct st_ann_rows rows;
	bool *far;   /* by record: it is far above the model */
	uint32_t *v; /* space for all rows */
	double *d;
	double rounding; /* standard deviation of the rounding of y */
};

/* Marks the records that are far above the model of their leaf. Leaves without terms have no law
 * that a record could hide. */
static void
ann_mark_leaf(struct ann_disturbed *s, const struct st_ann_leaf *leaf)
{
	const struct st_ann_rows own = ann_leaf_rows(s->p, s->rows, leaf, s->v);
	double mean;
	if (!own.n || !ann_leaf_has_terms(leaf))
		return;
	for (size_t i = 0; i < own.n; i++)
		s->d[i] = fabs(ann_leaf_distance(s->p, leaf, own.v[i], &mean));
	const double far = FAR * fmax(1.4826 * st_median(s->d, own.n), s->rounding);
	for (size_t i = 0; i < own.n; i++) {
		const double d = ann_leaf_distance(s->p, leaf, own.v[i], &mean);
		s->far[own.v[i]] = d > far && d > near_share * fabs(mean);
	}
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
	s->rounding = ann_rounding_sd(s->d, n);
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

/* Marks the disturbed records with the help of a division of the others; *n: their number. */
static st_status
ann_find_disturbed(struct ann_disturbed *s, const struct st_ann_leaves *whole, uint32_t *v,
                   size_t *n)
{
	struct st_ann_leaves leaves = {0};
	ann_mark_extremes(s);
	const struct st_ann_rows usual = ann_near_rows(s, v);
	const st_status status = usual.n < s->rows.n ? st_ann_divide(s->p, usual, &leaves) : ST_OK;
	const struct st_ann_leaves *by = usual.n < s->rows.n ? &leaves : whole;
	for (size_t i = 0; i < s->rows.n; i++)
		s->far[s->rows.v[i]] = false;
	for (size_t k = 0; k < by->list.n && !status; k++)
		ann_mark_leaf(s, &by->list.v[k]);
	for (size_t k = 0; k < by->list.n && !status; k++)
		ann_clear_leaf(s, &by->list.v[k]);
	*n = s->rows.n - ann_near_rows(s, v).n;
	st_ann_leaves_free(&leaves);
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
	s.far = calloc(p->records->n + 1, sizeof *s.far);
	s.v = malloc((rows.n + 1) * sizeof *s.v);
	s.d = malloc((rows.n + 1) * sizeof *s.d);
	st_status status = v && s.far && s.v && s.d ? st_ann_divide(p, rows, out) : ST_FAILED;
	if (!status && rows.n >= PER_DISTURBED)
		status = ann_find_disturbed(&s, out, v, &n);
	if (!status && n && n <= rows.n / PER_DISTURBED) {
		const struct st_ann_rows near = ann_near_rows(&s, v);
		status = st_ann_divide(p, near, &better);
		if (!status && ann_leaves_squares(&s, near, &better) <
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

/* The records in the order of their predictions. */
struct ann_predicted {
	double predicted, residual;
	size_t at;
};

static int
ann_compare_predicted(const void *a, const void *b)
{
	const struct ann_predicted *p = a, *q = b;
	if (p->predicted != q->predicted)
		return p->predicted > q->predicted ? 1 : -1;
	return (p->at > q->at) - (p->at < q->at);
}

st_status
st_ann_mark_disturbed(const double *predicted, const double *residuals, size_t n, bool *far,
                      size_t *marked)
{
	enum { NEIGHBOURS = 21 };
	struct ann_predicted *v = malloc((n + 1) * sizeof *v);
	double *y = malloc((n + 1) * sizeof *y);
	*marked = 0;
	if (!v || !y) {
		free(v);
		free(y);
		return ST_FAILED;
	}
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct ann_predicted){predicted[i], residuals[i], i};
		y[i] = predicted[i] + residuals[i];
	}
	const double rounding = ann_rounding_sd(y, n);
	free(y);
	qsort(v, n, sizeof *v, ann_compare_predicted);
	for (size_t i = 0; n >= PER_DISTURBED && i < n; i++) {
		const size_t half = NEIGHBOURS / 2, last = n - NEIGHBOURS;
		const size_t from = i < half ? 0 : i - half < last ? i - half : last;
		double near[NEIGHBOURS];
		for (size_t k = 0; k < NEIGHBOURS; k++)
			near[k] = v[from + k].residual;
		const double middle = st_median(near, NEIGHBOURS), above = v[i].residual - middle;
		/* Most records fail the first condition, which is faster than the second. */
		far[v[i].at] = above > near_share * fabs(v[i].predicted + middle) &&
		               above > FAR * fmax(st_mad(near, NEIGHBOURS), rounding);
		*marked += far[v[i].at];
	}
	if (*marked > n / PER_DISTURBED) {
		memset(far, 0, n * sizeof *far);
		*marked = 0;
	}
	free(v);
	return ST_OK;
}
