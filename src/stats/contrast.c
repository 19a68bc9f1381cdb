/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/contrast.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Below this share of a column, what other columns do not explain is rounding. */
static const double contrast_rounding = 1e-12;

/* Inverts a symmetric matrix by Gauss and Jordan's elimination. */
static bool
contrast_invert(double a[][ST_CONTRAST_MOST], size_t p, double out[][ST_CONTRAST_MOST])
{
	double scale[ST_CONTRAST_MOST];
	for (size_t i = 0; i < p; i++) {
		scale[i] = a[i][i];
		for (size_t k = 0; k < p; k++)
			out[i][k] = i == k;
	}
	for (size_t i = 0; i < p; i++) {
		const double pivot = a[i][i];
		if (!(pivot > contrast_rounding * scale[i]))
			return false;
		for (size_t k = 0; k < p; k++) {
			a[i][k] /= pivot;
			out[i][k] /= pivot;
		}
		for (size_t r = 0; r < p; r++) {
			const double factor = a[r][i];
			for (size_t k = 0; k < p && r != i; k++) {
				a[r][k] -= factor * a[i][k];
				out[r][k] -= factor * out[i][k];
			}
		}
	}
	return true;
}

static double
contrast_residual(const struct st_contrast_fit *f, size_t i)
{
	double r = f->y[i];
	for (size_t k = 0; k < f->p; k++)
		r -= f->b[k] * f->x[i * f->p + k];
	return r;
}

/* Returns weights' (X'X)^-1 x_i. */
static double
contrast_share(const struct st_contrast_fit *f, const double *weights, size_t i)
{
	double sum = 0;
	for (size_t k = 0; k < f->p; k++)
		for (size_t m = 0; m < f->p; m++)
			sum += weights[k] * f->inverse[k][m] * f->x[i * f->p + m];
	return sum;
}

st_status
st_contrast_fit(const double *x, const double *y, const double *spread, size_t n, size_t p,
                struct st_contrast_fit *out)
{
	double a[ST_CONTRAST_MOST][ST_CONTRAST_MOST] = {{0}}, rss = 0, most = 0;
	*out = (struct st_contrast_fit){.n = n, .p = p, .x = x, .y = y, .spread = spread};
	if (n <= p || p > ST_CONTRAST_MOST)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < p; k++)
			for (size_t m = 0; m < p; m++)
				a[k][m] += x[i * p + k] * x[i * p + m];
	if (!contrast_invert(a, p, out->inverse))
		return ST_FAILED;
	/* The second round removes the rounding of the first. */
	for (int round = 0; round < 2; round++) {
		double step[ST_CONTRAST_MOST] = {0};
		for (size_t i = 0; i < n; i++) {
			const double r = contrast_residual(out, i);
			for (size_t k = 0; k < p; k++) {
				double unit[ST_CONTRAST_MOST] = {0};
				unit[k] = 1;
				step[k] += contrast_share(out, unit, i) * r;
			}
		}
		for (size_t k = 0; k < p; k++)
			out->b[k] += step[k];
	}
	for (size_t i = 0; i < n; i++) {
		const double r = contrast_residual(out, i);
		rss += r * r;
		most = fmax(most, fabs(y[i]));
	}
	const double floor = pow(contrast_rounding * most, 2);
	out->exact = rss / (double)(n - p) <= floor;
	out->variance = fmax(rss / (double)(n - p), floor);
	return ST_OK;
}

struct st_contrast
st_contrast_find(const struct st_contrast_fit *f, const double *weights)
{
	struct st_contrast c = {0};
	double usual = 0, own = 0, even = 0, even2 = 0, given = 0, given2 = 0;
	for (size_t k = 0; k < f->p; k++)
		c.value += weights[k] * f->b[k];
	for (size_t i = 0; i < f->n; i++) {
		const double w = contrast_share(f, weights, i);
		const double leverage = contrast_share(f, f->x + i * f->p, i);
		const double r = contrast_residual(f, i) / fmax(1 - leverage, 1e-6);
		const double s = f->spread ? w * f->spread[i] : w;
		usual += w * w * f->variance;
		own += w * w * r * r;
		even += w * w;
		even2 += w * w * w * w;
		given += s * s;
		given2 += s * s * s * s;
	}
	c.se = sqrt(fmax(usual, own));
	c.df = (double)(f->n - f->p);
	if (!f->exact && even2 > 0 && given2 > 0) {
		const double values = fmin(even * even / even2, given * given / given2);
		c.df = fmax(fmin(values - 1, c.df), 0);
	}
	return c;
}

double
st_contrast_quantile(double alpha, double df)
{
	return df >= 1 ? gsl_cdf_tdist_Qinv(alpha, df) : INFINITY;
}
