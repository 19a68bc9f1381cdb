/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the first window of a run with a log of executed code begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/unique.h"

#define MS 1000000ull

static void
sweeps_from_the_start(void **state)
{
	(void)state;
	struct st_codelog_past past = {0};
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 0);
	past = (struct st_codelog_past){.runs = 1,
	                                .own_cpu_ns = 5000 * MS,
	                                .sweeps = 1,
	                                .swept_ns = 90 * MS,
	                                .grows = true};
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 56 * MS);
	past.runs = 7; /* how many there were does not matter */
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 56 * MS);
}

/* What fell between two windows is found then. */
static void
sweeps_once_more(void **state)
{
	(void)state;
	struct st_codelog_past past = {
	        .runs = 3, .own_cpu_ns = 5000 * MS, .sweeps = 1, .swept_ns = 90 * MS};
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 0);
	past.sweeps = 2;
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 750 * MS);
}

static void
spreads_when_nothing_is_found(void **state)
{
	(void)state;
	static const uint64_t parts[] = {0, 500, 250, 750, 125, 625, 375, 875};
	struct st_codelog_past past = {.own_cpu_ns = 5000 * MS, .sweeps = 2, .swept_ns = 90 * MS};
	for (past.runs = 0; past.runs < 8; past.runs++)
		assert_int_equal(st_unique_first(&past, 1000 * MS, false), parts[past.runs] * MS);
}

static void
stays_within_the_run(void **state)
{
	(void)state;
	struct st_codelog_past past = {
	        .runs = 1, .own_cpu_ns = 50 * MS, .sweeps = 1, .swept_ns = 90 * MS, .grows = true};
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 0);
	past.own_cpu_ns = 5000 * MS;
	past.swept_ns = 1800 * MS; /* windows come again in each period */
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 0);
	past.swept_ns = 2 * MS; /* less than a tick */
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 0);
	past = (struct st_codelog_past){.runs = 1, .own_cpu_ns = 50 * MS, .sweeps = 2};
	assert_int_equal(st_unique_first(&past, 1000 * MS, false), 25 * MS); /* of 50 */
}

/* What is new anywhere in a run, if it is long enough to be looked at. */
static void
watches_two_of_three(void **state)
{
	(void)state;
	struct st_codelog_past past = {.runs = 10,
	                               .own_cpu_ns = 5000 * MS,
	                               .sweeps = 1,
	                               .swept_ns = 90 * MS,
	                               .grows = true};
	for (past.own_runs = 1; past.own_runs < 9; past.own_runs++)
		assert_int_equal(st_unique_first(&past, 125 * MS, true),
		                 past.own_runs % 3 ? ST_WATCHES_AT_ONCE : 56 * MS);
	past.own_runs = 0; /* a program that the log has nothing of */
	assert_int_equal(st_unique_first(&past, 125 * MS, true), 56 * MS);
	past.own_runs = 1;
	past.own_cpu_ns = 4000 * MS; /* four periods */
	assert_int_equal(st_unique_first(&past, 125 * MS, true), 56 * MS);
	past = (struct st_codelog_past){0};
	assert_int_equal(st_unique_first(&past, 125 * MS, true), 0);
}

static void
periods_follow_the_program(void **state)
{
	(void)state;
	struct st_codelog_past past = {0};
	assert_int_equal(st_unique_period(&past, 1000 * MS), 1000 * MS);
	past.own_cpu_ns = 2400 * MS;
	assert_int_equal(st_unique_period(&past, 1000 * MS), 200 * MS);
	past.own_cpu_ns = 100 * MS;
	assert_int_equal(st_unique_period(&past, 1000 * MS), 50 * MS);
	assert_int_equal(st_unique_period(&past, 20 * MS), 20 * MS);
	past.own_cpu_ns = 60000 * MS;
	assert_int_equal(st_unique_period(&past, 1000 * MS), 1000 * MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(periods_follow_the_program),
	        cmocka_unit_test(sweeps_from_the_start),
	        cmocka_unit_test(sweeps_once_more),
	        cmocka_unit_test(spreads_when_nothing_is_found),
	        cmocka_unit_test(stays_within_the_run),
	        cmocka_unit_test(watches_two_of_three),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
