/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Divides records by a range of a feature when no condition of the code is known. The law changes
 * where two parabolas, one on each side, fit the residuals of the model of all records best. Sums
 * over the records in the order of the feature test all positions in one pass. The models of both
 * sides decide whether the division is kept.
 */
#include <math.h>
#include <stdlib.h>

#include "annotate/scopes.h"

/* Models of both sides are fitted only if two parabolas leave less than this share of the residual
 * squares of one. */
static const double promising = 0.85;

/* Sums of powers of x and their products with y, from which a parabola is fitted. */
struct ann_moments {
	long double n, x[5], y[3], yy; /* x[k]: of x^k; y[k]: of x^k y */
	size_t different;              /* values of x */
};

struct ann_point {
	double x, y;
};

static int
ann_compare_points(const void *a, const void *b)
{
	const struct ann_point *p = a, *q = b;
	return (p->x > q->x) - (p->x < q->x);
}

/* Adds a point; again: the point before it has the same x. */
static void
ann_moments_add(struct ann_moments *m, const struct ann_point *at, bool again)
{
	m->different += !again;
	long double power = 1;
	for (int k = 0; k < 5; k++) {
		m->x[k] += power;
		if (k < 3)
			m->y[k] += power * at->y;
		power *= at->x;
	}
	m->yy += (long double)at->y * at->y;
	m->n++;
}

static struct ann_moments
ann_moments_less(const struct ann_moments *all, const struct ann_moments *part)
{
	struct ann_moments m = {.n = all->n - part->n,
	                        .yy = all->yy - part->yy,
	                        .different = all->different - part->different};
	for (int k = 0; k < 5; k++)
		m.x[k] = all->x[k] - part->x[k];
	for (int k = 0; k < 3; k++)
		m.y[k] = all->y[k] - part->y[k];
	return m;
}

/* Returns the sum of the squared residuals of a parabola, or of a line or a constant if x has too
 * few values: a curve through all of them would fit by chance. */
static double
ann_moments_rss(const struct ann_moments *m)
{
	const int most = m->different > 3 ? 3 : m->different > 2 ? 2 : 1;
	long double a[3][4], rss = m->yy;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++)
			a[i][k] = m->x[i + k];
		a[i][3] = m->y[i];
	}
	/* Cholesky: each step subtracts the squares that a column explains. */
	for (int i = 0; i < most; i++) {
		if (!(a[i][i] > 1e-12L * m->n))
			break;
		rss -= a[i][3] * a[i][3] / a[i][i];
		for (int j = i + 1; j < 3; j++) {
			const long double factor = a[j][i] / a[i][i];
			for (int k = i; k < 4; k++)
				a[j][k] -= factor * a[i][k];
		}
	}
	return rss > 0 ? (double)rss : 0;
}

/* Sorts the records by a feature, with x scaled to -1 to 1; y is the residual, with variance 1. */
static size_t
ann_scaled_points(struct st_ann_rows rows, const double *x, const double *residuals,
                  struct ann_point *points, double low, double high)
{
	for (size_t i = 0; i < rows.n; i++)
		points[i] = (struct ann_point){(2 * x[rows.v[i]] - low - high) / (high - low),
		                               residuals[i]};
	qsort(points, rows.n, sizeof *points, ann_compare_points);
	return rows.n;
}

/* The position with the lowest BIC, and that with the least squares. A part that a parabola
 * describes exactly has a BIC that hides every other change of the law. */
enum { ANN_PLACES = 2 };

/* Finds the numbers of points before the positions at which two parabolas fit best; 0: they explain
 * too little there. */
static void
ann_best_places(const struct ann_point *points, size_t n, size_t least, size_t places[ANN_PLACES])
{
	const double floor = 1e-16 * (double)n;
	struct ann_moments all = {0}, before = {0};
	double best[ANN_PLACES] = {INFINITY, INFINITY}, squares[ANN_PLACES] = {INFINITY, INFINITY};
	for (size_t i = 0; i < n; i++)
		ann_moments_add(&all, &points[i], i && points[i].x == points[i - 1].x);
	for (size_t i = 1; i < n; i++) {
		ann_moments_add(&before, &points[i - 1],
		                i > 1 && points[i - 1].x == points[i - 2].x);
		if (i < least || n - i < least || points[i].x == points[i - 1].x)
			continue;
		const struct ann_moments after = ann_moments_less(&all, &before);
		const double left = ann_moments_rss(&before), right = ann_moments_rss(&after);
		const double scores[ANN_PLACES] = {
		        (double)i * log((left + floor) / (double)i) +
		                (double)(n - i) * log((right + floor) / (double)(n - i)),
		        left + right};
		for (size_t k = 0; k < ANN_PLACES; k++)
			if (scores[k] < best[k]) {
				best[k] = scores[k];
				squares[k] = left + right;
				places[k] = i;
			}
	}
	for (size_t k = 0; k < ANN_PLACES; k++)
		if (!(squares[k] < promising * ann_moments_rss(&all) + floor))
			places[k] = 0;
}

/* Returns the mean distance of the values on one side of a position, of at most NEAR of them; 0: it
 * has one value. step: 1, upwards, or -1. */
