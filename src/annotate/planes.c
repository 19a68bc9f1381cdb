/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds where the law of the records changes along one feature although it depends on others: with
 * f(a, b, c) = a > 10 ? b^2 : c, y alone says little about a. For each position in the order of the
 * feature, a model with the terms x and x^2 of several features is fitted to the records before
 * and to those after it. Each record updates a triangle (columns.h), once from the front and once
 * from the back, so that a feature needs two passes.
 */
#include <math.h>
#include <stdlib.h>

#include "annotate/scopes.h"

/* SAMPLE_MOST: a position is found with at most this number of records, evenly spaced in the order
 * of the feature. All records near it then refine it. */
enum { FEATURES_MOST = 6, COLUMNS_MOST = 1 + 2 * FEATURES_MOST, SAMPLE_MOST = 1000 };

/* The two models must leave less than this share of the residual squares of one model. */
static const double promising = 0.7;

struct ann_ordered {
	double x;
	uint32_t row;
};

struct ann_scan {
	const struct st_ann_problem *p;
	const struct st_ann_usable *usable;
	uint16_t features[FEATURES_MOST];
	size_t n_features, n_columns;
	struct ann_ordered *order; /* the records by the feature that is scanned */
	size_t n, stride;
	double *left; /* squares of the residuals of the samples before each one */
};

static int
ann_compare_ordered(const void *a, const void *b)
{
	const struct ann_ordered *p = a, *q = b;
	if (p->x != q->x)
		return p->x > q->x ? 1 : -1;
	return (p->row > q->row) - (p->row < q->row);
}

/* Fills in the values of the columns for a record. Features are scaled to -1 to 1 without sums of
 * their values, which overflow if these are very large. */
static void
ann_plane_columns(const struct ann_scan *s, uint32_t row, double *x)
{
	size_t n = 0;
	x[n++] = 1;
	for (size_t i = 0; i < s->n_features; i++) {
		const uint16_t at = s->features[i];
		const double low = s->usable->low[at], high = s->usable->high[at];
		const double v = s->p->records->features.v[at].v[row];
		x[n] = 2 * ((v - low) / (high - low)) - 1;
		x[n + 1] = x[n] * x[n];
		n += 2;
	}
}

static void
ann_plane_add(const struct ann_scan *s, struct st_columns *c, size_t at)
{
	double x[COLUMNS_MOST];
	ann_plane_columns(s, s->order[at].row, x);
	st_columns_add(c, x, s->p->y[s->order[at].row], 1);
}

/* Returns the squares of the residuals of the fit by all columns. */
static double
ann_plane_rss(const struct st_columns *c)
{
	const long double last = c->r[(c->p + 1) * (c->p + 1) - 1];
	return (double)(last * last);
}

/* Returns n log of the variance, with n degrees of freedom. With the number of records in place of
 * n, positions near the ends would have the advantage that a model fits few records by chance. */
static double
ann_plane_score(double rss, size_t n, double floor)
{
	return (double)n * log(fmax(rss / (double)n, floor));
}

/* Finds the position with the lowest score; *at: 0 if the two models explain too little. */
static st_status
ann_scan_samples(struct ann_scan *s, size_t least, double floor, size_t *at, double *score)
{
	struct st_columns before, after;
	const st_status begun =
	        st_columns_begin(&before, s->n_columns) | st_columns_begin(&after, s->n_columns);
	const size_t samples = (s->n + s->stride - 1) / s->stride;
	double squares = INFINITY;
	*at = 0;
	*score = INFINITY;
	for (size_t i = 0; i < samples && !begun; i++) {
		s->left[i] = ann_plane_rss(&before);
		ann_plane_add(s, &before, i * s->stride);
	}
	for (size_t i = samples; i-- > 1 && !begun;) {
		ann_plane_add(s, &after, i * s->stride);
		const size_t rest = samples - i, from = i * s->stride;
		if (i <= s->n_columns || rest <= s->n_columns || from < least ||
		    s->n - from < least || s->order[from].x == s->order[from - s->stride].x)
			continue;
		const double left = s->left[i], right = ann_plane_rss(&after);
		const double own = ann_plane_score(left, i - s->n_columns, floor) +
		                   ann_plane_score(right, rest - s->n_columns, floor);
		if (own < *score) {
			*score = own;
			*at = from;
			squares = left + right;
		}
	}
	if (!begun && !(squares < promising * ann_plane_rss(&before)))
		*at = 0;
	st_columns_free(&before);
	st_columns_free(&after);
	return begun;
}

