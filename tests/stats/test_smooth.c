/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bins, windows and kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "stats/bins.h"
#include "stats/kernel.h"
#include "stats/window.h"

static void
assert_near(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9))
		fail_msg("%.15g instead of %.15g", is, wanted);
}

static void
bins_of_numpys_example(void **state)
{
	static const double v[8] = {0, 0, 0, 1, 2, 3, 4, 5}; /* bins='auto': 0, 1.25, .. 5 */
	(void)state;
	assert_int_equal(st_bins(ST_BINS_AUTO, v, 8), 4);
	assert_int_equal(st_bins(ST_BINS_STURGES, v, 8), 4);
	assert_int_equal(st_bins(ST_BINS_SQRT, v, 8), 3);
	assert_int_equal(st_bins(ST_BINS_RICE, v, 8), 4);
	assert_int_equal(st_bins(ST_BINS_FD, v, 8), 2);
	assert_int_equal(st_bins(ST_BINS_SCOTT, v, 8), 2);
	assert_int_equal(st_bins(ST_BINS_DOANE, v, 8), 5);
}

static void
bins_without_width(void **state)
{
	static const double same[4] = {7, 7, 7, 7}, one_off[5] = {1, 1, 1, 1, 9};
	(void)state;
	for (int rule = 0; rule < ST_BINS_COUNT; rule++)
		assert_int_equal(st_bins((enum st_bin_rule)rule, same, 4), 1);
	assert_int_equal(st_bins(ST_BINS_FD, one_off, 5), 1);
	assert_int_equal(st_bins(ST_BINS_AUTO, one_off, 5), 4);
	assert_int_equal(st_bins(ST_BINS_AUTO, one_off, 0), 1);
}

/* By the windows' formulas, five points each: the middle is 1, both sides are alike. */
static void
windows_of_five(void **state)
{
	static const double wanted[ST_WINDOW_COUNT][2] = {
	        [ST_WINDOW_BOXCAR] = {1, 1},
	        [ST_WINDOW_TRIANG] = {1.0 / 3, 2.0 / 3},
	        [ST_WINDOW_BLACKMAN] = {0, 0.34},
	        [ST_WINDOW_HAMMING] = {0.08, 0.54},
	        [ST_WINDOW_BARTLETT] = {0, 0.5},
	        [ST_WINDOW_PARZEN] = {0.016, 0.424},
	        [ST_WINDOW_BOHMAN] = {0, 1 / M_PI},
	        [ST_WINDOW_BLACKMANHARRIS] = {0.00006, 0.21747},
	        [ST_WINDOW_NUTTALL] = {0.0003628, 0.2269824},
	        [ST_WINDOW_BARTHANN] = {0, 0.5}};
	(void)state;
	for (int w = 0; w < ST_WINDOW_COUNT; w++) {
		for (size_t i = 0; i < 2; i++) {
			assert_near(st_window_at((enum st_window)w, i, 5), wanted[w][i]);
			assert_near(st_window_at((enum st_window)w, 4 - i, 5), wanted[w][i]);
		}
		assert_near(st_window_at((enum st_window)w, 2, 5), 1);
		assert_near(st_window_at((enum st_window)w, 0, 1), 1);
	}
	assert_near(st_window_at(ST_WINDOW_TRIANG, 0, 4), 0.25); /* 1 3 3 1, by 4 */
	assert_near(st_window_at(ST_WINDOW_TRIANG, 1, 4), 0.75);
}

/* Integrals are 1; those of order 4 have no second moment. */
static void
kernels_are_kernels(void **state)
{
	(void)state;
	for (int k = 0; k < ST_KERNEL_COUNT; k++) {
		double whole = 0, second = 0;
		const double step = 1e-3;
		for (double u = -10 + step / 2; u < 10; u += step) {
			whole += step * st_kernel_at((enum st_kernel)k, u);
			second += step * u * u * st_kernel_at((enum st_kernel)k, u);
		}
		assert_true(fabs(whole - 1) < 1e-5);
		if (k == ST_KERNEL_NORMAL4 || k == ST_KERNEL_EPANECHNIKOV4)
			assert_true(fabs(second) < 1e-5);
		if (k == ST_KERNEL_NORMAL)
			assert_true(fabs(second - 1) < 1e-5);
	}
	assert_near(st_kernel_at(ST_KERNEL_EPANECHNIKOV, 0.5), 0.5625);
	assert_near(st_kernel_at(ST_KERNEL_TRICUBE, 0.5), 70.0 / 81 * 343 / 512);
	assert_near(st_kernel_at(ST_KERNEL_NORMAL, 0), 0.3989422804014327);
	assert_near(st_kernel_at(ST_KERNEL_TRICUBE, 1), 0);
}

static void
densities(void **state)
{
	static const double v[5] = {1, 2, 4, 4.5, 9};
	double whole = 0;
	(void)state;
	/* The sum of five kernels. */
	assert_near(st_density(ST_KERNEL_EPANECHNIKOV, v, 5, 2, 3), (0.5625 * 2 + 0.328125) / 10);
	for (double at = -20; at < 30; at += 0.01)
		whole += 0.01 * st_density(ST_KERNEL_NORMAL, v, 5, 1.5, at);
	assert_true(fabs(whole - 1) < 1e-6);
	/* sd 3.1305, IQR 2.5. */
	assert_near(st_bandwidth_scott(v, 5), 1.059 * 2.5 / 1.349 * pow(5, -0.2));
	assert_near(st_bandwidth_silverman(v, 5), 0.9 * 2.5 / 1.349 * pow(5, -0.2));
}

/* A local parabola has a parabola exactly; with too few points, the degree falls. */
static void
local_polynomials(void **state)
{
	static const double at[6] = {0, 1, 2, 4, 5, 7};
	double w[6], sum = 0;
	(void)state;
	st_kernel_counts(ST_KERNEL_NORMAL, at, 6, 2, 3, w);
	assert_int_equal(st_local_weights(at, 6, 3, 2, w), 0);
	for (int i = 0; i < 6; i++)
		sum += w[i] * (1 - at[i] + 2 * at[i] * at[i]);
	assert_near(sum, 1 - 3 + 18);
	st_kernel_counts(ST_KERNEL_EPANECHNIKOV, at, 6, 0.5, 4, w);
	assert_int_equal(st_local_weights(at, 6, 4, 2, w), 0);
	assert_near(w[3], 1);
	st_kernel_counts(ST_KERNEL_EPANECHNIKOV, at, 6, 0.5, 3, w);
	assert_int_equal(st_local_weights(at, 6, 3, 1, w), -1);
	st_loess_counts(at, 6, 0.5, 0, w); /* the nearest three: 0, 1, 2 */
	assert_near(w[0], 1);
	assert_near(w[1], 343.0 / 512);
	assert_near(w[2], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(bins_of_numpys_example),
	        cmocka_unit_test(bins_without_width),
	        cmocka_unit_test(windows_of_five),
	        cmocka_unit_test(kernels_are_kernels),
	        cmocka_unit_test(densities),
	        cmocka_unit_test(local_polynomials),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
