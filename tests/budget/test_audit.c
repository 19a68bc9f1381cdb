/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a stretch of measuring is taken to have cost, by the account and by the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/budget/audit.h"

enum { MANY = 1 << 26 };

static struct audit_rate
rate_of(uint32_t amount, uint32_t insns)
{
	struct audit_rate r = {0};
	for (unsigned i = 0; i < 2 * AUDIT_MOST_SAMPLES; i++)
		audit_sample(&r, audit_pack(amount, insns));
	return r;
}

static void
the_rate_is_the_mean(void **state)
{
	(void)state;
	struct audit_rate r = rate_of(64, 16);
	assert_int_equal(r.mean, 65536 / 4);
	assert_int_equal(r.samples, AUDIT_MOST_SAMPLES);
	struct audit_rate two = {0};
	audit_sample(&two, audit_pack(64, 16));
	audit_sample(&two, audit_pack(64, 48));
	assert_int_equal(two.mean, 65536 / 2);
}

/* A block without a charge says nothing; numbers too large for the word are its largest. */
static void
odd_samples(void **state)
{
	(void)state;
	struct audit_rate r = {0};
	audit_sample(&r, 0);
	audit_sample(&r, audit_pack(0, 7));
	assert_int_equal(r.samples, 0);
	audit_sample(&r, audit_pack(UINT32_MAX, UINT32_MAX));
	assert_int_equal(r.mean, (4095u << 16) / ((1 << 20) - 1));
	audit_sample(&r, audit_pack(1, 4095));
	assert_int_equal(r.samples, 2);
}

static void
unknown_is_as_charged(void **state)
{
	(void)state;
	struct audit_rate few = {.mean = 1000, .samples = AUDIT_LEAST_SAMPLES - 1},
	                  r = rate_of(64, 16);
	assert_int_equal(audit_cost(3 * MANY, MANY, 0, &few, 0), MANY);
	assert_int_equal(audit_cost(0, MANY, 0, &r, 0), MANY);
	assert_int_equal(audit_cost(-5, MANY, 0, &r, 0), MANY);
	assert_int_equal(audit_cost(MANY, MANY, MANY, &r, 0), MANY); /* by the clock, all of it */
	assert_int_equal(audit_cost(MANY, -7, 0, &r, 0), -7);
}

/* Native time is next to nothing: the clock decides. */
static void
dear_tools(void **state)
{
	(void)state;
	struct audit_rate r = rate_of(10000, 1);
	for (int64_t used = MANY / 2 + MANY / 100; used < 2 * MANY; used += MANY / 50) {
		int64_t cost = audit_cost(used, MANY, 0, &r, 0);
		assert_true(cost > used - used / 200 && cost < used + used / 200);
	}
}

/* Native time is nearly everything: the model decides. */
static void
cheap_tools(void **state)
{
	(void)state;
	struct audit_rate r = rate_of(1, 16);
	const int64_t native = (int64_t)MANY * 16 * AUDIT_NATIVE;
	for (int64_t used = native / 2; used < 2 * native; used += native / 50) {
		int64_t cost = audit_cost(used, MANY, 0, &r, 0);
		assert_true(cost > MANY - MANY / 20 && cost < MANY + MANY / 20);
	}
}

static void
never_beyond_four_times(void **state)
{
	(void)state;
	struct audit_rate r = rate_of(100, 10);
	assert_int_equal(audit_cost((int64_t)100 * MANY, MANY, 0, &r, 0), 4 * MANY);
	assert_int_equal(audit_cost(1, MANY, 0, &r, 0), MANY / 2);
	/* With hours of it, nothing overflows. */
	assert_int_equal(audit_cost((int64_t)1 << 54, (int64_t)1 << 48, 0, &r, 0),
	                 (int64_t)1 << 50);
}

/* A program whose instructions take 20 sixteenths of a tick natively, 1000 of them and 5000 of the
 * kernel from call to call. */
