/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of all calls when the share of those that are timed has changed, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/estimate.h"
#include "probe/strata.h"

static void
time_calls(struct st_probe_cell *c, uint64_t n, uint64_t ticks)
{
	c->calls += n;
	c->inclusive += n * ticks;
	c->squares[1] += __builtin_add_overflow(c->squares[0], n * ticks * ticks, &c->squares[0]);
}

static void
time_pair(struct st_probe_pair *p, uint64_t timed, uint64_t counted, uint64_t ticks)
{
	p->calls += timed;
	p->counted += counted;
	p->inclusive += timed * ticks;
	p->outermost += timed * ticks;
}

/* 10 calls of 100 ticks, all timed; then 1000 of 20, of which 10 are timed: 21,000 in all, not
 * 1010 times the mean of 60. */
static void
test_each_stretch_by_itself(void **state)
{
	struct st_probe_pair p = {0};
	(void)state;
	time_pair(&p, 10, 0, 100);
	st_probe_close_pair(&p);
	assert_true(p.closed.all_inclusive == 1000);
	time_pair(&p, 10, 990, 20);
	st_probe_close_pair(&p);
	assert_true(p.closed.all_inclusive == 21000 && p.closed.all_outermost == 21000);
	assert_int_equal(p.closed.calls, 20);
	assert_int_equal(p.closed.counted, 990);
}

/* Of 95 calls one is timed, which took long because it was interrupted: it stands for itself, and
 * the others for calls like the 5 that are timed then. */
static void
test_settled(void **state)
{
	struct st_probe_pair p = {0};
	struct st_probe_cell c = {.counted = 94};
	(void)state;
	time_pair(&p, 1, 94, 5000);
	st_probe_settle_pair(&p);
	assert_true(p.closed.all_inclusive == 5000 && p.closed.all_outermost == 5000);
	time_pair(&p, 5, 0, 10);
	st_probe_close_pair(&p);
	assert_true(p.closed.all_inclusive == 5000 + 990);
	time_calls(&c, 1, 5000);
	st_probe_settle_cell(&c);
	time_calls(&c, 5, 10);
	st_probe_close_cell(&c);
	assert_true(c.closed.variance == 0);
	assert_int_equal(c.closed.calls + c.closed.counted, 100);
}

/* Of 5 calls none is timed before the share changes: they are taken for calls like the 5 that
 * follow, of which one is. */
static void
test_too_few(void **state)
{
	struct st_probe_pair p = {0};
	(void)state;
	time_pair(&p, 0, 5, 0);
	st_probe_close_pair(&p);
	assert_int_equal(p.closed.counted, 0);
	time_pair(&p, 1, 4, 30);
	st_probe_close_pair(&p);
	assert_true(p.closed.all_inclusive == 300);
	st_probe_close_pair(&p); /* nothing has happened */
	assert_true(p.closed.all_inclusive == 300);
}

/* Net times may come out below zero. */
static void
test_negative(void **state)
{
	struct st_probe_pair p = {0};
	(void)state;
	time_pair(&p, 2, 2, (uint64_t)-3);
	st_probe_close_pair(&p);
	assert_true(p.closed.all_inclusive == -12);
}

/* The errors of stretches do not depend on each other. */
static void
test_errors(void **state)
{
	struct st_probe_cell c = {0};
	(void)state;
	assert_true(st_probe_cell_error(&c) < 0);
	time_calls(&c, 1, 10);
	assert_true(st_probe_cell_error(&c) < 0);
	time_calls(&c, 1, 30);
	assert_true(st_probe_cell_error(&c) == 0); /* all were timed */
	st_probe_close_cell(&c);
	time_calls(&c, 2, 10);
	time_calls(&c, 2, 14);
	c.counted += 96;
	const double first = st_sum_error(100, 4, 48, 592);
	assert_true(fabs(st_probe_cell_error(&c) - first) < 1e-6);
	st_probe_close_cell(&c);
	assert_true(fabs(st_probe_cell_error(&c) - first) < 1e-6);
	time_calls(&c, 1, 100);
	time_calls(&c, 1, 200);
	c.counted += 8;
	const double second = st_sum_error(10, 2, 300, 50000);
	assert_true(fabs(st_probe_cell_error(&c) - hypot(first, second)) < 1e-6);
}

/* Of the last stretch nothing was timed: its 10 calls may be any of those that were. */
static void
test_error_of_untimed(void **state)
{
	struct st_probe_cell c = {0};
	(void)state;
	time_calls(&c, 1, 10);
	time_calls(&c, 1, 30);
	st_probe_close_cell(&c);
	c.counted += 10;
	assert_true(fabs(st_probe_cell_error(&c) - 1.96 * 10 * sqrt(200)) < 1e-6);
}

/* The sum of squares has 128 bits. */
static void
test_long_calls(void **state)
{
	struct st_probe_cell c = {0};
	const uint64_t ticks = 1ull << 32;
	(void)state;
	for (int i = 0; i < 4; i++) {
		c.calls++;
		c.inclusive += ticks + (uint64_t)i % 2;
		c.squares[1]++; /* 2^64, and what is not worth mentioning */
	}
	c.counted = 4;
	st_probe_close_cell(&c);
	assert_int_equal(c.closed.squares[1], 4);
	assert_true(c.closed.variance >= 0 && c.closed.variance < 0x1p64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_stretch_by_itself),
	                                   cmocka_unit_test(test_too_few),
	                                   cmocka_unit_test(test_settled),
	                                   cmocka_unit_test(test_negative),
	                                   cmocka_unit_test(test_errors),
	                                   cmocka_unit_test(test_error_of_untimed),
	                                   cmocka_unit_test(test_long_calls)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
