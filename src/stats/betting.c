/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stats/betting.h"

#include <math.h>

static const double scales[] = {0.0015, 0.006, 0.024, 0.1, 0.4};
enum { N_SCALES = sizeof scales / sizeof *scales };
static const double stake = 0.95;

/* Returns the logarithm of the evidence. sign: 1 for a centre above, -1 for one below. */
static double
bet_wealth(const double *v, size_t n, double centre, double sign)
{
	double log_wealth[N_SCALES] = {0}, most = 0, sum = 0;
	for (size_t k = 0; k < N_SCALES; k++) {
		for (size_t i = 0; i < n; i++)
			log_wealth[k] += log1p(stake * tanh(sign * (v[i] - centre) / scales[k]));
		if (k == 0 || log_wealth[k] > most)
			most = log_wealth[k];
	}
	for (size_t k = 0; k < N_SCALES; k++)
		sum += exp(log_wealth[k] - most);
	return most + log(sum / N_SCALES);
}

double
st_bet_above(const double *v, size_t n, double centre)
{
	return bet_wealth(v, n, centre, 1);
}

double
st_bet_below(const double *v, size_t n, double centre)
{
	return bet_wealth(v, n, centre, -1);
}

/* Finds by bisection the centre at which the evidence has the wanted value; it falls with the
 * distance in the direction of `sign`. */
static double
bet_end(const double *v, size_t n, double near, double sign, double wanted)
{
	double far = 1e-6;
	while (bet_wealth(v, n, near - sign * far, sign) < wanted) {
		far *= 2;
		if (far > 1e6)
			return -sign * INFINITY;
	}
	double inside = 0, outside = far;
	for (int i = 0; i < 60; i++) {
		const double middle = (inside + outside) / 2;
		if (bet_wealth(v, n, near - sign * middle, sign) < wanted)
			inside = middle;
		else
			outside = middle;
	}
	return near - sign * inside;
}

st_status
st_bet_interval(const double *v, size_t n, double level, struct st_interval *out)
{
	const double wanted = log(2 / (1 - level));
	if (!n || st_hodges_lehmann(v, n, &out->at))
		return ST_FAILED;
	out->low = bet_end(v, n, out->at, 1, wanted);
	out->high = bet_end(v, n, out->at, -1, wanted);
	return ST_OK;
}