static double
ann_spacing(const struct ann_point *points, size_t n, size_t from, int step)
{
	enum { NEAR = 10 };
	size_t different = 0, at = from;
	double last = points[from].x;
	while (different < NEAR && (step > 0 ? at + 1 < n : at > 0)) {
		at = step > 0 ? at + 1 : at - 1;
		different += points[at].x != last;
		last = points[at].x;
	}
	return different ? fabs(last - points[from].x) / (double)different : 0;
}

/* A gap that is much wider than those near it is in no scope, because nothing was observed in it.
 */
static void
ann_range_tests(uint16_t feature, double below, double above, double spacing,
                struct st_ann_split *s)
{
	const bool gap = spacing > 0 && above - below > 10 * spacing;
	const double middle = st_ann_bound(below, above);
	s->n = 2;
	s->tests[0] = (struct st_ann_test){feature, ST_ANN_AT_MOST, gap ? below : middle, 0};
	s->tests[1] = (struct st_ann_test){feature, gap ? ST_ANN_AT_LEAST : ST_ANN_ABOVE,
	                                   gap ? above : middle, 0};
}

static st_status
ann_try_place(const struct st_ann_problem *p, struct st_ann_rows rows,
              const struct st_ann_usable *u, uint16_t feature, const struct ann_point *points,
              size_t at, struct st_ann_split *best)
{
	const double low = u->low[feature], high = u->high[feature], middle = (low + high) / 2;
	const double spacing =
	        fmax(ann_spacing(points, rows.n, at - 1, -1), ann_spacing(points, rows.n, at, 1)) *
	        (high - low) / 2;
	struct st_ann_split s;
	/* Takes the bounds from the values themselves, because scaling may have rounded them. */
	double below = -INFINITY, above = INFINITY;
	const double place = middle + (points[at - 1].x + points[at].x) / 4 * (high - low);
	for (size_t i = 0; i < rows.n; i++) {
		const double x = p->records->features.v[feature].v[rows.v[i]];
		if (x <= place)
			below = fmax(below, x);
		else
			above = fmin(above, x);
	}
	ann_range_tests(feature, below, above, spacing, &s);
	if (st_ann_judge_split(p, rows, &s))
		return ST_FAILED;
	if (s.n && (!best->n || s.bic < best->bic))
		*best = s;
	return ST_OK;
}

static size_t
ann_least_part(size_t n)
{
	enum { LEAST = 8 };
	return n / 50 > LEAST ? n / 50 : LEAST;
}

static st_status
ann_try_range(const struct st_ann_problem *p, struct st_ann_rows rows,
              const struct st_ann_usable *u, uint16_t feature, const double *residuals,
              struct ann_point *points, struct st_ann_split *best)
{
	const size_t n = ann_scaled_points(rows, p->records->features.v[feature].v, residuals,
	                                   points, u->low[feature], u->high[feature]);
	const size_t least = ann_least_part(n);
	size_t places[ANN_PLACES] = {0};
	st_status status = ST_OK;
	ann_best_places(points, n, least, places);
	for (size_t k = 0; k < ANN_PLACES && !status; k++)
		if (places[k] && (!k || places[k] != places[0]))
			status = ann_try_place(p, rows, u, feature, points, places[k], best);
	return status;
}

/* Tries the position where the law of several features changes. */
static st_status
ann_try_plane(const struct st_ann_problem *p, struct st_ann_rows rows,
              const struct st_ann_usable *u, const double *residuals, struct ann_point *points,
              struct st_ann_split *best)
{
	uint16_t feature;
	size_t place;
	if (st_ann_find_plane(p, rows, u, ann_least_part(rows.n), &feature, &place))
		return ST_FAILED;
	if (!place)
		return ST_OK;
	ann_scaled_points(rows, p->records->features.v[feature].v, residuals, points,
	                  u->low[feature], u->high[feature]);
	return ann_try_place(p, rows, u, feature, points, place, best);
}

/* Returns the residuals of the fit, scaled to variance 1; NULL: no memory. */
static double *
ann_scaled_residuals(const struct st_ann_problem *p, struct st_ann_rows rows,
                     const struct st_ann_fit *whole)
{
	double *v = calloc(rows.n + 1, sizeof *v), squares = 0;
	for (size_t i = 0; v && i < rows.n; i++) {
		v[i] = p->y[rows.v[i]] - st_ann_fit_at(p, whole, rows.v[i]);
		squares += v[i] * v[i];
	}
	for (size_t i = 0; v && squares > 0 && i < rows.n; i++)
		v[i] *= sqrt((double)rows.n / squares);
	return v;
}

st_status
st_ann_find_range(const struct st_ann_problem *p, struct st_ann_rows rows,
                  const struct st_ann_fit *whole, struct st_ann_split *out)
{
	enum { FEATURES_MOST = 10 };
	struct st_ann_usable u;
	*out = (struct st_ann_split){0};
	struct ann_point *points = malloc((rows.n + 1) * sizeof *points);
	double *residuals = ann_scaled_residuals(p, rows, whole);
	st_status status =
	        st_ann_find_usable(p, rows, &u) || !points || !residuals ? ST_FAILED : ST_OK;
	for (size_t i = 0; i < u.n && i < FEATURES_MOST && !status; i++)
		status = ann_try_range(p, rows, &u, u.v[i], residuals, points, out);
	if (!status)
		status = ann_try_plane(p, rows, &u, residuals, points, out);
	st_ann_usable_free(&u);
	free(residuals);
	free(points);
	return status;
}
