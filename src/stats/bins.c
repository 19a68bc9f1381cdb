/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/bins.h"

#include <math.h>

#include "stats/robust.h"

enum { MOST_BINS = 1 << 20 };

/* The mean of the distances from the mean, each to the power. */
static double
moment(const double *v, size_t n, int power)
{
	const double mean = st_mean(v, n);
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += pow(v[i] - mean, power);
	return sum / (double)n;
}

static double
doane_width(const double *v, size_t n, double range)
{
	const double count = (double)n, sd = sqrt(moment(v, n, 2));
	if (n < 3 || !(sd > 0))
		return 0;
	const double of_skewness = sqrt(6 * (count - 2) / ((count + 1) * (count + 3)));
	const double skewness = moment(v, n, 3) / (sd * sd * sd);
	return range / (1 + log2(count) + log2(1 + fabs(skewness) / of_skewness));
}

static double
bin_width(enum st_bin_rule rule, const double *v, size_t n)
{
	const double range = v[n - 1] - v[0], count = (double)n;
	double width;
	switch (rule) {
	case ST_BINS_SQRT:
		return range / sqrt(count);
	case ST_BINS_RICE:
		return range / (2 * cbrt(count));
	case ST_BINS_SCOTT:
		return cbrt(24 * sqrt(M_PI) / count) * sqrt(moment(v, n, 2));
	case ST_BINS_FD:
		return 2 / cbrt(count) *
		       (st_sorted_quantile(v, n, 0.75) - st_sorted_quantile(v, n, 0.25));
	case ST_BINS_DOANE:
		return doane_width(v, n, range);
	case ST_BINS_AUTO:
		width = bin_width(ST_BINS_FD, v, n);
		return width > 0 ? fmin(width, bin_width(ST_BINS_STURGES, v, n))
		                 : bin_width(ST_BINS_STURGES, v, n);
	default:
		return range / (log2(count) + 1);
	}
}

size_t
st_bins(enum st_bin_rule rule, const double *sorted, size_t n)
{
	if (!n || !(sorted[n - 1] > sorted[0]))
		return 1;
	const double width = bin_width(rule, sorted, n);
	const double bins = width > 0 ? ceil((sorted[n - 1] - sorted[0]) / width) : 1;
	return bins < MOST_BINS ? (size_t)bins : MOST_BINS;
}
