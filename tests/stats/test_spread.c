/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mean, median and their intervals, against numbers worked out by hand and published tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#include "stats/spread.h"

static void
near(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)));
}

static struct st_spread
spread(const double *v, size_t n)
{
	struct st_spread s;
	assert_int_equal(st_spread_of(v, n, &s), 0);
	return s;
}

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 32. t(0.975, 7) = 2.364624251 (published tables). */
static void
by_hand(void **state)
{
	(void)state;
	static const double v[] = {9, 2, 4, NAN, 4, 5, 4, 5, 7};
	struct st_spread s = spread(v, 9);
	assert_int_equal(s.n, 8);
	near(s.sum, 40);
	near(s.mean, 5);
	near(s.median, 4.5);
	near(s.least, 2);
	near(s.most, 9);
	near(s.deviation, sqrt(32.0 / 7));
	double half = 2.36462425159278 * sqrt(32.0 / 7) / sqrt(8);
	near(s.mean_low, 5 - half);
	near(s.mean_high, 5 + half);
	near(s.median_low, 2); /* of 8 values the first and the last: 99.2 % */
	near(s.median_high, 9);
}

static void
what_few_values_do_not_tell(void **state)
{
	(void)state;
	static const double v[] = {3, 3, 3, 3, 3, 3};
	struct st_spread s = spread(v, 0);
	assert_true(s.n == 0 && isnan(s.mean) && isnan(s.median) && isnan(s.least));
	s = spread(v, 1);
	assert_true(s.mean == 3 && s.median == 3 && isnan(s.deviation) && isnan(s.mean_low));
	s = spread(v, 2);
	assert_true(s.deviation == 0 && s.mean_low == 3 && s.mean_high == 3);
	s = spread(v, 5);
	assert_true(isnan(s.median_low));
	s = spread(v, 6);
	assert_true(s.median_low == 3 && s.median_high == 3);
}

/* Ranks of the median's 95 % interval as tables of the sign test have them: n, lower rank. */
static void
ranks_of_the_median(void **state)
{
	(void)state;
	static const size_t ranks[][2] = {{6, 1},  {8, 1},  {9, 2},   {10, 2},
	                                  {12, 3}, {20, 6}, {50, 18}, {100, 40}};
	double v[100];
	for (size_t i = 0; i < 100; i++)
		v[i] = (double)(100 - i);
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
		size_t n = ranks[i][0], rank = ranks[i][1];
		struct st_spread s = spread(v + 100 - n, n);
		assert_true(s.median_low == (double)rank);
		assert_true(s.median_high == (double)(n - rank + 1));
	}
}

/* Large numbers that differ little. */
static void
loses_nothing(void **state)
{
	(void)state;
	static const double v[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
	struct st_spread s = spread(v, 3);
	assert_true(s.mean == 1e15 + 2 && s.deviation == 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(by_hand),
	        cmocka_unit_test(what_few_values_do_not_tell),
	        cmocka_unit_test(ranks_of_the_median),
	        cmocka_unit_test(loses_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
