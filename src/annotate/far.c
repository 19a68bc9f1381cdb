/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/far.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "stats/robust.h"

/* A record is far above its neighbours at FAR standard deviations, by their median distance. */
enum { NEIGHBOURS = 21, FAR = 20 };
/* Distances below this share of the typical cost are not far, however exact the others are. */
static const double near_share = 0.05;
/* The probability, for all records together, that calls which are slow by chance are taken for
 * calls that are slow because of their sizes. */
static const double far_error = 0.001;

struct far_record {
	double predicted, residual;
	size_t at;
	bool far;
};

static int
far_order(const void *a, const void *b)
{
	const struct far_record *p = a, *q = b;
	if (p->predicted != q->predicted)
		return p->predicted > q->predicted ? 1 : -1;
	return (p->at > q->at) - (p->at < q->at);
}

/* Returns the standard deviation of the rounding of costs to multiples of a tick: the difference
 * between costs that are as close as any is a tick. Without rounding it is almost 0. Sorts y. */
static double
far_rounding(double *y, size_t n)
{
	double tick = INFINITY;
	st_sort_values(y, n);
	for (size_t i = 1; i < n; i++)
		if (y[i] - y[i - 1] > 1e-9 * fabs(y[i]))
			tick = fmin(tick, y[i] - y[i - 1]);
	return isfinite(tick) ? tick / sqrt(12) : 0;
}

/* Returns the first of the neighbours of a record. */
static size_t
far_first(size_t i, size_t n, size_t neighbours)
{
	const size_t half = neighbours / 2, last = n - neighbours;
	return i < half ? 0 : i - half < last ? i - half : last;
}

static bool
far_is_above(const struct far_record *v, size_t n, size_t i, size_t neighbours, double rounding)
{
	const size_t from = far_first(i, n, neighbours);
	double near[NEIGHBOURS];
	for (size_t k = 0; k < neighbours; k++)
		near[k] = v[from + k].residual;
	const double middle = st_median(near, neighbours), above = v[i].residual - middle;
	/* Most records fail the first condition, which is faster than the second. */
	return above > near_share * fabs(v[i].predicted + middle) &&
	       above > FAR * fmax(st_mad(near, neighbours), rounding);
}

/* Returns whether the number of neighbours that are far above may be chance. share: that of all
 * records that are far above. */
static bool
far_is_chance(const struct far_record *v, size_t n, size_t i, size_t neighbours, double share)
{
	const size_t from = far_first(i, n, neighbours);
	unsigned far = 0;
	for (size_t k = 0; k < neighbours; k++)
		far += v[from + k].far;
	return gsl_cdf_binomial_Q(far - 1, share, (unsigned)neighbours) >
	       far_error * (double)neighbours / (double)n;
}

st_status
st_ann_mark_far(const double *predicted, const double *residuals, size_t n, bool *far,
                size_t *marked)
{
	const size_t neighbours = n < NEIGHBOURS ? n : NEIGHBOURS;
	struct far_record *v = malloc((n + 1) * sizeof *v);
	double *y = malloc((n + 1) * sizeof *y);
	*marked = 0;
	if (!v || !y) {
		free(v);
		free(y);
		return ST_FAILED;
	}
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct far_record){predicted[i], residuals[i], i, false};
		y[i] = predicted[i] + residuals[i];
	}
	const double rounding = far_rounding(y, n);
	qsort(v, n, sizeof *v, far_order);
	size_t all = 0;
	for (size_t i = 0; n >= ST_ANN_FAR_LEAST && i < n; i++) {
		v[i].far = far_is_above(v, n, i, neighbours, rounding);
		all += v[i].far;
	}
	const double share = (double)all / (double)n;
	for (size_t i = 0; i < n; i++)
		if (v[i].far && far_is_chance(v, n, i, neighbours, share)) {
			far[v[i].at] = true;
			++*marked;
		}
	free(v);
	free(y);
	return ST_OK;
}
