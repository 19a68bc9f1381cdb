/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regressions of each kind: points that lie on the curve, NIST's and R's values, bands, areas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "model/regression.h"

static void
assert_digits(double is, double wanted, double relative)
{
	if (!(fabs(is - wanted) <= relative * fabs(wanted)))
		fail_msg("%.15g instead of %.15g", is, wanted);
}

static const double six[6] = {1, 2, 3, 5, 8, 13};

/* Parameters from which the six points are made, and the area below the curve from 1 to 13. */
static const struct {
	enum st_growth kind;
	double b[ST_GROWTH_PARAMETERS], area;
} laws[] = {
        {ST_GROWTH_CONSTANT, {7}, 84},
        {ST_GROWTH_LOGARITHMIC, {3, 2}, 36 + 2 * (13 * 2.5649493574615367 - 12)},
        {ST_GROWTH_LINEAR, {-4, 0.5}, -48 + 42},
        {ST_GROWTH_NLOGN, {1, 0.25}, 12 + 0.25 * (169 * 2.5649493574615367 / 2 - 42)},
        {ST_GROWTH_QUADRATIC, {2, -1, 0.125}, 24 - 84 + 0.125 * 732},
        {ST_GROWTH_CUBIC, {1, 0, -0.5, 0.0625}, 12 - 0.5 * 732 + 0.0625 * 7140},
        {ST_GROWTH_POWER, {0.5, 2}, 0.5 * 732},
        {ST_GROWTH_EXPONENTIAL, {3, 0.5}, 3 * (0.5 - 1.0 / 8192) / 0.6931471805599453},
};

static double
law_at(size_t law, double x)
{
	const double *b = laws[law].b;
	switch (laws[law].kind) {
	case ST_GROWTH_LOGARITHMIC:
		return b[0] + b[1] * log(x);
	case ST_GROWTH_NLOGN:
		return b[0] + b[1] * x * log(x);
	case ST_GROWTH_POWER:
		return b[0] * pow(x, b[1]);
	case ST_GROWTH_EXPONENTIAL:
		return b[0] * pow(b[1], x);
	default:
		return b[0] + x * (b[1] + x * (b[2] + x * b[3]));
	}
}

static void
points_on_the_curve(void **state)
{
	(void)state;
	for (size_t law = 0; law < sizeof laws / sizeof *laws; law++) {
		double y[6];
		struct st_regression r;
		struct st_error e;
		const struct st_points points = {.x = six, .y = y, .n = 6};
		for (int i = 0; i < 6; i++)
			y[i] = law_at(law, six[i]);
		assert_int_equal(st_regression_fit(laws[law].kind, &points, &r, &e), 0);
		assert_int_equal(r.n, 6);
		assert_int_equal(r.left_out, 0);
		assert_true(r.x_start == 1 && r.x_end == 13);
		for (size_t i = 0; i < st_growth_parameters(laws[law].kind); i++)
			assert_true(fabs(r.b[i] - laws[law].b[i]) < 1e-9);
		assert_true(r.s < 1e-9);
		assert_true(laws[law].kind == ST_GROWTH_CONSTANT ? isnan(r.r_square)
		                                                 : fabs(r.r_square - 1) < 1e-12);
		assert_digits(st_regression_at(&r, 4), law_at(law, 4), 1e-9);
		assert_digits(st_regression_integral(&r, 1, 13), laws[law].area, 1e-9);
	}
}

/* DanWood of NIST's nonlinear regressions: the energy of a filament by its temperature. */
static void
power_as_nist_has_it(void **state)
{
	static const double x[6] = {1.309, 1.471, 1.490, 1.565, 1.611, 1.680},
	                    y[6] = {2.138, 3.421, 3.597, 4.340, 4.882, 5.660};
	const struct st_points points = {.x = x, .y = y, .n = 6};
	struct st_regression r;
	struct st_error e;
	(void)state;
	assert_int_equal(st_regression_fit(ST_GROWTH_POWER, &points, &r, &e), 0);
	assert_digits(r.b[0], 7.6886226176E-01, 1e-8);
	assert_digits(r.b[1], 3.8604055871E+00, 1e-8);
	assert_digits(r.se[0], 1.8281973860E-02, 1e-8);
	assert_digits(r.se[1], 5.1726610913E-02, 1e-8);
	assert_digits(r.sse, 4.3173084083E-03, 1e-9);
	assert_digits(r.s, 3.2853114039E-02, 1e-9);
}

