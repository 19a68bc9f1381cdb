/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/spread.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

static int
spread_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Deviations from the first value are added, so that many nearly equal numbers lose nothing. */
static void
spread_moments(const double *v, struct st_spread *s)
{
	double n = (double)s->n, shift = 0, squares = 0;
	for (size_t i = 0; i < s->n; i++) {
		s->sum += v[i];
		shift += v[i] - v[0];
	}
	s->mean = v[0] + shift / n;
	for (size_t i = 0; i < s->n; i++)
		squares += (v[i] - s->mean) * (v[i] - s->mean);
	if (s->n < 2)
		return;
	s->deviation = sqrt(squares / (n - 1));
	double half = gsl_cdf_tdist_Pinv(0.975, n - 1) * s->deviation / sqrt(n);
	s->mean_low = s->mean - half;
	s->mean_high = s->mean + half;
}

/* How many of n values in order lie outside the median's interval at each end: the greatest number
 * k of which a coin shows heads so rarely, or less often, with a probability of at most 2.5 %. */
static size_t
left_out(size_t n)
{
	size_t low = 0, high = n / 2; /* low fits or is 0, high does not */
	while (high - low > 1) {
		size_t k = low + (high - low) / 2;
		if (gsl_cdf_binomial_P((unsigned)k - 1, 0.5, (unsigned)n) <= 0.025)
			low = k;
		else
			high = k;
	}
	return low;
}

static void
spread_median(const double *v, struct st_spread *s)
{
	size_t n = s->n, k = left_out(n);
	s->least = v[0];
	s->most = v[n - 1];
	s->median = n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
	if (k > 0) {
		s->median_low = v[k - 1];
		s->median_high = v[n - k];
	}
}

st_status
st_spread_of(const double *values, size_t n, struct st_spread *out)
{
	double *v = calloc(n ? n : 1, sizeof *v);
	*out = (struct st_spread){0, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	if (!v)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			v[out->n++] = values[i];
	if (out->n) {
		spread_moments(v, out);
		qsort(v, out->n, sizeof *v, spread_order);
		spread_median(v, out);
	}
	free(v);
	return ST_OK;
}
