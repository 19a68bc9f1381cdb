/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/bootstrap.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/random.h"

/* The acceleration, by leaving out each value. v: of n - 1 values, which is overwritten. */
static double
acceleration(const double *all, size_t n, double (*statistic)(const double *, size_t), double *v,
             double *without)
{
	double mean = 0, squares = 0, cubes = 0;
	for (size_t out = 0; out < n; out++) {
		for (size_t i = 0, k = 0; i < n; i++)
			if (i != out)
				v[k++] = all[i];
		without[out] = statistic(v, n - 1);
		mean += without[out] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		const double d = mean - without[i];
		squares += d * d;
		cubes += d * d * d;
	}
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

/* Where the end of the interval lies among the sorted statistics. */
static double
corrected_quantile(double q, double bias, double a)
{
	const double z = bias + gsl_cdf_ugaussian_Pinv(q);
	return gsl_cdf_ugaussian_P(bias + z / (1 - a * z));
}

st_status
st_bootstrap(const double *v, size_t n, double (*statistic)(const double *v, size_t n),
             size_t rounds, uint64_t seed, double level, struct st_interval *out)
{
	double *drawn = malloc((n + 1) * sizeof *drawn),
	       *without = malloc((n + 1) * sizeof *without);
	double *found = malloc((rounds + 1) * sizeof *found), below = 0;
	const bool possible = drawn && without && found && n >= 2 && rounds;
	for (size_t round = 0; possible && round < rounds; round++) {
		for (size_t i = 0; i < n; i++)
			drawn[i] = v[st_random_below(&seed, n)];
		found[round] = statistic(drawn, n);
	}
	if (possible) {
		out->at = statistic(v, n);
		st_sort_values(found, rounds);
		for (size_t i = 0; i < rounds; i++)
			below += found[i] < out->at ? 1 : found[i] == out->at ? 0.5 : 0;
		/* A share of 0 or 1 has no quantile. */
		const double share = fmin(fmax(below, 0.5), (double)rounds - 0.5) / (double)rounds;
		const double bias = gsl_cdf_ugaussian_Pinv(share);
		const double a = acceleration(v, n, statistic, drawn, without);
		out->low = st_sorted_quantile(found, rounds,
		                              corrected_quantile((1 - level) / 2, bias, a));
		out->high = st_sorted_quantile(found, rounds,
		                               corrected_quantile((1 + level) / 2, bias, a));
	}
	free(drawn);
	free(without);
	free(found);
	return possible ? ST_OK : ST_FAILED;
}