static const double eight_x[8] = {1, 2, 3, 4, 5, 7, 9, 12},
                    eight_y[8] = {2.1, 3.9, 8.2, 15.1, 27, 52.3, 80.9, 150.4};
static const struct st_points eight = {.x = eight_x, .y = eight_y, .n = 8};

/* R: the least squares of y ~ a * b^x by uniroot, and lm(log(y) ~ x), lm(log(y) ~ log(x)). */
static void
curves_as_r_has_them(void **state)
{
	struct st_regression r;
	struct st_error e;
	(void)state;
	assert_int_equal(st_regression_fit(ST_GROWTH_EXPONENTIAL, &eight, &r, &e), 0);
	assert_digits(r.b[0], 7.4755564120285465, 1e-10);
	assert_digits(r.b[1], 1.2869250357835103, 1e-10);
	assert_digits(r.se[0], 1.6521633169576759, 1e-9);
	assert_digits(r.se[1], 0.0257526874926664, 1e-9);
	assert_digits(r.sse, 379.329409040457, 1e-11);
	assert_digits(r.r_square_perun, 0.931306969759843, 1e-12);
	assert_int_equal(st_regression_fit(ST_GROWTH_POWER, &eight, &r, &e), 0);
	assert_digits(r.r_square_perun, 0.979099004034441, 1e-12);
	assert_digits(r.logarithms.b[0], exp(0.371372687925063), 1e-12);
	assert_digits(r.logarithms.b[1], 1.805444086617109, 1e-12);
}

/* R: lm(y ~ x + I(x^2)) and its predict(). */
static void
bands_as_r_has_them(void **state)
{
	struct st_regression r;
	struct st_error e;
	(void)state;
	assert_int_equal(st_regression_fit(ST_GROWTH_QUADRATIC, &eight, &r, &e), 0);
	assert_digits(r.b[0], 0.918497337206481, 1e-12);
	assert_digits(r.se[2], 0.0583693973400918, 1e-12);
	assert_digits(r.p[1], 0.562929183417113, 1e-10);
	assert_digits(r.sse, 17.2557994432341, 1e-12);
	assert_digits(r.r_square_cv, 1 - 68.8527655281888 / r.tss, 1e-12);
	struct st_interval band = st_regression_band(&r, 6, 0.95, false);
	assert_digits(band.at, 36.6877874606633, 1e-12);
	assert_digits(band.low, 34.0735399730231, 1e-12);
	assert_digits(band.high, 39.3020349483035, 1e-12);
	band = st_regression_band(&r, 15, 0.90, true);
	assert_digits(band.low, 226.332792995788, 1e-12);
	assert_digits(band.high, 244.1459954331643, 1e-12);
	band = st_regression_parameter(&r, 2, 0.95); /* estimate +- t(5) * error */
	assert_digits(band.high - band.at, 2.570581835636314 * 0.0583693973400918, 1e-9);
}

/* 1 1, 2 3, 3 2: the line has slope 0.5, so r^2 is 0.25; its angle is atan2(1.5, 2). */
static void
constant_as_perun_has_it(void **state)
{
	static const double x[3] = {1, 2, 3}, y[3] = {1, 3, 2}, flat[3] = {5, 5, 5};
	struct st_regression r;
	struct st_error e;
	(void)state;
	assert_int_equal(st_regression_fit(ST_GROWTH_CONSTANT,
	                                   &(struct st_points){.x = x, .y = y, .n = 3}, &r, &e),
	                 0);
	assert_digits(r.r_square_perun, 0.25 * (1 - atan2(1.5, 2) / (M_PI / 2)), 1e-12);
	assert_digits(r.b[0], 2, 1e-15);
	assert_true(r.r_square == 0);
	assert_int_equal(st_regression_fit(ST_GROWTH_CONSTANT,
	                                   &(struct st_points){.x = x, .y = flat, .n = 3}, &r, &e),
	                 0);
	assert_true(r.r_square_perun == 1 && isnan(r.r_square));
}

