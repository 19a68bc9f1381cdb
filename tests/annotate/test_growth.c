/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the judgement of growth: exact laws, and how often noise breaks a contract. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "annotate/growth.h"
#include "laws.h"

enum { MOST = 400 };

static struct st_ann_growth
judged(const double *g, const double *y, size_t n)
{
	double copy[MOST];
	struct st_ann_growth out;
	memcpy(copy, g, n * sizeof *g);
	assert_false(st_ann_growth_judge(copy, y, n, &out));
	return out;
}

/* The order of the records and the units of both axes change nothing. */
static void
test_invariance(void **state)
{
	(void)state;
	double g[60], y[60], scaled_g[60], scaled_y[60];
	for (int i = 0; i < 60; i++) {
		g[i] = 3 + i;
		y[i] = 100 + g[i] * g[i] + 20 * laws_normal();
		scaled_g[59 - i] = 1024 * g[i];
		scaled_y[59 - i] = 0.125 * y[i];
	}
	const struct st_ann_growth a = judged(g, y, 60), b = judged(scaled_g, scaled_y, 60);
	assert_int_equal(a.verdict, ST_ANN_GROWTH_FASTER);
	assert_int_equal(b.verdict, ST_ANN_GROWTH_FASTER);
	assert_true(fabs(a.bend - b.bend) < 1e-9 && fabs(a.bend_low - b.bend_low) < 1e-9);
	assert_true(a.bend_low < a.bend && a.bend < a.bend_high);
}

static void
test_too_little(void **state)
{
	(void)state;
	const double g[] = {1, 2, 3, 2}, same[] = {5, 5, 5, 5}, below[] = {-1, 2, 3, 4};
	const double narrow[] = {10, 12, 14, 16}, y[] = {1, 2, 3, 2};
	assert_int_equal(judged(g, y, 4).verdict, ST_ANN_GROWTH_WITHIN);
	assert_int_equal(judged(g, y, 3).verdict, ST_ANN_GROWTH_FEW_VALUES);
	assert_int_equal(judged(same, y, 4).verdict, ST_ANN_GROWTH_FEW_VALUES);
	assert_int_equal(judged(below, y, 4).verdict, ST_ANN_GROWTH_NARROW);
	assert_int_equal(judged(narrow, y, 4).verdict, ST_ANN_GROWTH_NARROW);
	assert_true(isnan(judged(same, y, 4).bend));
}

/* If a single record has the largest size, its own noise may be all of the growth. */
static void
test_single_large_record(void **state)
{
	(void)state;
	double g[MOST], y[MOST];
	for (int i = 0; i < MOST - 1; i++) {
		g[i] = 1 + i % 10;
		y[i] = g[i] + 0.1 * laws_normal();
	}
	g[MOST - 1] = 40;
	y[MOST - 1] = 80;
	assert_int_equal(judged(g, y, MOST).verdict, ST_ANN_GROWTH_UNCERTAIN);
	y[MOST - 1] = 40;
	assert_int_equal(judged(g, y, MOST).verdict, ST_ANN_GROWTH_UNCERTAIN);
}

/* Draws costs that grow as g, or as g log g, with noise of a kind. */
static struct st_ann_growth
drawn(int kind, size_t n, bool faster)
{
	double g[MOST], y[MOST];
	for (size_t i = 0; i < n; i++) {
		const double u = laws_uniform();
		g[i] = kind % 2 ? exp2(2 + 8 * u) : 10 + 990 * u;
		const double mean = faster ? g[i] * log2(g[i]) : 20 + 3 * g[i];
		y[i] = kind < 2   ? mean + (faster ? 400 : 150) * laws_normal()
		       : kind < 4 ? mean * (1 + 0.1 * laws_normal())
		                  : mean * (0.9 + laws_exponential(0.1));
	}
	return judged(g, y, n);
}

/* The probability of a false alarm is at most 0.1 % with even noise, noise in proportion to the
 * cost, and noise that only adds; over even and over geometric sizes; with few and many records. */
static void
test_false_alarms(void **state)
{
	(void)state;
	enum { ROUNDS = 400 };
	static const size_t counts[] = {8, 30, 300};
	size_t rounds = 0, alarms = 0, kept = 0;
	laws_state = 11;
	for (int kind = 0; kind < 6; kind++)
		for (size_t k = 0; k < 3; k++)
			for (size_t i = 0; i < ROUNDS; i++, rounds++) {
				const struct st_ann_growth a = drawn(kind, counts[k], false);
				alarms += a.verdict == ST_ANN_GROWTH_FASTER;
				kept += a.verdict == ST_ANN_GROWTH_WITHIN;
			}
	/* 7,200 draws: at 0.1 %, more than 16 have a probability of 0.1 %. */
	if (alarms > 16 || rounds != 7200)
		fail_msg("%zu of %zu are alarms", alarms, rounds);
	assert_true(kept > 0);
}

/* Growth as g log g is never taken for g, apart from the same error, and many records show it. */
static void
test_power(void **state)
{
	(void)state;
	enum { ROUNDS = 200 };
	size_t missed = 0;
	laws_state = 12;
	for (size_t i = 0; i < ROUNDS; i++) {
		const struct st_ann_growth a = drawn(0, 300, true);
		missed += a.verdict == ST_ANN_GROWTH_WITHIN;
	}
	if (missed > 2)
		fail_msg("%zu of %d are missed", missed, (int)ROUNDS);
	double g[MOST], y[MOST];
	for (size_t i = 0; i < 300; i++) {
		g[i] = (double)(10 + i);
		y[i] = g[i] * g[i] * (1 + 0.1 * laws_normal());
	}
	assert_int_equal(judged(g, y, 300).verdict, ST_ANN_GROWTH_FASTER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_invariance),
	        cmocka_unit_test(test_too_little),
	        cmocka_unit_test(test_single_large_record),
	        cmocka_unit_test(test_false_alarms),
	        cmocka_unit_test(test_power),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
