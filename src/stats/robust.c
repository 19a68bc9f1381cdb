/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/robust.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int
compare_values(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void
st_sort_values(double *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof *v, compare_values);
}

double
st_mean(const double *v, size_t n)
{
	long double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return (double)(sum / (long double)n);
}

double
st_sd(const double *v, size_t n)
{
	const long double mean = st_mean(v, n);
	long double sum = 0, rest = 0; /* what rounding the mean has left over */
	for (size_t i = 0; i < n; i++) {
		sum += (v[i] - mean) * (v[i] - mean);
		rest += v[i] - mean;
	}
	return n < 2 ? NAN
	             : (double)sqrtl((sum - rest * rest / (long double)n) / (long double)(n - 1));
}

double
st_sorted_quantile(const double *sorted, size_t n, double q)
{
	const double at = q * (double)(n - 1);
	const size_t below = at >= (double)(n - 1) ? n - 1 : (size_t)at;
	const double beyond = at - (double)below;
	return below + 1 < n && beyond > 0
	               ? sorted[below] + beyond * (sorted[below + 1] - sorted[below])
	               : sorted[below];
}

static double *
sorted_copy(const double *v, size_t n)
{
	double *copy = malloc((n + 1) * sizeof *copy);
	if (copy && n) {
		memcpy(copy, v, n * sizeof *copy);
		st_sort_values(copy, n);
	}
	return copy;
}

double
st_quantile(const double *v, size_t n, double q)
{
	double *copy = n ? sorted_copy(v, n) : NULL;
	const double found = copy ? st_sorted_quantile(copy, n, q) : NAN;
	free(copy);
	return found;
}

double
st_median(const double *v, size_t n)
{
	return st_quantile(v, n, 0.5);
}

double
st_iqr(const double *v, size_t n)
{
	double *copy = n ? sorted_copy(v, n) : NULL;
	const double found =
	        copy ? st_sorted_quantile(copy, n, 0.75) - st_sorted_quantile(copy, n, 0.25) : NAN;
	free(copy);
	return found;
}

double
st_mad(const double *v, size_t n)
{
	double *copy = n ? sorted_copy(v, n) : NULL;
	if (!copy)
		return NAN;
	const double median = st_sorted_quantile(copy, n, 0.5);
	for (size_t i = 0; i < n; i++)
		copy[i] = fabs(copy[i] - median);
	st_sort_values(copy, n);
	const double found = 1.4826 * st_sorted_quantile(copy, n, 0.5);
	free(copy);
	return found;
}

st_status
st_hodges_lehmann(const double *v, size_t n, double *centre)
{
	const size_t pairs = n < ST_PAIRS_MOST ? n * (n + 1) / 2 : SIZE_MAX;
	double *means = n && pairs <= ST_PAIRS_MOST ? malloc(pairs * sizeof *means) : NULL;
	size_t at = 0;
	if (!means)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++)
			means[at++] = (v[i] + v[k]) / 2;
	st_sort_values(means, pairs);
	*centre = st_sorted_quantile(means, pairs, 0.5);
	free(means);
	return ST_OK;
}

/* Returns how many of n sorted differences are left out at each end. */
static size_t
left_out_at_ends(double n_a, double n_b, double level)
{
	const double sd = sqrt(n_a * n_b * (n_a + n_b + 1) / 12);
	const double k = round(n_a * n_b / 2 - gsl_cdf_ugaussian_Qinv((1 - level) / 2) * sd);
	return k < 1 ? 0 : (size_t)k - 1;
}

st_status
st_shift(const double *a, size_t n_a, const double *b, size_t n_b, double level,
         struct st_interval *shift)
{
	const bool few = n_a && n_b && n_a <= ST_PAIRS_MOST / n_b;
	const size_t pairs = few ? n_a * n_b : 0;
	double *differences = pairs ? malloc(pairs * sizeof *differences) : NULL;
	if (!differences)
		return ST_FAILED;
	for (size_t i = 0; i < n_a; i++)
		for (size_t k = 0; k < n_b; k++)
			differences[i * n_b + k] = b[k] - a[i];
	st_sort_values(differences, pairs);
	const size_t out = left_out_at_ends((double)n_a, (double)n_b, level);
	*shift = (struct st_interval){st_sorted_quantile(differences, pairs, 0.5), differences[out],
	                              differences[pairs - 1 - out]};
	free(differences);
	return ST_OK;
}
