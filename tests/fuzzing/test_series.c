/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The moments of a campaign. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "fuzz/series.h"

static void
add(struct st_fuzz_series *s, double seconds, size_t executions, bool last)
{
	const struct st_fuzz_moment m = {.seconds = seconds, .executions = executions};
	assert_false(st_fuzz_series_add(s, &m, last));
}

static void
one_for_each_second(void **state)
{
	struct st_fuzz_series s = {0};
	(void)state;
	for (size_t i = 0; i <= 20; i++)
		add(&s, (double)i / 4, i, false);
	assert_int_equal(s.list.n, 6);
	assert_int_equal(s.list.v[5].executions, 20);
	add(&s, 5, 20, true); /* it is there */
	assert_int_equal(s.list.n, 6);
	add(&s, 5.25, 21, true);
	assert_int_equal(s.list.n, 7);
	free(s.list.v);
}

/* A long campaign has fewer moments for each second, and never more than 2000. */
static void
long_campaigns(void **state)
{
	struct st_fuzz_series s = {0};
	(void)state;
	for (size_t i = 0; i < 10000; i++)
		add(&s, (double)i, i, false);
	assert_in_range(s.list.n, 1000, 2000);
	assert_true(s.step == 8);
	assert_int_equal(s.list.v[0].executions, 0);
	for (size_t i = 1; i < s.list.n; i++)
		assert_int_equal(s.list.v[i].executions, 8 * i);
	free(s.list.v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(one_for_each_second),
	                                   cmocka_unit_test(long_campaigns)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
