/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates of sums from a sample, with their errors. Hosted code only. */
#ifndef STROBE_BASE_ESTIMATE_H
#define STROBE_BASE_ESTIMATE_H

#include <math.h>
#include <stdint.h>

/*
 * The half width of the 95 % interval of the sum of `all` numbers, of which `some`, at least 2,
 * were taken at random: from the sum of these, and of their squares.
 */
static inline double
st_sum_error(uint64_t all, uint64_t some, double sum, double squares)
{
	const double n = (double)some, total = (double)all;
	const double variance = fmax(squares - sum * sum / n, 0) / (n - 1);
	/* The more were taken, the less is left to chance. */
	return 1.96 * total * sqrt(variance / n * (1 - n / total));
}

#endif
