/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indicators by arithmetic: the worked example, planted shares, and what cannot be measured. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "blow/indicators.h"

static void
assert_close(double is, double wanted, double relative)
{
	if (!(fabs(is - wanted) <= relative * fabs(wanted)))
		fail_msg("%.17g is not %.17g", is, wanted);
}

/* ---- slow-down ---- */

static void
test_influence(void **state)
{
	(void)state;
	assert_close(st_blow_influence_of(1.3, 1, 2, 1).influence, 0.65, 1e-15);
	assert_close(st_blow_influence_of(12, 10, 8, 2).influence, 0.3, 1e-15);
	assert_close(st_blow_influence_of(12, 10, 8, 2).runtime, 1.2, 1e-15);
	assert_close(st_blow_influence_of(12, 10, 8, 2).function, 4, 1e-15);
	assert_true(isnan(st_blow_influence_of(12, 10, 8, 0).influence));
	assert_true(isnan(st_blow_influence_of(12, 0, 8, 2).influence));
	assert_true(isnan(st_blow_influence_of(12, 10, 0, 2).influence));
}

/* ---- speed-up: two threads that differ, and the worked example in us ---- */

static void
test_speedup_examples(void **state)
{
	(void)state;
	/* Noise that is 0.2 of the function's mean time, in a thread of which the function is half.
	 */
	const struct st_blow_thread half = {110, 100, 10, 5, 5}, /* n 2 */
	        less = {140, 100, 5, 10, 10};                    /* n 4 */
	struct st_blow_speedup s = st_blow_speedup_of(&half);
	assert_close(s.noise, 2, 1e-15);
	assert_close(s.speedup, 20, 1e-14);
	assert_close(s.runtime, 0.2, 1e-14);
	assert_close(s.function, 0.4, 1e-15);
	assert_close(s.score, 0.5, 1e-14);
	s = st_blow_speedup_of(&less);
	assert_close(s.score, 0.5, 1e-14);
	/* For noise of any strength, the score is the share of the function's time. */
	for (double noise = 1; noise < 1e6; noise *= 10) {
		const struct st_blow_thread t = {100 + 5 * noise, 100, 3, 5, 7};
		assert_close(st_blow_speedup_of(&t).score, 3 * 7.0 / 100, 1e-9);
	}
	/* A thread that does not call the function. In floating point, 2 + 7 * (29 / 7) - 31 is
	 * greater than 0. */
	const struct st_blow_thread other = {31, 2, 0, 7, 5};
	s = st_blow_speedup_of(&other);
	assert_true(s.noise > 0);
	assert_true(s.speedup == 0);
}

static void
test_worked_example(void **state)
{
	static const double foo[] = {30070, 39308, 26439, 26724};
	double sum = 0;
	(void)state;
	for (size_t i = 0; i < 4; i++)
		sum += foo[i];
	assert_close(sum, 122541, 1e-15);
	assert_close(sum / 4, 30635.25, 1e-15);
	assert_close(100 * sum / 422373, 29.0125, 1e-6);
	const struct st_blow_thread first = {452373, 422373, 1, 1, sum / 4};
	const struct st_blow_speedup s = st_blow_speedup_of(&first);
	assert_close(s.noise, 30000, 1e-15);
	assert_close(s.speedup, 30000, 1e-15);
	assert_close(s.runtime, 0.0710273, 1e-6);
	assert_close(s.function, 0.9792641, 1e-7);
	assert_close(s.score, 0.0725313, 1e-6);
	assert_close(s.runtime, 30000 / 422373.0, 1e-15);
	assert_close(s.function, 30000 / 30635.25, 1e-15);
	assert_close(s.score, 30635.25 / 422373, 1e-14);
	/* Threads without other calls have no noise that could be known. */
	const struct st_blow_thread second = {200000, 169269, 2, 0, sum / 4};
	assert_false(isfinite(st_blow_speedup_of(&second).score));
}

static void
test_fitness(void **state)
{
	const double v[] = {0.5, NAN, 0.25, 0.75};
	(void)state;
	assert_true(st_blow_fitness(v, 0) == 0);
	assert_true(st_blow_fitness(&v[1], 1) == 0);
	assert_close(st_blow_fitness(v, 4), 0.5, 1e-15);
}

/* ---- the slope ---- */

/* Of a serial program: the function has a share of it, and becomes `factor` times longer. Runs
 * differ by a thousandth, one after the other. */
static struct st_blow_point
serial_point(double share, double factor, int run)
{
	static const double off[] = {0, 1e-3, -1e-3, 5e-4, -5e-4, 8e-4, -8e-4};
	const double machine = 1 + off[run % 7];
	return (struct st_blow_point){share * factor * machine,
	                              (1 + share * (factor - 1)) * machine, factor > 1};
}

