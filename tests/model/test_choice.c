/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which kind of growth points show: known laws with noise from a seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "model/choice.h"

enum { POINTS = 40 };

struct law {
	double (*at)(double x);
	enum st_growth kind;
	double noise; /* standard deviation; less than 0: a share of y */
};

static double
normal(uint64_t *state)
{
	return gsl_cdf_ugaussian_Pinv(((double)(st_random_next(state) >> 11) + 0.5) * 0x1p-53);
}

static double
constant(double x)
{
	(void)x;
	return 50;
}

static double
logarithm(double x)
{
	return 20 + 10 * log(x);
}

static double
line(double x)
{
	return 30 + 2 * x;
}

static double
n_log_n(double x)
{
	return 30 + x * log(x);
}

static double
square(double x)
{
	return 400 + 3 * x + 0.5 * x * x;
}

static double
cube(double x)
{
	return 5e4 + 40 * x * x - 0.2 * x * x * x;
}

static double
root(double x)
{
	return 4 * sqrt(x);
}

static double
doubling(double x)
{
	return 3 * pow(2, x / 20);
}

/* x from 5 to 200, each twice. */
static void
make_points(const struct law *law, uint64_t seed, double x[POINTS], double y[POINTS])
{
	for (int i = 0; i < POINTS; i++) {
		x[i] = 5 + 195.0 * (i / 2) / (POINTS / 2 - 1);
		y[i] = law->at(x[i]);
		y[i] += normal(&seed) * (law->noise < 0 ? -law->noise * y[i] : law->noise);
	}
}

static void
choose(const struct law *law, uint64_t seed, struct st_choice *c)
{
	double x[POINTS], y[POINTS];
	struct st_error e;
	make_points(law, seed, x, y);
	assert_int_equal(st_choice_make(c, &(struct st_points){.x = x, .y = y, .n = POINTS},
	                                ST_GROWTHS_ALL, ST_NOISE_AUTO, 0.95, &e),
	                 0);
	assert_int_equal(c->fitted, ST_GROWTHS_ALL);
	assert_int_equal(c->common, POINTS);
}

/* At least nine of ten are told, and right. */
static void
laws_are_told(void **state)
{
	static const struct law laws[] = {
	        {constant, ST_GROWTH_CONSTANT, 0.5}, {logarithm, ST_GROWTH_LOGARITHMIC, 0.5},
	        {line, ST_GROWTH_LINEAR, 1},         {n_log_n, ST_GROWTH_NLOGN, 2},
	        {square, ST_GROWTH_QUADRATIC, 10},   {cube, ST_GROWTH_CUBIC, 1000},
	        {root, ST_GROWTH_POWER, 0.3},        {doubling, ST_GROWTH_EXPONENTIAL, 5}};
	enum { TIMES = 40 };
	(void)state;
	for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
		int right = 0, wrong = 0;
		for (uint64_t seed = 1; seed <= TIMES; seed++) {
			struct st_choice c;
			choose(&laws[i], seed, &c);
			right += c.told && c.best == laws[i].kind;
			wrong += c.told && c.best != laws[i].kind;
		}
		if (right < TIMES * 9 / 10 || wrong > TIMES / 10)
			fail_msg("%s: %d right, %d wrong", st_growth_name(laws[i].kind), right,
			         wrong);
	}
}

/* The same where points scatter by 3 % of y, as measured times do. */
static void
laws_are_told_of_proportional_noise(void **state)
{
	static const struct law laws[] = {
	        {constant, ST_GROWTH_CONSTANT, -0.01}, {logarithm, ST_GROWTH_LOGARITHMIC, -0.03},
	        {line, ST_GROWTH_LINEAR, -0.03},       {square, ST_GROWTH_QUADRATIC, -0.03},
	        {root, ST_GROWTH_POWER, -0.03},        {doubling, ST_GROWTH_EXPONENTIAL, -0.03}};
	enum { TIMES = 40 };
	(void)state;
	for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
		int right = 0, wrong = 0;
		for (uint64_t seed = 1; seed <= TIMES; seed++) {
			struct st_choice c;
			choose(&laws[i], seed, &c);
			right += c.told && c.best == laws[i].kind;
			wrong += c.told && c.best != laws[i].kind;
		}
		if (right < TIMES * 7 / 10 || wrong > TIMES / 10)
			fail_msg("%s: %d right, %d wrong", st_growth_name(laws[i].kind), right,
			         wrong);
	}
}

static double
pure_square(double x)
{
	return 0.5 * x * x;
}

/* A square whose noise grows from 1 to 1000: weights are needed, and the exponent's interval has 2.
 */
