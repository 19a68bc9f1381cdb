/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of all calls from those of some, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/estimate.h"
#include "trace/estimate.h"

static void
add_function(struct st_trace *t, uint64_t calls, uint64_t counted, uint64_t ns)
{
	struct st_trace_function *f = ST_PUSH(&t->functions);
	assert_non_null(f);
	*f = (struct st_trace_function){
	        .name = "f", .calls = calls, .counted = counted, .inclusive_ns = ns};
}

static void
add_pair(struct st_trace *t, uint32_t caller, uint32_t callee, uint64_t calls, uint64_t counted,
         uint64_t ns)
{
	struct st_trace_pair *pair = ST_PUSH(&t->pairs);
	assert_non_null(pair);
	*pair = (struct st_trace_pair){.caller = caller,
	                               .callee = callee,
	                               .calls = calls,
	                               .counted = counted,
	                               .inclusive_ns = ns,
	                               .outermost_ns = caller == callee ? 0 : ns};
}

static void
assert_times(const struct st_trace_function *f, uint64_t inclusive, uint64_t outermost,
             uint64_t exclusive)
{
	assert_int_equal(f->inclusive_ns, inclusive);
	assert_int_equal(f->outermost_ns, outermost);
	assert_int_equal(f->exclusive_ns, exclusive);
}

/* 0 calls 1 ten times, of which two are timed, and 2 ten times, of which none is; 1 calls 2 thirty
 * times, of which four are timed. The numbers before, of another thread, stay. */
static void
test_pairs(void **state)
{
	struct st_trace t = {0};
	(void)state;
	add_function(&t, 1, 0, 77);
	add_pair(&t, ST_TRACE_NOBODY, 0, 1, 0, 77);
	add_function(&t, 1, 0, 10000);
	add_function(&t, 10, 8, 400);
	add_function(&t, 40, 36, 40);
	add_pair(&t, ST_TRACE_NOBODY, 1, 1, 0, 10000);
	add_pair(&t, 1, 2, 10, 8, 400);
	add_pair(&t, 1, 3, 10, 10, 0);
	add_pair(&t, 2, 3, 30, 26, 40);
	assert_int_equal(st_trace_estimate(&t, 1, 1), ST_OK);
	assert_times(&t.functions.v[0], 77, 0, 0);
	assert_times(&t.functions.v[1], 10000, 0, 10000 - 2000 - 100);
	assert_times(&t.functions.v[2], 2000, 2000, 2000 - 300);
	assert_times(&t.functions.v[3], 400, 400, 400);
	assert_int_equal(t.pairs.v[3].inclusive_ns, 100);
	st_trace_free(&t);
}

/* What a recursive function calls of itself is not its total, and is no loss of its own time. */
static void
test_recursion(void **state)
{
	struct st_trace t = {0};
	(void)state;
	add_function(&t, 21, 18, 900);
	add_pair(&t, ST_TRACE_NOBODY, 0, 1, 0, 500);
	add_pair(&t, 0, 0, 20, 18, 400);
	assert_int_equal(st_trace_estimate(&t, 0, 0), ST_OK);
	assert_times(&t.functions.v[0], 4500, 500, 500);
	st_trace_free(&t);
}

/* 1010 calls, of which the first 10 took 1000 ns, and of the others two were timed, with 40 ns. */
static void
test_earlier(void **state)
{
	struct st_trace t = {0};
	(void)state;
	add_function(&t, 1010, 998, 1040);
	add_pair(&t, ST_TRACE_NOBODY, 0, 1010, 998, 40);
	t.pairs.v[0].earlier = (struct st_trace_earlier){
	        .calls = 10, .counted = 0, .inclusive_ns = 1000, .outermost_ns = 1000};
	assert_int_equal(st_trace_estimate(&t, 0, 0), ST_OK);
	assert_times(&t.functions.v[0], 21000, 21000, 21000);
	st_trace_free(&t);
}

/* Of 100 calls 4 are timed: 10, 10, 14, 14. Variance 16/3, error of the mean sqrt(16/3/4 * 0.96).
 */
static void
test_error(void **state)
{
	(void)state;
	assert_true(fabs(st_sum_error(100, 4, 48, 592) - 1.96 * 100 * 1.13137085) < 1e-4);
	assert_true(st_sum_error(4, 4, 48, 592) == 0);
	assert_true(st_sum_error(1000, 100, 5000, 250000) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_pairs), cmocka_unit_test(test_recursion),
	        cmocka_unit_test(test_earlier), cmocka_unit_test(test_error)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
