/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "tune/limit.h"

static void
assert_near(double is, double wanted)
{
	assert_true(fabs(is - wanted) <= 1e-12 * fmax(1, fabs(wanted)));
}

/* ---- the search ---- */

/* Levels up to `last` hold; `failing` cannot be tested. */
struct fake {
	int n, last, failing, tests;
	int highest;
};

static int
try_fake(void *arg, int i)
{
	struct fake *f = arg;
	assert_true(i >= 1 && i <= f->n);
	f->tests++;
	if (i == f->failing)
		return -1;
	f->highest = i <= f->last && i > f->highest ? i : f->highest;
	return i <= f->last;
}

static void
finds_each(void **state)
{
	(void)state;
	for (int n = 1; n <= 130; n++)
		for (int last = 0; last <= n; last++) {
			struct fake f = {.n = n, .last = last};
			assert_int_equal(st_limit_search(n, try_fake, &f), last);
			assert_int_equal(f.highest, last);
			assert_true(f.tests <= 1 + ceil(log2(n)));
			assert_true(last < n || f.tests == 1);
		}
}

static void
failures_end_it(void **state)
{
	(void)state;
	struct fake first = {.n = 100, .last = 30, .failing = 100};
	assert_int_equal(st_limit_search(100, try_fake, &first), -1);
	assert_int_equal(first.tests, 1);
	struct fake third = {.n = 100, .last = 60, .failing = 75};
	assert_int_equal(st_limit_search(100, try_fake, &third), -1);
	assert_int_equal(third.tests, 3);
}

static void
levels(void **state)
{
	(void)state;
	struct st_limit budget = {0},
	                least = {.of_threshold = true, .threshold = 50, .native = {.worst = 100}},
	                most = {.of_threshold = true, .threshold = 80, .native = {.worst = 30}};
	assert_near(st_limit_level(&budget, 1), 0.01);
	assert_near(st_limit_level(&budget, 100), 1);
	assert_near(st_limit_level(&least, 0), 50);
	assert_near(st_limit_level(&least, 60), 80);
	assert_near(st_limit_level(&least, 100), 100);
	assert_near(st_limit_level(&most, 0), 80);
	assert_near(st_limit_level(&most, 100), 30);
}

/* ---- readings ---- */

static struct st_quality
of_first(size_t n, double threshold, bool lower)
{
	double values[1000];
	for (size_t i = 0; i < n; i++)
		values[(i * 7 + 3) % n] = (double)i + 1; /* 1 to n, not in order */
	return st_quality_of(values, n, threshold, lower);
}

static void
readings(void **state)
{
	(void)state;
	struct st_quality q = of_first(10, 4, false);
	assert_int_equal(q.readings, 10);
	assert_int_equal(q.kept, 7);
	assert_near(q.median, 5.5);
	assert_near(q.worst, 1);
	q = of_first(11, 4, true);
	assert_int_equal(q.kept, 4);
	assert_near(q.median, 6);
	assert_near(q.worst, 11);
	assert_int_equal(of_first(0, 4, true).readings, 0);
}

/* One in a hundred may miss it, of fewer none. */
static void
ninety_nine(void **state)
{
	(void)state;
	static const struct {
		size_t n, may_miss;
	} cases[] = {{1, 0}, {99, 0}, {100, 1}, {101, 1}, {199, 1}, {200, 2}, {999, 9}, {1000, 10}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n = cases[i].n, may = cases[i].may_miss;
		struct st_quality q = of_first(n, (double)may + 1, false);
		assert_true(st_quality_holds(&q));
		assert_near(q.worst, (double)may + 1);
		q = of_first(n, (double)may + 1.5, false);
		assert_false(st_quality_holds(&q));
		q = of_first(n, (double)(n - may), true);
		assert_true(st_quality_holds(&q));
		assert_near(q.worst, (double)(n - may));
	}
	assert_false(st_quality_holds(&(struct st_quality){0}));
}

static void
several_runs(void **state)
{
	(void)state;
	struct st_quality sum = {0}, one = {10, 9, 4, 2}, two = {30, 30, 8, 3}, none = {0};
	st_quality_add(&sum, &one, false);
	st_quality_add(&sum, &two, false);
	st_quality_add(&sum, &none, false);
	assert_int_equal(sum.readings, 40);
	assert_int_equal(sum.kept, 39);
	assert_near(sum.median, 7);
	assert_near(sum.worst, 2);
	st_quality_add(&sum, &two, true);
	assert_near(sum.worst, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(finds_each),  cmocka_unit_test(failures_end_it),
	        cmocka_unit_test(levels),      cmocka_unit_test(readings),
	        cmocka_unit_test(ninety_nine), cmocka_unit_test(several_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