static void
noise_is_found(void **state)
{
	static const struct law share = {pure_square, ST_GROWTH_POWER, -0.05},
	                        alike = {pure_square, ST_GROWTH_POWER, 300};
	int covered = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct st_choice c;
		choose(&share, seed, &c);
		assert_true(c.proportional);
		covered += c.exponent.b.low <= 2 && 2 <= c.exponent.b.high;
	}
	assert_true(covered >= 180);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct st_choice c;
		choose(&alike, seed, &c);
		assert_false(c.proportional);
	}
}

/* 95 % bands have the line, and a new point, in 93 to 97 % of 4000 simulated data sets. */
static void
bands_cover(void **state)
{
	static const struct law laws[] = {{line, ST_GROWTH_LINEAR, 20},
	                                  {line, ST_GROWTH_LINEAR, -0.1}};
	(void)state;
	for (int law = 0; law < 2; law++) {
		int curve = 0, point = 0;
		for (uint64_t seed = 1; seed <= 4000; seed++) {
			double x[POINTS], y[POINTS];
			struct st_choice c;
			struct st_error e;
			uint64_t other = seed * 104729;
			make_points(&laws[law], seed * 7919, x, y);
			assert_int_equal(
			        st_choice_make(&c, &(struct st_points){.x = x, .y = y, .n = POINTS},
			                       1u << ST_GROWTH_LINEAR,
			                       law ? ST_NOISE_PROPORTIONAL : ST_NOISE_ADDITIVE,
			                       0.95, &e),
			        0);
			const struct st_regression *m = &c.models[ST_GROWTH_LINEAR];
			const struct st_interval of_curve = st_regression_band(m, 60, 0.95, false),
			                         of_point = st_regression_band(m, 150, 0.95, true);
			const double next =
			        line(150) + normal(&other) * (law ? 0.1 * line(150) : 20);
			curve += of_curve.low <= line(60) && line(60) <= of_curve.high;
			point += of_point.low <= next && next <= of_point.high;
		}
		if (curve < 3720 || curve > 3880 || point < 3720 || point > 3880)
			fail_msg("curve %d, point %d of 4000", curve, point);
	}
}

/* Exact points: the kind that made them, and nothing else. */
static void
exact_points(void **state)
{
	static const struct law laws[] = {
	        {constant, ST_GROWTH_CONSTANT, 0}, {logarithm, ST_GROWTH_LOGARITHMIC, 0},
	        {line, ST_GROWTH_LINEAR, 0},       {n_log_n, ST_GROWTH_NLOGN, 0},
	        {square, ST_GROWTH_QUADRATIC, 0},  {cube, ST_GROWTH_CUBIC, 0},
	        {root, ST_GROWTH_POWER, 0},        {doubling, ST_GROWTH_EXPONENTIAL, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
		struct st_choice c;
		choose(&laws[i], 1, &c);
		assert_true(c.told);
		assert_int_equal(c.best, laws[i].kind);
	}
}

/* Noise so large that a constant and a logarithm look alike: no answer is an answer. */
static void
cannot_tell(void **state)
{
	static const struct law noisy = {constant, ST_GROWTH_CONSTANT, 25};
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct st_choice c;
		choose(&noisy, seed, &c);
		assert_false(c.told && c.best == ST_GROWTH_CONSTANT);
		assert_true(c.growth.high - c.growth.low > 2 * ST_CHANGE_NONE);
	}
}

static void
weights_are_a_whole(void **state)
{
	static const struct law law = {line, ST_GROWTH_LINEAR, 5};
	struct st_choice c;
	double sum = 0, least = INFINITY;
	(void)state;
	choose(&law, 3, &c);
	for (int i = 0; i < ST_GROWTH_COUNT; i++)
		least = fmin(least, c.aicc[i]);
	for (int i = 0; i < ST_GROWTH_COUNT; i++)
		sum += c.weight[i];
	assert_true(fabs(sum - 1) < 1e-12);
	/* Akaike's: exp(-difference / 2). */
	assert_true(fabs(c.weight[ST_GROWTH_CUBIC] / c.weight[ST_GROWTH_LINEAR] -
	                 exp((c.aicc[ST_GROWTH_LINEAR] - c.aicc[ST_GROWTH_CUBIC]) / 2)) < 1e-12);
}

