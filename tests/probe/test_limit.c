/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which calls are timed under a budget, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/limit.h"

static const struct st_limit_costs costs = {.timed = 30, .counted = 10};

static struct st_limited
called(uint64_t calls, uint32_t every)
{
	return (struct st_limited){.calls = calls, .every = every, .least = 1};
}

static st_status
limit(struct st_limited *f, size_t n, double allowed)
{
	return st_limit(f, n, &costs, allowed, allowed);
}

#define N(array) (sizeof(array) / sizeof *(array))

/* 100 and 1000 calls cost 33,000 ticks: all are timed. */
static void
test_all_timed(void **state)
{
	struct st_limited f[] = {called(100, 1), called(1000, 1)};
	(void)state;
	assert_int_equal(limit(f, N(f), 33000), ST_OK);
	assert_int_equal(f[0].every, 1);
	assert_int_equal(f[1].every, 1);
	assert_false(f[0].drops || f[1].drops);
}

/* Counting costs 11,000 ticks. With 6000 more 300 calls are timed: all 100 of the first, and 200 of
 * the second. */
static void
test_most_called_are_sampled(void **state)
{
	struct st_limited f[] = {called(100, 1), called(1000, 1)};
	(void)state;
	assert_int_equal(limit(f, N(f), 17000.001), ST_OK);
	assert_int_equal(f[0].every, 1);
	assert_int_equal(f[1].every, 5);
	assert_false(f[0].drops || f[1].drops);
}

/* So few calls are timed, of 1000, that it is not worth while: they are counted. */
static void
test_counted_only(void **state)
{
	struct st_limited f[] = {called(1000, 1)};
	(void)state;
	assert_int_equal(limit(f, N(f), 10000), ST_OK);
	assert_int_equal(f[0].every, 1000000000);
	assert_false(f[0].drops);
}

/* Counting alone costs 11,100 ticks, and 1100 are allowed: the one that is called most often goes,
 * and nothing is left for timing. 5000 are allowed: there is something. */
static void
test_dropped(void **state)
{
	struct st_limited f[] = {called(100, 1), called(1000, 1), called(10, 1)};
	(void)state;
	assert_int_equal(limit(f, N(f), 1100), ST_OK);
	assert_true(f[1].drops);
	assert_false(f[0].drops || f[2].drops);
	assert_true(f[0].every > 1000);
	f[0].every = f[1].every = f[2].every = 1;
	f[1].drops = false;
	assert_int_equal(limit(f, N(f), 5000), ST_OK);
	assert_true(f[1].drops);
	assert_int_equal(f[0].every, 1);
	f[1].gone = true;
	f[1].drops = false;
	assert_int_equal(limit(f, N(f), 5000), ST_OK);
	assert_false(f[1].drops);
}

/* There is a debt to be made up for, which is no reason to drop what can be counted. */
static void
test_debt(void **state)
{
	struct st_limited f[] = {called(100, 1), called(1000, 1)};
	(void)state;
	assert_int_equal(st_limit(f, N(f), &costs, 5500, 11000), ST_OK);
	assert_false(f[0].drops || f[1].drops);
	assert_true(f[0].every > 1000 && f[1].every > 1000);
}

/* What is only counted costs that, and is dropped as others are. */
static void
test_only_counted(void **state)
{
	struct st_limited f[] = {called(1000, 0), called(100, 1)};
	(void)state;
	assert_int_equal(limit(f, N(f), 13000), ST_OK);
	assert_int_equal(f[0].every, 0);
	assert_int_equal(f[1].every, 1);
	assert_int_equal(limit(f, N(f), 9999), ST_OK);
	assert_true(f[0].drops);
}

/* 200 calls are to be timed: with one of 5 and 950 or 1050 calls it stays, with 1200 it changes. */
static void
test_slack(void **state)
{
	struct st_limited f[1];
	(void)state;
	for (uint64_t calls = 900; calls <= 1300; calls += 50) {
		f[0] = called(calls, 5);
		assert_int_equal(limit(f, 1, (double)calls * 10 + 200 * 20 + 0.001), ST_OK);
		assert_int_equal(f[0].every, calls >= 1150 ? (calls + 199) / 200 : 5);
	}
}

/* Fewer calls: back to all of them, by halves. And not below what the user has asked for. */
static void
test_back(void **state)
{
	struct st_limited f[] = {called(10, 9), called(10, 9)};
	(void)state;
	f[1].least = 4;
	static const uint32_t expected[][2] = {{4, 4}, {2, 4}, {1, 4}, {1, 4}};
	for (size_t i = 0; i < N(expected); i++) {
		assert_int_equal(limit(f, N(f), 10000), ST_OK);
		assert_int_equal(f[0].every, expected[i][0]);
		assert_int_equal(f[1].every, expected[i][1]);
	}
}

/* Whatever is allowed, the calls that were there would cost no more than a tenth more. */
static void
test_cost(void **state)
{
	uint64_t seed = 1;
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct st_limited f[20];
		double counting = 0, cost = 0;
		for (size_t i = 0; i < N(f); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			f[i] = called(seed >> 40 >> (seed >> 33) % 24, 1);
			counting += (double)f[i].calls * costs.counted;
		}
		const double allowed = counting * (double)(round % 40) / 10;
		assert_int_equal(limit(f, N(f), allowed), ST_OK);
		for (size_t i = 0; i < N(f); i++)
			if (!f[i].drops)
				cost += (double)f[i].calls *
				        (costs.counted +
				         (costs.timed - costs.counted) / f[i].every);
		assert_true(cost <= allowed * 1.000001);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_all_timed),    cmocka_unit_test(test_most_called_are_sampled),
	        cmocka_unit_test(test_counted_only), cmocka_unit_test(test_dropped),
	        cmocka_unit_test(test_only_counted), cmocka_unit_test(test_debt),
	        cmocka_unit_test(test_slack),        cmocka_unit_test(test_back),
	        cmocka_unit_test(test_cost)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
