/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the features that may be terms of a model: varying ones, one of each correlated class. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/formulate.h"

static const double same_correlation = 0.9;

bool
st_ann_has_powers(double low, double high)
{
	static const double least = 1e-100, most = 1e100;
	const double largest = fmax(fabs(low), fabs(high));
	return !(largest > most) && !(largest > 0 && largest < least);
}

bool
st_ann_has_scale(double low, double high)
{
	return low == high || isnormal(high - low);
}

bool
st_ann_differs(double low, double high, double share)
{
	/* A half: the difference may be infinite. */
	return high / 2 - low / 2 >= share * fmax(fabs(low), fabs(high)) / 2;
}

bool
st_ann_is_huge(const struct st_ann_feature *f, size_t n)
{
	static const double most_exact = 0x1p53, most = 0x1p64;
	double largest = 0;
	for (size_t i = 0; i < n; i++) {
		if (f->v[i] != rint(f->v[i]) && !isnan(f->v[i]))
			return false;
		largest = fmax(largest, fabs(f->v[i]));
	}
	return f->kind == ST_ANN_NUMERIC && largest > most_exact && largest <= most;
}

/* Subtracts the mean of a feature and scales it to a vector of length 1. Returns false if it is
 * absent in a row or constant, has no scale, or differs too little. The values are scaled to their
 * range first, because the squares of very large or small ones overflow or underflow. */
static bool
ann_standardise(const double *v, struct st_ann_rows rows, double *out, double *low, double *high)
{
	double mean = 0, squares = 0;
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < rows.n; i++) {
		const double x = v[rows.v[i]];
		if (isnan(x))
			return false;
		*low = fmin(*low, x);
		*high = fmax(*high, x);
	}
	if (!(*low < *high) || !st_ann_has_scale(*low, *high) ||
	    !st_ann_differs(*low, *high, ST_ANN_LEAST_DIFFERENCE))
		return false;
	for (size_t i = 0; i < rows.n; i++) {
		out[i] = (v[rows.v[i]] - *low) / (*high - *low);
		mean += out[i] / (double)rows.n;
	}
	for (size_t i = 0; i < rows.n; i++) {
		out[i] -= mean;
		squares += out[i] * out[i];
	}
	const double scale = squares > 0 ? 1 / sqrt(squares) : 0;
	for (size_t i = 0; i < rows.n; i++)
		out[i] *= scale;
	return scale > 0 && isfinite(scale);
}

static double
ann_dot(const double *a, const double *b, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* The usable features so far: their standardised values, one vector after the other. */
struct ann_found {
	double *vectors;
	size_t cap;
};

static st_status
ann_found_grow(struct ann_found *f, size_t vectors, size_t n)
{
	if (vectors <= f->cap)
		return ST_OK;
	const size_t cap = f->cap ? 2 * f->cap : 8;
	double *grown = reallocarray(f->vectors, cap * n, sizeof *grown);
	if (!grown)
		return ST_FAILED;
	f->vectors = grown;
	f->cap = cap;
	return ST_OK;
}

st_status
st_ann_find_usable(const struct st_ann_problem *p, struct st_ann_rows rows,
                   struct st_ann_usable *out)
{
	const size_t features = p->records->features.n;
	struct ann_found found = {0};
	st_status status = ST_OK;
	*out = (struct st_ann_usable){.v = calloc(features + 1, sizeof *out->v),
	                              .representative =
	                                      calloc(features + 1, sizeof *out->representative),
	                              .low = calloc(features + 1, sizeof *out->low),
	                              .high = calloc(features + 1, sizeof *out->high)};
	if (!out->v || !out->representative || !out->low || !out->high)
		return ST_FAILED;
	for (size_t i = 0; i < features && !status; i++) {
		const uint16_t at = p->order[i];
		const struct st_ann_feature *f = &p->records->features.v[at];
		out->representative[at] = ST_ANN_NO_FEATURE;
		if (f->kind != ST_ANN_NUMERIC || p->huge[at] || (p->only && *p->only != at))
			continue;
		status = ann_found_grow(&found, out->n + 1, rows.n);
		if (status)
			break;
		double *own = found.vectors + out->n * rows.n;
		if (!ann_standardise(f->v, rows, own, &out->low[at], &out->high[at]))
			continue;
		out->representative[at] = at;
		for (size_t k = 0; k < out->n && out->representative[at] == at; k++)
			if (fabs(ann_dot(own, found.vectors + k * rows.n, rows.n)) >=
			    same_correlation)
				out->representative[at] = out->v[k];
		if (out->representative[at] == at)
			out->v[out->n++] = at;
	}
	free(found.vectors);
	return status;
}

void
st_ann_usable_free(struct st_ann_usable *u)
{
	free(u->v);
	free(u->representative);
	free(u->low);
	free(u->high);
	*u = (struct st_ann_usable){0};
}
