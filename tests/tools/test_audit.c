/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a stretch of measuring is taken to have cost, by the account and by the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/tool/audit.h"

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
	assert_int_equal(audit_cost(3 * MANY, MANY, 0, &few), MANY);
	assert_int_equal(audit_cost(0, MANY, 0, &r), MANY);
	assert_int_equal(audit_cost(-5, MANY, 0, &r), MANY);
	assert_int_equal(audit_cost(MANY, MANY, MANY, &r), MANY); /* by the clock, all of it */
	assert_int_equal(audit_cost(MANY, -7, 0, &r), -7);
}

/* Native time is next to nothing: the clock decides. */
static void
dear_tools(void **state)
{
	(void)state;
	struct audit_rate r = rate_of(10000, 1);
	for (int64_t used = MANY / 2 + MANY / 100; used < 2 * MANY; used += MANY / 50) {
		int64_t cost = audit_cost(used, MANY, 0, &r);
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
		int64_t cost = audit_cost(used, MANY, 0, &r);
		assert_true(cost > MANY - MANY / 20 && cost < MANY + MANY / 20);
	}
}

static void
never_beyond_four_times(void **state)
{
	(void)state;
	struct audit_rate r = rate_of(100, 10);
	assert_int_equal(audit_cost((int64_t)100 * MANY, MANY, 0, &r), 4 * MANY);
	assert_int_equal(audit_cost(1, MANY, 0, &r), MANY / 2);
	/* With hours of it, nothing overflows. */
	assert_int_equal(audit_cost((int64_t)1 << 54, (int64_t)1 << 48, 0, &r), (int64_t)1 << 50);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_rate_is_the_mean),  cmocka_unit_test(odd_samples),
	        cmocka_unit_test(unknown_is_as_charged), cmocka_unit_test(dear_tools),
	        cmocka_unit_test(cheap_tools),           cmocka_unit_test(never_beyond_four_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
