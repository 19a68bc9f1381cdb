/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/distributions.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/robust.h"

double
st_family_cdf(enum st_family family, double a, double b, double y)
{
	switch (family) {
	case ST_FAMILY_NORMAL:
		return b > 0 ? gsl_cdf_ugaussian_P((y - a) / b) : y > a ? 1 : y < a ? 0 : 0.5;
	case ST_FAMILY_EXPONENTIAL:
		return y > 0 && a > 0 ? -expm1(-y / a) : 0;
	case ST_FAMILY_LOGNORMAL:
		return y > 0 ? st_family_cdf(ST_FAMILY_NORMAL, a, b, log(y)) : 0;
	default:
		if (y < 0)
			return 0;
		return y >= a ? 1 : gsl_cdf_binomial_P((unsigned)y, b, (unsigned)a);
	}
}

double
st_family_log_density(enum st_family family, double a, double b, double y)
{
	const double u = b > 0 ? (y - a) / b : 0;
	switch (family) {
	case ST_FAMILY_NORMAL:
		return -u * u / 2 - log(b) - log(2 * M_PI) / 2;
	case ST_FAMILY_EXPONENTIAL:
		return y >= 0 ? -log(a) - y / a : -INFINITY;
	case ST_FAMILY_LOGNORMAL:
		return y > 0 ? st_family_log_density(ST_FAMILY_NORMAL, a, b, log(y)) - log(y)
		             : -INFINITY;
	default:
		if (y < 0 || y > a || y != floor(y))
			return -INFINITY;
		return gsl_sf_lnchoose((unsigned)a, (unsigned)y) + (y > 0 ? y * log(b) : 0) +
		       (y < a ? (a - y) * log1p(-b) : 0);
	}
}

double
st_family_mean(enum st_family family, double a, double b)
{
	return family == ST_FAMILY_LOGNORMAL  ? exp(a + b * b / 2)
	       : family == ST_FAMILY_BINOMIAL ? a * b
	                                      : a;
}

double
st_family_sd(enum st_family family, double a, double b)
{
	return family == ST_FAMILY_NORMAL        ? b
	       : family == ST_FAMILY_EXPONENTIAL ? a
	       : family == ST_FAMILY_BINOMIAL    ? sqrt(a * b * (1 - b))
	                                      : st_family_mean(family, a, b) * sqrt(expm1(b * b));
}

/* Computes Anderson and Darling's A squared of sorted values. */
static double
family_anderson(const struct st_family_fit *f, const double *sorted, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		const double low = st_family_cdf(f->family, f->a, f->b, sorted[i]),
		             high = st_family_cdf(f->family, f->a, f->b, sorted[n - 1 - i]);
		sum += (2 * (double)i + 1) * (log(fmax(low, 1e-300)) + log(fmax(1 - high, 1e-300)));
	}
	return -(double)n - sum / (double)n;
}

/* These return the p-value of A squared, corrected for n: Stephens' tables 4.9 (normal) and 4.14
 * (exponential). */
static double
family_anderson_normal(double a2, double n)
{
	const double a = a2 * (1 + 0.75 / n + 2.25 / (n * n));
	if (a < 0.2)
		return 1 - exp(-13.436 + 101.14 * a - 223.73 * a * a);
	if (a < 0.34)
		return 1 - exp(-8.318 + 42.796 * a - 59.938 * a * a);
	if (a < 0.6)
		return exp(0.9177 - 4.279 * a - 1.38 * a * a);
	return a < 13 ? exp(1.2937 - 5.709 * a + 0.0186 * a * a) : 0;
}

static double
family_anderson_exponential(double a2, double n)
{
	const double a = a2 * (1 + 0.6 / n);
	if (a < 0.26)
		return 1 - exp(-12.2204 + 67.459 * a - 110.3 * a * a);
	if (a < 0.51)
		return 1 - exp(-6.1327 + 20.218 * a - 18.663 * a * a);
	if (a < 0.95)
		return exp(0.9209 - 3.353 * a + 0.3 * a * a);
	return a < 10.03 ? exp(0.731 - 3.009 * a + 0.15 * a * a) : 0;
}