/* A kind that cannot have all points is compared by those that it can have. */
static void
common_points(void **state)
{
	static const double x[] = {-3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	double y[12];
	struct st_choice c;
	struct st_error e;
	struct st_regression same;
	(void)state;
	for (int i = 0; i < 12; i++)
		y[i] = 2 + 3 * x[i] + (i % 3 - 1) * 0.1;
	const struct st_points all = {.x = x, .y = y, .n = 12},
	                       positive = {.x = x + 2, .y = y + 2, .n = 10};
	assert_int_equal(st_choice_make(&c, &all, ST_GROWTHS_ALL, ST_NOISE_AUTO, 0.95, &e), 0);
	assert_int_equal(c.common, 10);
	assert_int_equal(c.models[ST_GROWTH_LINEAR].n, 12);
	assert_int_equal(st_regression_fit(ST_GROWTH_LINEAR, &positive, &same, &e), 0);
	assert_true(c.aicc[ST_GROWTH_LINEAR] == same.aicc);
	assert_true(c.aicc[ST_GROWTH_POWER] == c.models[ST_GROWTH_POWER].aicc);
	assert_true(c.told && c.best == ST_GROWTH_LINEAR);
	/* Without such a kind, all count. */
	assert_int_equal(st_choice_make(&c, &all, 1u << ST_GROWTH_LINEAR, ST_NOISE_AUTO, 0.95, &e),
	                 0);
	assert_int_equal(c.common, 12);
}

static void
too_few_points(void **state)
{
	static const double x[4] = {1, 2, 3, 4}, y[4] = {1, 2, 3, 4.5};
	struct st_choice c;
	struct st_error e;
	(void)state;
	assert_int_equal(st_choice_make(&c, &(struct st_points){.x = x, .y = y, .n = 3},
	                                ST_GROWTHS_ALL, ST_NOISE_AUTO, 0.95, &e),
	                 0);
	assert_false(c.told);
	assert_int_equal(c.plausible, 0);
	assert_int_equal(c.best, ST_GROWTH_COUNT);
	assert_int_equal(st_choice_make(&c, &(struct st_points){.x = x, .y = y, .n = 2},
	                                ST_GROWTHS_ALL, ST_NOISE_AUTO, 0.95, &e),
	                 -1);
	assert_string_equal(e.text, "a model needs at least 3 points, and there are 2");
}

/* What Perun's r^2 says: the quadratic is never below the line. */
static void
by_r_square(void **state)
{
	static const struct law law = {line, ST_GROWTH_LINEAR, 5};
	struct st_choice c;
	(void)state;
	choose(&law, 3, &c);
	assert_true(c.models[ST_GROWTH_QUADRATIC].r_square_perun >=
	            c.models[ST_GROWTH_LINEAR].r_square_perun);
	assert_int_equal(st_choice_by_r_square(&c), ST_GROWTH_CUBIC);
}

/* 95 % intervals of the exponent have the true one in 93 to 97 % of 4000 simulated data sets. */
static void
exponents_cover(void **state)
{
	static const struct law law = {root, ST_GROWTH_POWER, 1};
	(void)state;
	for (int offset = 0; offset < 2; offset++) {
		int covered = 0;
		for (uint64_t seed = 1; seed <= 4000; seed++) {
			double x[POINTS], y[POINTS];
			struct st_exponent b;
			struct st_error e;
			make_points(&law, seed * 7919, x, y);
			assert_int_equal(
			        st_exponent_find(&(struct st_points){.x = x, .y = y, .n = POINTS},
			                         offset, 0.95, &b, &e),
			        0);
			covered += (isnan(b.b.low) || b.b.low <= 0.5) &&
			           (isnan(b.b.high) || b.b.high >= 0.5);
		}
		if (covered < 3720 || covered > 3880)
			fail_msg("%d of 4000, offset %d", covered, offset);
	}
}

static void
exponent_by_hand(void **state)
{
	static const double x[6] = {1, 2, 4, 8, 16, 32};
	double y[6];
	struct st_exponent b;
	struct st_error e;
	(void)state;
	for (int i = 0; i < 6; i++)
		y[i] = 7 + 2 * pow(x[i], 1.5);
	const struct st_points points = {.x = x, .y = y, .n = 6};
	assert_int_equal(st_exponent_find(&points, true, 0.95, &b, &e), 0);
	assert_true(fabs(b.b.at - 1.5) < 1e-6 && fabs(b.offset - 7) < 1e-4 && b.has_offset);
	assert_true(b.b.low <= b.b.at && b.b.at <= b.b.high && b.b.high - b.b.low < 1e-5);
	assert_int_equal(
	        st_exponent_find(&(struct st_points){.x = x, .y = y, .n = 3}, true, 0.95, &b, &e),
	        -1);
	assert_int_equal(
	        st_exponent_find(&(struct st_points){.x = x, .y = x, .n = 3}, false, 0.95, &b, &e),
	        0);
	assert_true(fabs(b.b.at - 1) < 1e-6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(laws_are_told),
	        cmocka_unit_test(laws_are_told_of_proportional_noise),
	        cmocka_unit_test(noise_is_found),
	        cmocka_unit_test(bands_cover),
	        cmocka_unit_test(exact_points),
	        cmocka_unit_test(cannot_tell),
	        cmocka_unit_test(weights_are_a_whole),
	        cmocka_unit_test(common_points),
	        cmocka_unit_test(too_few_points),
	        cmocka_unit_test(by_r_square),
	        cmocka_unit_test(exponents_cover),
	        cmocka_unit_test(exponent_by_hand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
