/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/growth.h"

#include <math.h>
#include <stdlib.h>

#include "stats/contrast.h"

const double st_ann_growth_alarm = 0.0005;

/* Growth below this share of the values is no growth. */
static const double growth_negligible = 0.05;

enum { PARABOLA = 3, RECORDS_LEAST = 4 };

/* The fit is a + b z + c z^2, with z from 0 to 1. The growth is b + c, and c of it is above the
 * line. Returns c - share * (b + c), which is above 0 if the bend is above the share. */
static struct st_contrast
growth_excess(const struct st_contrast_fit *f, double share)
{
	const double weights[PARABOLA] = {0, -share, 1 - share};
	return st_contrast_find(f, weights);
}

static bool
growth_is_above(struct st_contrast c, double sign)
{
	return sign * c.value > st_contrast_quantile(st_ann_growth_alarm, c.df) * c.se;
}

/* Returns whether all growth, up to the end of its interval, is small compared with the values, or
 * all values are 0. */
static bool
growth_is_negligible(const struct st_contrast_fit *f)
{
	const double weights[PARABOLA] = {-growth_negligible, 1, 1};
	if (f->exact && f->b[0] == 0 && f->b[1] == 0 && f->b[2] == 0)
		return true;
	return f->b[0] > 0 && growth_is_above(st_contrast_find(f, weights), -1);
}

static void
growth_interval(const struct st_contrast_fit *f, struct st_ann_growth *out)
{
	const double growth = f->b[1] + f->b[2], bend = f->b[2] / growth;
	out->bend = fabs(bend) < 1e-9 ? 0 : bend; /* of exact values, this is rounding */
	const struct st_contrast c = growth_excess(f, out->bend);
	const double half =
	        c.se > 0 ? st_contrast_quantile(st_ann_growth_alarm, c.df) * c.se / growth : 0;
	out->bend_low = out->bend - half;
	out->bend_high = out->bend + half;
}

/* Finds the bend of g log g, without noise. x: the columns of the fit of y. Fails when memory is
 * exhausted. */
static st_status
growth_find_faster(const double *g, const double *x, size_t n, struct st_ann_growth *out)
{
	struct st_contrast_fit f;
	double *v = malloc(n * sizeof *v);
	for (size_t i = 0; v && i < n; i++)
		v[i] = g[i] > 0 ? g[i] * log2(g[i]) : 0;
	const st_status status = v ? ST_OK : ST_FAILED;
	if (v && !st_contrast_fit(x, v, NULL, n, PARABOLA, &f))
		out->faster = f.b[2] / (f.b[1] + f.b[2]);
	free(v);
	return status;
}

static enum st_ann_growth_verdict
growth_verdict(const struct st_contrast_fit *f, struct st_ann_growth *out)
{
	const double all[PARABOLA] = {0, 1, 1};
	const bool grows = growth_is_above(st_contrast_find(f, all), 1);
	if (grows)
		growth_interval(f, out);
	if (growth_is_negligible(f))
		return ST_ANN_GROWTH_WITHIN;
	if (grows && growth_is_above(growth_excess(f, out->faster / 2), 1))
		return ST_ANN_GROWTH_FASTER;
	return growth_is_above(growth_excess(f, out->faster), -1) ? ST_ANN_GROWTH_WITHIN
	                                                          : ST_ANN_GROWTH_UNCERTAIN;
}

static bool
growth_has_three(const double *g, size_t n, double low, double high)
{
	for (size_t i = 0; i < n; i++)
		if (g[i] != low && g[i] != high)
			return n >= RECORDS_LEAST;
	return false;
}

st_status
st_ann_growth_judge(double *g, const double *y, size_t n, struct st_ann_growth *out)
{
	struct st_contrast_fit f;
	*out = (struct st_ann_growth){
	        ST_ANN_GROWTH_FEW_VALUES, INFINITY, -INFINITY, NAN, NAN, NAN, NAN};
	for (size_t i = 0; i < n; i++) {
		out->low = fmin(out->low, g[i]);
		out->high = fmax(out->high, g[i]);
	}
	if (!growth_has_three(g, n, out->low, out->high))
		return ST_OK;
	if (out->low < 0 || out->high < 2 * out->low) {
		out->verdict = ST_ANN_GROWTH_NARROW;
		return ST_OK;
	}
	double *x = malloc(PARABOLA * n * sizeof *x);
	for (size_t i = 0; x && i < n; i++) {
		const double z = (g[i] - out->low) / (out->high - out->low);
		x[PARABOLA * i] = 1;
		x[PARABOLA * i + 1] = z;
		x[PARABOLA * i + 2] = z * z;
	}
	const st_status status = x ? growth_find_faster(g, x, n, out) : ST_FAILED;
	for (size_t i = 0; i < n && !status; i++)
		g[i] = fmax(g[i] / out->high, 1e-6); /* spreads in proportion to g */
	/* A parabola cannot be fitted if some of three values of g nearly agree: these are too few.
	 */
	if (!status && !st_contrast_fit(x, y, g, n, PARABOLA, &f))
		out->verdict = growth_verdict(&f, out);
	free(x);
	return status;
}