/* The influence of a serial program depends on the noise, its slope does not. */
static void
test_planted_share(void **state)
{
	static const double factors[] = {1.1, 2, 10}, influences[] = {0.931818, 0.625, 0.325};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct st_blow_point v[8];
		const struct st_blow_point exact = serial_point(0.25, factors[i], 0);
		assert_close(st_blow_influence_of(exact.total, 1, exact.function, 0.25).influence,
		             influences[i], 1e-5);
		for (int k = 0; k < 8; k++)
			v[k] = serial_point(0.25, k < 5 ? 1 : factors[i], k);
		const struct st_blow_slope s = st_blow_slope_of(v, 8);
		assert_int_equal(s.state, ST_BLOW_MEASURED);
		assert_true(s.low <= 0.25 && 0.25 <= s.high);
		assert_true(s.high - s.low < 0.1);
		assert_int_equal(s.runs_before, 5);
		assert_int_equal(s.runs, 3);
	}
}

/* The same numbers in seconds and in ns have the same slope. */
static void
test_units(void **state)
{
	struct st_blow_point v[8], w[8];
	(void)state;
	for (int k = 0; k < 8; k++) {
		v[k] = serial_point(0.4, k < 4 ? 1 : 1 + k, k);
		w[k] = (struct st_blow_point){v[k].function * 1e9, v[k].total * 1e9, v[k].noisy};
	}
	const struct st_blow_slope a = st_blow_slope_of(v, 8), b = st_blow_slope_of(w, 8);
	assert_close(a.at, b.at, 1e-9);
	assert_close(a.low, b.low, 1e-9);
	assert_close(a.high, b.high, 1e-9);
}

/* Without any error the slope is exact. */
static void
test_exact(void **state)
{
	struct st_blow_point v[6];
	(void)state;
	for (int k = 0; k < 6; k++)
		v[k] = serial_point(0.7, k < 3 ? 1 : 2 * k, 0);
	const struct st_blow_slope s = st_blow_slope_of(v, 6);
	assert_int_equal(s.state, ST_BLOW_MEASURED);
	assert_close(s.at, 0.7, 1e-12);
	assert_true(s.high - s.low < 1e-9);
}

static void
test_not_measurable(void **state)
{
	struct st_blow_point v[8];
	(void)state;
	for (int k = 0; k < 8; k++)
		v[k] = serial_point(0.25, k < 5 ? 1 : 3, k);
	assert_int_equal(st_blow_slope_of(v, 5).state, ST_BLOW_TOO_FEW);
	assert_int_equal(st_blow_slope_of(&v[3], 5).state, ST_BLOW_TOO_FEW);
	assert_int_equal(st_blow_slope_of(v, 0).state, ST_BLOW_TOO_FEW);
	assert_true(isnan(st_blow_slope_of(v, 5).at));
	for (int k = 0; k < 8; k++) /* noise that changes nothing */
		v[k] = (struct st_blow_point){serial_point(0.25, 1, k).function, v[k].total,
		                              v[k].noisy};
	assert_int_equal(st_blow_slope_of(v, 8).state, ST_BLOW_NOISE_LOST);
	for (int k = 0; k < 8; k++)
		v[k].function = v[k].noisy;
	assert_int_equal(st_blow_slope_of(v, 8).state, ST_BLOW_NOT_CALLED);
	for (int i = 0; i <= ST_BLOW_NO_VARIANCE; i++)
		assert_non_null(st_blow_measurable_text((enum st_blow_measurable)i));
}

/* Of 400 null functions, whose noise changes their own time and not the program's, at least 95 %
 * have 0 in their interval: the errors are normal, and follow from a seed. */
static double
normal(uint64_t *state)
{
	double sum = -6;
	for (int i = 0; i < 12; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(*state >> 11) / 9007199254740992.0;
	}
	return sum;
}

static void
test_null_functions(void **state)
{
	enum { FUNCTIONS = 400, RUNS = 14, QUIET = 6 };
	uint64_t random = 1;
	int within = 0;
	(void)state;
	for (int f = 0; f < FUNCTIONS; f++) {
		struct st_blow_point v[RUNS];
		for (int k = 0; k < RUNS; k++)
			v[k] = (struct st_blow_point){
			        (k < QUIET ? 1 : 3 + k) + 0.01 * normal(&random),
			        100 * (1 + 0.05 * normal(&random)), k >= QUIET};
		const struct st_blow_slope s = st_blow_slope_of(v, RUNS);
		assert_int_equal(s.state, ST_BLOW_MEASURED);
		within += s.low <= 0 && 0 <= s.high;
	}
	/* 380 are expected; 4.4 is the standard deviation. */
	assert_in_range(within, 366, 394);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_influence),      cmocka_unit_test(test_speedup_examples),
	        cmocka_unit_test(test_worked_example), cmocka_unit_test(test_fitness),
	        cmocka_unit_test(test_planted_share),  cmocka_unit_test(test_units),
	        cmocka_unit_test(test_exact),          cmocka_unit_test(test_not_measurable),
	        cmocka_unit_test(test_null_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
