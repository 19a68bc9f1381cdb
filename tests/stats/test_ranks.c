/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rank and permutation tests, adjusted P, bootstrap, change points: by hand, and as R has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "base/random.h"
#include "stats/bootstrap.h"
#include "stats/change_points.h"
#include "stats/ranks.h"

static void
assert_near(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9))
		fail_msg("%.15g instead of %.15g", is, wanted);
}

static double
normal_value(uint64_t *state)
{
	return gsl_cdf_ugaussian_Pinv(((double)(st_random_next(state) >> 11) + 0.5) * 0x1p-53);
}

/* R's help page of wilcox.test: exact P 0.2544; and with ties, by the normal distribution. */
static void
mann_whitney(void **state)
{
	static const double at_term[] = {0.80, 0.83, 1.89, 1.04, 1.45,
	                                 1.38, 1.91, 1.64, 0.73, 1.46},
	                    early[] = {1.15, 0.88, 0.90, 0.74, 1.21}, x[] = {1, 2, 2, 3, 5, 8},
	                    y[] = {2, 4, 6, 8, 9, 9, 12};
	struct st_rank_test t;
	(void)state;
	assert_int_equal(st_mann_whitney(at_term, 10, early, 5, &t), 0);
	assert_true(t.exact);
	assert_near(t.u, 15);
	assert_near(t.superior, 0.3);
	assert_near(t.p, 0.254412254412254);
	assert_int_equal(st_mann_whitney(early, 5, at_term, 10, &t), 0);
	assert_near(t.u, 35);
	assert_near(t.p, 0.254412254412254);
	assert_int_equal(st_mann_whitney(x, 6, y, 7, &t), 0);
	assert_false(t.exact);
	assert_near(t.u, 34.5);
	assert_near(t.p, 0.061117997646);
	assert_int_equal(st_mann_whitney(x, 0, y, 7, &t), -1);
	assert_int_equal(st_mann_whitney(x, 1, x, 1, &t), 0);
	assert_near(t.p, 1);
}

/* 1 2 3 against 4 5 6: of 20 divisions, two are as far apart. */
static void
permutations(void **state)
{
	static const double a[] = {1, 2, 3}, b[] = {4, 5, 6}, same[] = {7, 7, 7};
	struct st_permutation_test t, again;
	(void)state;
	assert_int_equal(st_permutation_test(a, 3, b, 3, 1000, 1, &t), 0);
	assert_true(t.exact);
	assert_near(t.p, 0.1);
	assert_near(t.difference, 3);
	assert_int_equal(st_permutation_test(same, 3, same, 3, 1000, 1, &t), 0);
	assert_near(t.p, 1);
	double many_a[30], many_b[30];
	uint64_t seed = 9;
	for (int i = 0; i < 30; i++) {
		many_a[i] = normal_value(&seed);
		many_b[i] = normal_value(&seed) + 2;
	}
	assert_int_equal(st_permutation_test(many_a, 30, many_b, 30, 999, 5, &t), 0);
	assert_false(t.exact);
	assert_near(t.p, 0.001);
	assert_int_equal(st_permutation_test(many_a, 30, many_a, 29, 999, 5, &t), 0);
	assert_int_equal(st_permutation_test(many_a, 30, many_a, 29, 999, 5, &again), 0);
	assert_true(t.p == again.p && t.p > 0.5);
	assert_int_equal(st_permutation_test(a, 0, b, 3, 10, 1, &t), -1);
}

/* Two samples of one distribution: P below 5 % in 5 % of the cases. */
static void
permutation_test_keeps_its_level(void **state)
{
	int below = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		double a[6], b[6];
		uint64_t s = seed * 7919;
		struct st_permutation_test t;
		for (int i = 0; i < 6; i++) {
			a[i] = exp(normal_value(&s));
			b[i] = exp(normal_value(&s));
		}
		assert_int_equal(st_permutation_test(a, 6, b, 6, 1000, seed, &t), 0);
		below += t.p <= 0.05;
	}
	assert_in_range(below, 60, 140);
}