static struct audit_work
work_of(uint64_t calls)
{
	struct audit_work w = {0};
	for (uint64_t i = 0; i < calls; i += 64) {
		audit_learn_native(&w, 64 * 25000, 64);
		audit_learn_seen(&w, 64, 64 * 5000, 64000);
	}
	return w;
}

static void
native_time_by_calls(void **state)
{
	(void)state;
	struct audit_work none = {0}, few = work_of(AUDIT_LEAST_CALLS - 64),
	                  some = work_of(AUDIT_LEAST_CALLS),
	                  many = work_of((uint64_t)10 * AUDIT_MOST_CALLS), seldom = some,
	                  dear = some, cheap = some;
	assert_int_equal(audit_native(&none), 0);
	assert_int_equal(audit_native(&few), 0);
	assert_int_equal(audit_native(&some), 20 * AUDIT_FRACTION);
	assert_true(many.native_calls <= AUDIT_MOST_CALLS + 64);
	assert_in_range(audit_native(&many), 20 * AUDIT_FRACTION - 1, 20 * AUDIT_FRACTION + 1);
	seldom.native = seldom.native_calls * (AUDIT_SELDOM + 1);
	assert_int_equal(audit_native(&seldom), 0);
	/* Less than any program's, and more. */
	cheap.native = cheap.native_calls * 9000;
	assert_int_equal(audit_native(&cheap), 0);
	dear.native = dear.native_calls * 38000;
	assert_int_equal(audit_native(&dear), 0);
	/* What is forgotten is forgotten of both: natively it may be another phase by now. */
	for (uint64_t i = 0; i < (uint64_t)10 * AUDIT_MOST_CALLS; i += 64)
		audit_learn_native(&some, 64 * 50000, 64);
	assert_true(some.seen_calls < AUDIT_LEAST_CALLS);
	assert_int_equal(audit_native(&some), 0);
}

static void
stretches_are_alike(void **state)
{
	(void)state;
	const struct audit_work none = {0}, w = work_of(AUDIT_LEAST_CALLS); /* a call each 1000 */
	assert_true(audit_is_alike(&w, 20, 20000));
	assert_true(audit_is_alike(&w, 10, 20000));
	assert_true(audit_is_alike(&w, 40, 20000));
	assert_false(audit_is_alike(&w, 9, 20000));
	assert_false(audit_is_alike(&w, 41, 20000));
	assert_false(audit_is_alike(&w, 7, 7000));
	assert_false(audit_is_alike(&w, 0, 0));
	assert_false(audit_is_alike(&none, 20, 20000));
}

/* Where tools do little the clock decides too, if it is known what the program's work takes. */
static void
cheap_tools_and_calls(void **state)
{
	(void)state;
	struct audit_rate r = rate_of(1, 1);
	const int64_t each = 20, native = each * MANY;
	for (int64_t cost = MANY + MANY / 8; cost < 3 * MANY; cost += MANY / 4) {
		int64_t found = audit_cost(native + cost, MANY, 0, &r, each * AUDIT_FRACTION);
		assert_true(found > MANY && found <= cost);
	}
	/* It never makes less of what was charged than what is not known does. */
	for (int64_t used = native / 8; used < native + MANY; used += native / 50)
		assert_int_equal(audit_cost(used, MANY, 0, &r, each * AUDIT_FRACTION),
		                 audit_cost(used, MANY, 0, &r, 0));
	/* A tool that does more: three times what was charged. */
	struct audit_rate spread = rate_of(10, 1);
	int64_t insns = MANY / 10, found;
	found = audit_cost(each * insns + 3 * MANY, MANY, 0, &spread, each * AUDIT_FRACTION);
	assert_true(found > 3 * MANY - MANY / 4 && found < 3 * MANY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_rate_is_the_mean),  cmocka_unit_test(odd_samples),
	        cmocka_unit_test(unknown_is_as_charged), cmocka_unit_test(dear_tools),
	        cmocka_unit_test(cheap_tools),           cmocka_unit_test(never_beyond_four_times),
	        cmocka_unit_test(native_time_by_calls),  cmocka_unit_test(stretches_are_alike),
	        cmocka_unit_test(cheap_tools_and_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