/* Fits the samples from one position to another. */
static st_status
ann_plane_fit(const struct ann_scan *s, size_t from, size_t to, struct st_ls *fit)
{
	struct st_columns c;
	size_t all[COLUMNS_MOST];
	st_status status = st_columns_begin(&c, s->n_columns);
	for (size_t i = 0; i < s->n_columns; i++)
		all[i] = i;
	for (size_t i = from; i < to && !status; i += s->stride)
		ann_plane_add(s, &c, i);
	if (!status)
		status = st_columns_solve(&c, all, s->n_columns, fit, NULL);
	st_columns_free(&c);
	return status;
}

static double
ann_plane_square(const struct ann_scan *s, const struct st_ls *fit, uint32_t row)
{
	double x[COLUMNS_MOST], y = 0;
	ann_plane_columns(s, row, x);
	for (size_t k = 0; k < s->n_columns; k++)
		y += fit->b[k] * x[k];
	return (s->p->y[row] - y) * (s->p->y[row] - y);
}

/* Moves a position that was found with samples to where the fits of both sides describe the records
 * best, with at least `least` records on each side. Returns `at` if the samples do not determine
 * the fits. */
static size_t
ann_plane_refine(const struct ann_scan *s, size_t at, size_t least)
{
	struct st_ls before, after;
	double sum = 0, lowest = 0;
	size_t best = at;
	if (s->stride == 1 || ann_plane_fit(s, 0, at, &before) ||
	    ann_plane_fit(s, at, s->n, &after))
		return at;
	const size_t begin = at > least + 2 * s->stride ? at - 2 * s->stride : least;
	for (size_t i = begin; i <= s->n - least && i < at + 2 * s->stride; i++) {
		const uint32_t row = s->order[i - 1].row;
		sum += ann_plane_square(s, &before, row) - ann_plane_square(s, &after, row);
		if (sum < lowest && s->order[i].x != s->order[i - 1].x) {
			lowest = sum;
			best = i;
		}
	}
	return best;
}

st_status
st_ann_find_plane(const struct st_ann_problem *p, struct st_ann_rows rows,
                  const struct st_ann_usable *u, size_t least, uint16_t *feature, size_t *place)
{
	struct ann_scan s = {.p = p, .usable = u, .n = rows.n};
	const double floor = st_ann_variance_floor(p, rows);
	double lowest = INFINITY;
	st_status status = ST_OK;
	*place = 0;
	s.n_features = st_ann_strongest(p, rows, u, FEATURES_MOST, s.features);
	s.n_columns = 1 + 2 * s.n_features;
	s.stride = rows.n / SAMPLE_MOST + 1;
	s.order = malloc((rows.n + 1) * sizeof *s.order);
	s.left = malloc((rows.n + 1) * sizeof *s.left);
	if (!s.order || !s.left)
		status = ST_FAILED;
	for (size_t k = 0; k < s.n_features && s.n_features > 1 && !status; k++) {
		const double *x = p->records->features.v[s.features[k]].v;
		double score;
		size_t at;
		for (size_t i = 0; i < rows.n; i++)
			s.order[i] = (struct ann_ordered){x[rows.v[i]], rows.v[i]};
		qsort(s.order, rows.n, sizeof *s.order, ann_compare_ordered);
		status = ann_scan_samples(&s, least, floor, &at, &score);
		if (at && score < lowest) {
			lowest = score;
			*feature = s.features[k];
			*place = ann_plane_refine(&s, at, least);
		}
	}
	free(s.order);
	free(s.left);
	return status;
}