static void
points_without_logarithm(void **state)
{
	static const double x[5] = {-1, 0, 1, 2, 4}, y[5] = {9, 9, 1, 2, 4};
	const struct st_points points = {.x = x, .y = y, .n = 5};
	struct st_regression r;
	struct st_error e;
	(void)state;
	assert_int_equal(st_regression_fit(ST_GROWTH_POWER, &points, &r, &e), 0);
	assert_int_equal(r.left_out, 2);
	assert_int_equal(r.n, 3);
	assert_digits(r.b[1], 1, 1e-9);
	assert_true(r.x_start == 1);
	assert_true(isnan(st_regression_at(&r, 0)));
	assert_true(isnan(st_regression_integral(&r, 0, 1)));
	assert_int_equal(st_regression_fit(ST_GROWTH_LINEAR, &points, &r, &e), 0);
	assert_int_equal(r.left_out, 0);
	assert_true(isnan(st_regression_integral(&r, 2, 1)));
}

static void
refused(void **state)
{
	static const double x[3] = {2, 2, 2}, y[3] = {1, 2, 3}, negative[3] = {-1, -2, -3},
	                    less[3] = {0, 1, -1};
	struct st_regression r;
	struct st_error e;
	(void)state;
	assert_int_equal(st_regression_fit(ST_GROWTH_LINEAR,
	                                   &(struct st_points){.x = x, .y = y, .n = 2}, &r, &e),
	                 -1);
	assert_string_equal(e.text, "a model needs at least 3 points, and there are 2");
	assert_int_equal(st_regression_fit(ST_GROWTH_POWER,
	                                   &(struct st_points){.x = less, .y = y, .n = 3}, &r, &e),
	                 -1);
	assert_string_equal(e.text, "a model needs at least 3 points, and there is 1 whose x is "
	                            "greater than 0");
	assert_int_equal(st_regression_fit(ST_GROWTH_LINEAR,
	                                   &(struct st_points){.x = x, .y = y, .n = 3}, &r, &e),
	                 -1);
	assert_string_equal(
	        e.text, "the points do not determine the parameters: too few of their x differ");
	assert_int_equal(st_regression_fit(ST_GROWTH_EXPONENTIAL,
	                                   &(struct st_points){.x = six, .y = negative, .n = 3}, &r,
	                                   &e),
	                 -1);
	assert_string_equal(e.text, "fewer than two points have a y that is greater than 0");
	assert_int_equal(st_regression_fit(ST_GROWTH_CONSTANT,
	                                   &(struct st_points){.x = x, .y = y, .n = 3}, &r, &e),
	                 0);
}

/* The integral of ln x from 1 to 100. */
static void
area_of_logarithm(void **state)
{
	double y[6];
	struct st_regression r;
	struct st_error e;
	(void)state;
	for (int i = 0; i < 6; i++)
		y[i] = log(six[i]);
	assert_int_equal(st_regression_fit(ST_GROWTH_LOGARITHMIC,
	                                   &(struct st_points){.x = six, .y = y, .n = 6}, &r, &e),
	                 0);
	assert_digits(st_regression_integral(&r, 1, 100), 100 * log(100) - 99, 1e-12);
	for (int i = 0; i < 6; i++)
		y[i] = 1 / six[i];
	assert_int_equal(st_regression_fit(ST_GROWTH_POWER,
	                                   &(struct st_points){.x = six, .y = y, .n = 6}, &r, &e),
	                 0);
	assert_digits(st_regression_integral(&r, 1, 100), log(100), 1e-9); /* exponent -1 */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(points_on_the_curve),
	        cmocka_unit_test(power_as_nist_has_it),
	        cmocka_unit_test(curves_as_r_has_them),
	        cmocka_unit_test(bands_as_r_has_them),
	        cmocka_unit_test(constant_as_perun_has_it),
	        cmocka_unit_test(points_without_logarithm),
	        cmocka_unit_test(refused),
	        cmocka_unit_test(area_of_logarithm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
