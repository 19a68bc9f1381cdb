/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests contrasts of least squares by values that can be computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/contrast.h"

static bool
is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* The mean: se is s / sqrt(n), and HC3 is the sum of (r / (1 - 1/n))^2 / n^2. */
static void
test_mean(void **state)
{
	(void)state;
	const double x[] = {1, 1, 1, 1}, y[] = {1, 2, 3, 6}, one[] = {1};
	struct st_contrast_fit f;
	assert_false(st_contrast_fit(x, y, NULL, 4, 1, &f));
	const struct st_contrast c = st_contrast_find(&f, one);
	assert_true(is_near(c.value, 3));
	/* The residuals are -2, -1, 0, 3: both variances are 14 / 12 and 14 (4/3)^2 / 16. */
	assert_true(is_near(c.se, sqrt(14 * 16.0 / 9 / 16)));
	assert_true(is_near(c.df, 3));
	assert_false(f.exact);
}

/* The slope of a line through (0, 0), (1, 1), (2, 1), (3, 4): 1.2, with residuals .3, .1, -1.1, .7
 * and leverages .7, .3, .3, .7. */
static void
test_line(void **state)
{
	(void)state;
	const double x[] = {1, 0, 1, 1, 1, 2, 1, 3}, y[] = {0, 1, 1, 4};
	const double slope[] = {0, 1}, at_two[] = {1, 2};
	struct st_contrast_fit f;
	assert_false(st_contrast_fit(x, y, NULL, 4, 2, &f));
	assert_true(is_near(f.b[0], -0.3) && is_near(f.b[1], 1.2));
	assert_true(is_near(f.variance, 1.8 / 2));
	const struct st_contrast c = st_contrast_find(&f, slope);
	const double own = pow(-.3 * .3 / .3, 2) + pow(-.1 * .1 / .7, 2) + pow(.1 * -1.1 / .7, 2) +
	                   pow(.3 * .7 / .3, 2);
	assert_true(is_near(c.value, 1.2) && is_near(c.se, sqrt(fmax(own, 0.9 / 5))));
	/* The shares are -.3, -.1, .1, .3: .2^2 / .0164 values, less one. */
	assert_true(is_near(c.df, 0.04 / 0.0164 - 1));
	assert_true(is_near(st_contrast_find(&f, at_two).value, 2.1));
}

/* A value that only one point determines has no degrees of freedom. */
static void
test_single_point(void **state)
{
	(void)state;
	const double x[] = {1, 0, 1, 0, 1, 0, 1, 1}, y[] = {1, 2, 3, 9}, end[] = {1, 1};
	const double spread[] = {1, 1, 1, 50};
	struct st_contrast_fit f;
	assert_false(st_contrast_fit(x, y, spread, 4, 2, &f));
	assert_true(is_near(st_contrast_find(&f, end).value, 9));
	assert_true(st_contrast_find(&f, end).df < 1e-9);
	assert_true(isinf(st_contrast_quantile(0.01, 0)));
}

static void
test_exact_and_dependent(void **state)
{
	(void)state;
	double x[30], y[10], same[20];
	for (int i = 0; i < 10; i++) {
		x[3 * i] = 1;
		x[3 * i + 1] = i / 9.0;
		x[3 * i + 2] = i * i / 81.0;
		y[i] = 1e9 + 7 * i - 3.0 * i * i;
		same[2 * i] = i;
		same[2 * i + 1] = 2 * i;
	}
	struct st_contrast_fit f;
	assert_false(st_contrast_fit(x, y, NULL, 10, 3, &f));
	assert_true(f.exact && is_near(f.b[0], 1e9));
	assert_true(fabs(f.b[1] - 63) < 1e-4 && fabs(f.b[2] + 243) < 1e-4);
	const double one[] = {0, 0, 1};
	assert_true(is_near(st_contrast_find(&f, one).df, 7));
	assert_true(st_contrast_fit(same, y, NULL, 10, 2, &f));
	assert_true(st_contrast_fit(x, y, NULL, 3, 3, &f));
	assert_true(is_near(st_contrast_quantile(0.025, 1), 12.706204736174707));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_mean), cmocka_unit_test(test_line),
	                                   cmocka_unit_test(test_single_point),
	                                   cmocka_unit_test(test_exact_and_dependent)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
