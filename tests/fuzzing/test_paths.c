/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coverage by paths of the call graph: what the seeds do, and how an execution grew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "fuzz/paths.h"

static void
near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-12);
}

#define COUNTS(v) ((const struct st_fuzz_path_counts){v, sizeof(v) / sizeof *(v), 0})

static void
base_is_the_median_of_the_seeds(void **state)
{
	struct st_fuzz_path_count a[] = {{0, 1, 1000}, {2, 10, 4000}},
	                          b[] = {{0, 1, 3000}, {1, 4, 200}, {2, 30, 2000}},
	                          c[] = {{0, 1, 2000}};
	const struct st_fuzz_path_counts counts[] = {COUNTS(a), COUNTS(b), COUNTS(c)};
	const struct st_fuzz_path_counts *const seeds[] = {&counts[0], &counts[1], &counts[2]};
	struct st_fuzz_paths_base base = {0};
	(void)state;
	assert_false(st_fuzz_paths_base_set(&base, seeds, 3));
	assert_int_equal(base.list.n, 3);
	assert_int_equal(base.list.v[0].instructions, 2000);
	assert_int_equal(base.list.v[1].calls, 0); /* two of three have not been there */
	assert_int_equal(base.list.v[2].calls, 10);
	assert_int_equal(base.list.v[2].instructions, 2000);
	near(base.more_calls, 1); /* a thousandth of 11 is less */
	near(base.more_instructions, 4);
	assert_false(st_fuzz_paths_base_set(&base, seeds, 2)); /* of two: their mean */
	assert_int_equal(base.list.v[0].instructions, 2000);
	assert_int_equal(base.list.v[1].calls, 2);
	assert_int_equal(base.list.v[2].calls, 20);
	st_fuzz_paths_base_free(&base);
}

/* Of 1,001,000 instructions, a loop has 1000; it grows ten times, the sum by less than 1 %. */
static void
local_growth_beside_a_large_constant_part(void **state)
{
	struct st_fuzz_path_count seed[] = {{0, 1, 1000000}, {1, 1, 1000}},
	                          grown[] = {{0, 1, 1000000}, {1, 1, 10000}};
	const struct st_fuzz_path_counts counts = COUNTS(seed), now = COUNTS(grown);
	const struct st_fuzz_path_counts *const seeds[] = {&counts};
	struct st_fuzz_paths_base base = {0};
	(void)state;
	assert_false(st_fuzz_paths_base_set(&base, seeds, 1));
	struct st_fuzz_growth growth = st_fuzz_paths_growth(&base, &now, &counts);
	near(growth.most, (10000 + 1001) / (1000 + 1001.));
	near(growth.beyond, growth.most);
	assert_int_equal(growth.path, 1);
	near(growth.score, ((1 + 1) / 2. + (1 + growth.most) / 2) / 2);
	/* The same again, but its parent did as much: the path did not grow beyond it. */
	growth = st_fuzz_paths_growth(&base, &now, &now);
	near(growth.beyond, 0);
	assert_int_equal(growth.path, 1); /* of the greatest ratio */
	/* The seed itself. */
	growth = st_fuzz_paths_growth(&base, &counts, NULL);
	near(growth.most, 1);
	near(growth.score, 1);
	st_fuzz_paths_base_free(&base);
}

static void
paths_that_the_seeds_do_not_have(void **state)
{
	struct st_fuzz_path_count seed[] = {{0, 2, 50}}, other[] = {{3, 5, 8}};
	const struct st_fuzz_path_counts counts = COUNTS(seed), now = COUNTS(other);
	const struct st_fuzz_path_counts *const seeds[] = {&counts};
	struct st_fuzz_paths_base base = {0};
	(void)state;
	assert_false(st_fuzz_paths_base_set(&base, seeds, 1));
	const struct st_fuzz_growth growth = st_fuzz_paths_growth(&base, &now, &counts);
	near(growth.most, 9); /* (8 + 1) / (0 + 1) */
	assert_int_equal(growth.path, 3);
	/* calls 1/3 and 6/1, instructions 1/51 and 9/1 */
	near(growth.score, (1 / 3. + 6 + 1 / 51. + 9) / 4);
	/* Nothing at all. */
	const struct st_fuzz_growth none =
	        st_fuzz_paths_growth(&base, &(struct st_fuzz_path_counts){0}, NULL);
	near(none.most, 1 / 3.);
	near(none.beyond, 0);
	st_fuzz_paths_base_free(&base);
}

/* Calls and instructions are two vectors: growth in one of them is enough. */
static void
growth_of_calls_alone(void **state)
{
	struct st_fuzz_path_count seed[] = {{0, 1, 10000}, {1, 10, 100}},
	                          grown[] = {{0, 1, 10000}, {1, 43, 90}};
	const struct st_fuzz_path_counts counts = COUNTS(seed), now = COUNTS(grown);
	const struct st_fuzz_path_counts *const seeds[] = {&counts};
	struct st_fuzz_paths_base base = {0};
	(void)state;
	assert_false(st_fuzz_paths_base_set(&base, seeds, 1));
	const struct st_fuzz_growth growth = st_fuzz_paths_growth(&base, &now, &counts);
	near(growth.beyond, 4); /* (43 + 1) / (10 + 1) */
	assert_int_equal(growth.path, 1);
	st_fuzz_paths_base_free(&base);
}

static void
numbers_of_paths(void **state)
{
	struct st_fuzz_places places = {0};
	const struct st_fuzz_path root = {ST_HASHMAP_NONE, {0, 16}}, child = {0, {0, 16}},
	                          other = {0, {1, 16}};
	(void)state;
	assert_int_equal(st_fuzz_path_number(&places, root), 0);
	assert_int_equal(st_fuzz_path_number(&places, child), 1);
	assert_int_equal(st_fuzz_path_number(&places, other), 2);
	assert_int_equal(st_fuzz_path_number(&places, child), 1);
	assert_int_equal(places.paths.n, 3);
	st_fuzz_places_free(&places);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(base_is_the_median_of_the_seeds),
	        cmocka_unit_test(local_growth_beside_a_large_constant_part),
	        cmocka_unit_test(paths_that_the_seeds_do_not_have),
	        cmocka_unit_test(growth_of_calls_alone),
	        cmocka_unit_test(numbers_of_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
