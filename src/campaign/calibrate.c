/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "campaign/calibrate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"

enum { PAIRS = 41, ROUNDS = 200000, ATTEMPTS = 3 };

static int
calibrate_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The interval of the median by ranks: of n values, k below and k above are left out, where the
 * binomial probability of fewer than k values on one side is at most 0.5 %. */
double
st_noise_bound(double *ratios, size_t n)
{
	double probability = pow(0.5, (double)n), sum = 0;
	size_t k = 0;
	if (!n)
		return INFINITY;
	qsort(ratios, n, sizeof *ratios, calibrate_order);
	while (k < n / 2 && sum + probability <= 0.005) {
		sum += probability;
		probability *= (double)(n - k) / (double)(k + 1);
		k++;
	}
	if (!k)
		return INFINITY; /* too few pairs say nothing */
	return fmax(fabs(ratios[k - 1] - 1), fabs(ratios[n - k] - 1));
}

/* A chain of dependent operations: as long on every run as the CPU is steady. */
static double
calibrate_once(void)
{
	double begin = st_now_raw();
	uint64_t x = 1;
	for (unsigned i = 0; i < ROUNDS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	return st_now_raw() - begin;
}

static double
calibrate_attempt(void)
{
	double ratios[PAIRS];
	for (size_t i = 0; i < PAIRS; i++) {
		double first = calibrate_once(), second = calibrate_once();
		ratios[i] = i % 2 ? first / second : second / first;
	}
	return st_noise_bound(ratios, PAIRS);
}

double
st_node_noise(double limit)
{
	double best = INFINITY;
	for (int i = 0; i < ATTEMPTS && best > limit; i++)
		best = fmin(best, calibrate_attempt());
	return best;
}