/* R: p.adjust. */
static void
adjusted(void **state)
{
	static const double even[5] = {0.01, 0.02, 0.03, 0.04, 0.05},
	                    p[7] = {0.001, 0.04, 0.5, 0.03, 0.9, 0.012, NAN},
	                    holm[6] = {0.006, 0.12, 1, 0.12, 1, 0.06},
	                    hochberg[6] = {0.006, 0.06, 0.6, 0.06, 0.9, 0.036};
	double out[7];
	(void)state;
	assert_int_equal(st_holm(even, 5, out), 0);
	for (int i = 0; i < 5; i++)
		assert_near(out[i], i == 0 ? 0.05 : i == 1 ? 0.08 : 0.09);
	assert_int_equal(st_benjamini_hochberg(even, 5, out), 0);
	for (int i = 0; i < 5; i++)
		assert_near(out[i], 0.05);
	assert_int_equal(st_holm(p, 7, out), 0);
	for (int i = 0; i < 6; i++)
		assert_near(out[i], holm[i]);
	assert_true(isnan(out[6]));
	assert_int_equal(st_benjamini_hochberg(p, 7, out), 0);
	for (int i = 0; i < 6; i++)
		assert_near(out[i], hochberg[i]);
	assert_true(isnan(out[6]));
	assert_int_equal(st_holm(p, 0, out), 0);
}

/* 95 % intervals of the mean of skewed values have it in nearly 95 % of the cases. */
static void
bootstrap_intervals(void **state)
{
	int covered = 0;
	struct st_interval in, again;
	(void)state;
	for (uint64_t seed = 1; seed <= 600; seed++) {
		double v[40];
		uint64_t s = seed * 104729;
		for (int i = 0; i < 40; i++)
			v[i] = 5 + normal_value(&s);
		assert_int_equal(st_bootstrap(v, 40, st_mean, 400, seed, 0.95, &in), 0);
		assert_true(in.low <= in.at && in.at <= in.high);
		covered += in.low <= 5 && 5 <= in.high;
	}
	assert_in_range(covered, 540, 590);
	static const double few[4] = {1, 2, 4, 8}, same[3] = {2, 2, 2};
	assert_int_equal(st_bootstrap(few, 4, st_median, 200, 3, 0.9, &in), 0);
	assert_int_equal(st_bootstrap(few, 4, st_median, 200, 3, 0.9, &again), 0);
	assert_true(in.low == again.low && in.high == again.high && in.at == 3);
	assert_int_equal(st_bootstrap(same, 3, st_mean, 200, 3, 0.9, &in), 0);
	assert_true(in.low == 2 && in.high == 2);
	assert_int_equal(st_bootstrap(few, 1, st_mean, 200, 3, 0.9, &in), -1);
}

static void
change_points(void **state)
{
	double v[60];
	struct st_change_point found[60];
	size_t n;
	uint64_t seed = 4;
	(void)state;
	for (int i = 0; i < 60; i++)
		v[i] = normal_value(&seed) + (i >= 40 ? 5 : i >= 20 ? 10 : 0);
	v[7] = 100; /* an outlier */
	assert_int_equal(st_change_points(v, 60, 5, 199, 0.05, 1, found, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(found[0].at, 20);
	assert_int_equal(found[1].at, 40);
	assert_true(found[0].p <= 0.05 && found[1].p <= 0.05);
	for (int i = 0; i < 60; i++)
		v[i] = 3;
	assert_int_equal(st_change_points(v, 60, 5, 199, 0.05, 1, found, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(st_change_points(v, 60, 1, 199, 0.05, 1, found, &n), -1);
	assert_int_equal(st_change_points(v, 3, 2, 199, 0.05, 1, found, &n), 0);
	assert_int_equal(n, 0);
}

/* Series without a change: one is found in at most 5 % of them, and chance. */
static void
no_change_points(void **state)
{
	int alarms = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		double v[30];
		struct st_change_point found[30];
		size_t n;
		uint64_t s = seed * 7919;
		for (int i = 0; i < 30; i++)
			v[i] = exp(normal_value(&s));
		assert_int_equal(st_change_points(v, 30, 3, 99, 0.05, seed, found, &n), 0);
		alarms += n > 0;
	}
	assert_in_range(alarms, 2, 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(mann_whitney),
	        cmocka_unit_test(permutations),
	        cmocka_unit_test(permutation_test_keeps_its_level),
	        cmocka_unit_test(adjusted),
	        cmocka_unit_test(bootstrap_intervals),
	        cmocka_unit_test(change_points),
	        cmocka_unit_test(no_change_points),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
