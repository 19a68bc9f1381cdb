/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a budget has been granted when so much of a period is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/budget/bursts.h"

enum { AMOUNT = 100007, PERIOD = 1000000 };

static void
one_window_has_it_all(void **state)
{
	(void)state;
	for (uint32_t bursts = 0; bursts < 2; bursts++)
		for (uint64_t passed = 0; passed < PERIOD; passed += 999)
			assert_int_equal(bursts_due(AMOUNT, bursts, PERIOD, passed, passed),
			                 AMOUNT);
}

static void
the_first_begins_at_once(void **state)
{
	(void)state;
	for (uint32_t bursts = 2; bursts < 300; bursts++)
		assert_int_equal(bursts_due(AMOUNT, bursts, PERIOD, 0, 0), AMOUNT / bursts);
}

/* Each in the first half of its stretch, and all of the amount with the last. */
static void
each_begins_in_its_stretch(void **state)
{
	(void)state;
	for (uint64_t number = 0; number < 50; number++)
		for (uint32_t bursts = 2; bursts < 60; bursts++) {
			const uint64_t stretch = PERIOD / bursts;
			for (uint32_t k = 0; k < bursts; k++) {
				int64_t before = AMOUNT / bursts * k,
				        after = before + AMOUNT / bursts;
				uint64_t half = k * stretch + stretch / 2;
				assert_int_equal(bursts_due(AMOUNT, bursts, PERIOD, number, half),
				                 k + 1 == bursts ? AMOUNT : after);
				if (k)
					assert_int_equal(bursts_due(AMOUNT, bursts, PERIOD, number,
					                            k * stretch - 1),
					                 before);
			}
			assert_int_equal(bursts_due(AMOUNT, bursts, PERIOD, number, PERIOD - 1),
			                 AMOUNT);
		}
}

static uint64_t
begin_of(uint64_t number)
{
	uint64_t passed = 0;
	while (!bursts_due(AMOUNT, 2, PERIOD, number, passed))
		passed++;
	return passed;
}

/* The first bursts of 64 periods: no two of them closer than a 256th of where they may begin. */
static void
no_two_begin_together(void **state)
{
	uint64_t begins[64];
	(void)state;
	for (uint64_t i = 0; i < 64; i++) {
		begins[i] = begin_of(i);
		assert_true(begins[i] < PERIOD / 4);
		for (uint64_t k = 0; k < i; k++) {
			int64_t apart = (int64_t)(begins[i] - begins[k]);
			assert_true((apart < 0 ? -apart : apart) > PERIOD / 4 / 256);
		}
	}
}

/* The longest period, the largest amount, the shortest stretches. */
static void
nothing_overflows(void **state)
{
	const uint64_t hour = 3600000000000, stretch = hour / 450000;
	const int64_t most = INT64_C(3600) * 5000000000 * 16;
	(void)state;
	assert_int_equal(bursts_due(most, 450000, hour, UINT32_MAX, hour - 1), most);
	assert_int_equal(bursts_due(most, 450000, hour, UINT32_MAX, hour - stretch - 1),
	                 most / 450000 * 449999);
	assert_int_equal(bursts_due(most, 2, hour, 7, hour / 4), most / 2);
	assert_int_equal(bursts_due(most, 2, hour, 7, hour - 1), most);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_window_has_it_all),
	        cmocka_unit_test(the_first_begins_at_once),
	        cmocka_unit_test(each_begins_in_its_stretch),
	        cmocka_unit_test(no_two_begin_together),
	        cmocka_unit_test(nothing_overflows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
