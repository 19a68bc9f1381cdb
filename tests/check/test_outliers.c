/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outliers among differences: by hand, and the arithmetic of Perun's published table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "check/outliers.h"

enum { MOST = 64 };

static void
assert_near(double is, double wanted, double by)
{
	if (!(fabs(is - wanted) <= by))
		fail_msg("%.15g instead of %.15g", is, wanted);
}

/* Differences of CPython 3.10.4 and 3.11.0a7 in ms: the published multiples 5.48, 110.46 and 162.98
 * are d / IQR less q3, so that IQR and q3 follow from two of them, and the third one fits. The
 * distance from the third quartile in interquartile ranges is 4.98, 109.9 and 162.5. */
static void
published_table(void **state)
{
	static const double d[] = {592.020 - 589.177, 129.378 - 76.473, 77.953 - 0},
	                    printed[] = {5.48, 110.46, 162.98}, right[] = {4.98, 109.9, 162.5};
	(void)state;
	const double iqr = (d[1] - d[0]) / (printed[1] - printed[0]);
	const double q3 = d[0] / iqr - printed[0];
	assert_near(iqr, 0.477, 0.001);
	assert_near(q3, 0.470, 0.02);
	assert_near(d[2] / iqr - q3, printed[2], 0.05);
	for (int i = 0; i < 3; i++)
		assert_near(st_outlier_distance(d[i], 0.470 - 0.477, 0.470), right[i], 0.1);
	/* Shares of the target's total, and of the baseline's. */
	assert_near(100 * d[2] / 1490.351, 5.23, 0.005);
	assert_near(100 * (1490.351 - 1353.431) / 1490.351, 9.19, 0.005);
	assert_near(100 * (1490.351 - 1353.431) / 1353.431, 10.12, 0.005);
}

static void
distances(void **state)
{
	(void)state;
	assert_near(st_outlier_distance(10, 1, 3), 3.5, 1e-12);
	assert_near(st_outlier_distance(-2, 1, 3), 1.5, 1e-12);
	assert_true(isnan(st_outlier_distance(2, 1, 3)));
}

/* Median 0, MAD 1: z = 0.6745 d. From -2 to 2 there is no outlier; 9 is severe. */
static void
by_score(void **state)
{
	const double v[] = {-2, -1, -1, 0, 0, 0, 1, 1, 2, 9, -9};
	struct st_outlier o[MOST];
	(void)state;
	assert_int_equal(st_outliers_find(v, 11, ST_OUTLIER_Z, o), ST_OK);
	for (int i = 0; i < 9; i++)
		assert_int_equal(o[i].kind, ST_FINDING_NO_CHANGE);
	assert_int_equal(o[9].kind, ST_FINDING_SEVERE_DEGRADATION);
	assert_int_equal(o[10].kind, ST_FINDING_SEVERE_OPTIMIZATION);
	assert_true(o[9].by_quartiles);
	assert_near(o[9].confidence, (9 - 1) / 2.0, 1e-12);
	/* A greater limit leaves it to the quartiles: 9 > 1 + 1.5 2. */
	assert_int_equal(st_outliers_find(v, 11, 100, o), ST_OK);
	assert_int_equal(o[9].kind, ST_FINDING_DEGRADATION);
	assert_int_equal(o[10].kind, ST_FINDING_OPTIMIZATION);
}

/* More than half of all differences are 0, so MAD is 0: the mean distance takes its place, and one
 * nanosecond is not severe. */
static void
without_spread(void **state)
{
	double v[40] = {0};
	struct st_outlier o[MOST];
	(void)state;
	assert_int_equal(st_outliers_find(v, 40, ST_OUTLIER_Z, o), ST_OK);
	for (int i = 0; i < 40; i++)
		assert_int_equal(o[i].kind, ST_FINDING_NO_CHANGE);
	for (int i = 0; i < 15; i++)
		v[i] = i % 2 ? 10 : -10;
	v[0] = 1;
	assert_int_equal(st_outliers_find(v, 40, ST_OUTLIER_Z, o), ST_OK);
	assert_int_equal(o[0].kind, ST_FINDING_NO_CHANGE);
	assert_int_equal(st_outliers_find(v, 0, ST_OUTLIER_Z, o), ST_OK);
	assert_int_equal(st_outliers_find(v + 39, 1, ST_OUTLIER_Z, o), ST_OK);
	assert_int_equal(o[0].kind, ST_FINDING_NO_CHANGE);
}

/* 30 values of -1 or 1 (deviation about 1): 2.9 is no outlier by the quartiles and by z. */
static void
by_deviation(void **state)
{
	double v[31];
	struct st_outlier o[MOST];
	(void)state;
	for (int i = 0; i < 30; i++)
		v[i] = i % 2 ? 1 : -1;
	v[30] = 2.9;
	assert_int_equal(st_outliers_find(v, 31, ST_OUTLIER_Z, o), ST_OK);
	assert_int_equal(o[30].kind, ST_FINDING_MAYBE_DEGRADATION);
	assert_false(o[30].by_quartiles);
	assert_int_equal(o[0].kind, ST_FINDING_NO_CHANGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(published_table), cmocka_unit_test(distances),
	        cmocka_unit_test(by_score),        cmocka_unit_test(without_spread),
	        cmocka_unit_test(by_deviation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