/* Chi-square test of binomial counts; rare counts are joined with the next ones. */
static double
family_binomial_p(const struct st_family_fit *f, const double *sorted, size_t n)
{
	double expected = 0, seen = 0, chi = 0, left = 1, seen_left = (double)n;
	size_t cells = 0, at = 0;
	for (size_t count = 0; (double)count <= f->a; count++) {
		const double k = (double)count;
		for (; at < n && sorted[at] == k; at++)
			seen++;
		expected += (double)n * exp(st_family_log_density(f->family, f->a, f->b, k));
		left = (double)n * (1 - st_family_cdf(f->family, f->a, f->b, k));
		if ((expected < 5 || left < 5) && k < f->a)
			continue;
		seen_left -= seen;
		if (expected > 0)
			chi += (seen - expected) * (seen - expected) / expected;
		cells++;
		expected = seen = 0;
	}
	return cells > 2 ? gsl_cdf_chisq_Q(chi, (double)cells - 2) : NAN;
}

static void
family_judge(struct st_family_fit *f, const double *sorted, size_t n)
{
	f->minus_log_likelihood = 0;
	for (size_t i = 0; i < n; i++)
		f->minus_log_likelihood -= st_family_log_density(f->family, f->a, f->b, sorted[i]);
	f->p = NAN;
	if (f->family == ST_FAMILY_BINOMIAL)
		f->p = family_binomial_p(f, sorted, n);
	else if (n >= 8 && f->family == ST_FAMILY_EXPONENTIAL)
		f->p = family_anderson_exponential(family_anderson(f, sorted, n), (double)n);
	else if (n >= 8)
		f->p = family_anderson_normal(family_anderson(f, sorted, n), (double)n);
	if (f->p > 1 || f->p < 0)
		f->p = f->p > 1 ? 1 : 0;
}

/* Fits a log-normal distribution: mean and standard deviation of the logarithms. */
static void
family_logarithms(const double *v, size_t n, struct st_family_fit *f)
{
	double mean = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		mean += log(v[i]) / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (log(v[i]) - mean) * (log(v[i]) - mean);
	f->a = mean;
	f->b = sqrt(squares / (double)n);
}

static bool
family_are_counts(const double *v, size_t n, double bound)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] < 0 || v[i] > bound || v[i] != floor(v[i]))
			return false;
	return bound >= 1 && bound < 1e9;
}

st_status
st_family_find(const double *v, size_t n, double bound, struct st_family_fit *out)
{
	double *sorted = malloc(n * sizeof *sorted);
	if (!sorted)
		return ST_FAILED;
	memcpy(sorted, v, n * sizeof *sorted);
	st_sort_values(sorted, n);
	const double mean = st_mean(sorted, n), sd = st_sd(sorted, n);
	*out = (struct st_family_fit){ST_FAMILY_NORMAL, mean, sd, 0, 2, NAN};
	if (sd > 0)
		family_judge(out, sorted, n);
	struct st_family_fit tried[3] = {{ST_FAMILY_EXPONENTIAL, mean, 0, 0, 1, NAN},
	                                 {ST_FAMILY_LOGNORMAL, 0, 0, 0, 2, NAN},
	                                 {ST_FAMILY_BINOMIAL, bound, mean / bound, 0, 1, NAN}};
	for (size_t i = 0; i < 3 && sd > 0; i++) {
		if (i == 2 ? !family_are_counts(sorted, n, bound) : sorted[0] <= 0)
			continue;
		if (i == 1)
			family_logarithms(sorted, n, &tried[i]);
		family_judge(&tried[i], sorted, n);
		const double gain = out->minus_log_likelihood - tried[i].minus_log_likelihood;
		/* Logarithms of values with little spread are normal, too: the simpler normal
		 * family is preferred. */
		const double price =
		        ((double)tried[i].parameters - (double)out->parameters) * log((double)n) +
		        (tried[i].family == ST_FAMILY_LOGNORMAL ? 10 : 0);
		if (2 * gain > price)
			*out = tried[i];
	}
	free(sorted);
	return ST_OK;
}

double
st_uniform_p(double *u, size_t n)
{
	double d = 0, p = 0;
	st_sort_values(u, n);
	for (size_t i = 0; i < n; i++)
		d = fmax(d, fmax((double)(i + 1) / (double)n - u[i], u[i] - (double)i / (double)n));
	const double root = sqrt((double)n), x = d * (root + 0.12 + 0.11 / root);
	if (x < 0.2)
		return 1;
	for (int k = 1; k <= 100; k++)
		p += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * x * x);
	return p < 0 ? 0 : p > 1 ? 1 : p;
}
