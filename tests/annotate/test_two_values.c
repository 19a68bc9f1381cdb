/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests numbers with few values: a flag that the program keeps in an integer divides the records,
 * the clusters at few values make no law, and a bound is between two values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "laws.h"

static const struct st_ann_model *
only_model(const struct st_ann_annotation *a, size_t scope, const char *condition)
{
	assert_string_equal(laws_text(a->scopes.v[scope].condition, 0), condition);
	assert_int_equal(a->scopes.v[scope].models.n, 1);
	return &a->scopes.v[scope].models.v[0];
}

/* The condition names the values: nothing is known about a mode 2. */
static void
test_modes_are_named(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n,mode");
	for (int i = 0; i < 400; i++) {
		const int n = 1 + i / 2 % 40;
		laws_row(&l, "%d,%d,%d", i % 2 ? 7 * n * n : 100 + 12 * n, n, i % 2 ? 3 : 1);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.n, 2);
	assert_string_equal(laws_text(only_model(&a, 0, "mode == 1")->a, 0), "100 + 12 * n");
	assert_string_equal(laws_text(only_model(&a, 1, "mode == 3")->a, 0), "7 * n^2");
	st_ann_annotation_free(&a);
}

/* A number with two values remains a number: if it only adds to the cost, it is a term. */
static void
test_addition_remains_a_term(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n,slow");
	for (int i = 0; i < 400; i++)
		laws_row(&l, "%d,%d,%d", 10 + 5 * (i / 2 % 40) + 700 * (i % 2), i / 2 % 40, i % 2);
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.n, 1);
	assert_string_equal(laws_text(only_model(&a, 0, "")->a, 0), "10 + 5 * n + 700 * slow");
	st_ann_annotation_free(&a);
}

/* A feature with three values is divided by ranges, as before. */
static void
test_three_values_are_a_range(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n,mode");
	for (int i = 0; i < 600; i++) {
		const int n = 1 + i / 3 % 40;
		laws_row(&l, "%d,%d,%d", i % 3 == 2 ? 7 * n * n : 100 + 12 * n, n, 1 + i % 3);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.n, 2);
	assert_string_equal(laws_text(only_model(&a, 0, "mode <= 2")->a, 0), "100 + 12 * n");
	assert_string_equal(laws_text(only_model(&a, 1, "mode > 2")->a, 0), "7 * n^2");
	st_ann_annotation_free(&a);
}

/* Of the costs of a flag, 1.5 % are outliers. The law of each side remains, and no law of the flag
 * alone is made from the records that happen to be close to each other. */
static void
test_outliers_beside_a_flag(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,fast,n");
	for (int i = 0; i < 2000; i++) {
		const int fast = i % 2, n = 1 + i / 2 % 40;
		const double y = i % 67 == 5 ? 27000 + 300 * laws_normal()
		                             : (fast ? 10 : 300) * n + 5 * laws_normal();
		laws_row(&l, "%.17g,%d,%d", y, fast, n);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y");
	const struct st_ann_model *const slow = only_model(&a, 0, "fast == 0"),
	                                 *const fast = only_model(&a, 1, "fast == 1");
	assert_int_equal(a.scopes.n, 2);
	assert_true(fabs(laws_coefficients(slow->a).v[1] - 300) < 0.1);
	assert_true(fabs(laws_coefficients(fast->a).v[1] - 10) < 0.1);
	assert_true(slow->n > 960 && fast->n > 960);
	st_ann_annotation_free(&a);
}

/* Each of three values has a mode with 56 % of its records; a line goes near the three modes. Three
 * values do not confirm it. */
static void
test_clusters_at_three_values(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,level");
	for (int i = 0; i < 1500; i++) {
		const int level = i % 3, mode = i / 3 % 25;
		const double y = mode < 14 ? 1000 * level + 120 * (level == 1) : 40000 + 900 * mode;
		laws_row(&l, "%.17g,%d", y + laws_normal(), level);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y");
	for (size_t i = 0; i < a.scopes.n; i++)
		for (size_t k = 0; k < a.scopes.v[i].models.n; k++)
			assert_int_equal(a.scopes.v[i].models.v[k].selection, ST_ANN_PLAIN);
	st_ann_annotation_free(&a);
}

/* The condition of the scope that begins or ends at the bound of the only division. */
static void
check_bound(struct laws *l, const char *low, const char *high)
{
	struct st_ann_annotation a = laws_analyse(l, "y");
	assert_int_equal(a.scopes.n, 2);
	assert_string_equal(laws_text(only_model(&a, 0, low)->a, 0), "100 + 3 * n");
	assert_string_equal(laws_text(only_model(&a, 1, high)->a, 0), "7 * n^2");
	st_ann_annotation_free(&a);
}

/* A bound is in the middle between the values next to it, which are 420 and 490. */
static void
test_bound_is_in_the_middle(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 200; i++) {
		const int n = 70 * (i % 10);
		laws_row(&l, "%d,%d", n > 450 ? 7 * n * n : 100 + 3 * n, n);
	}
	check_bound(&l, "n <= 455", "n > 455");
}

/* The same for a branch, whose constant the records do not have. */
static void
test_bound_of_a_branch(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "#strobe-records,1\n#function,1,f\n#metric,1,y\n#feature,1,n\n"
	               "#branch,1,x.c:9");
	for (int i = 0; i < 200; i++) {
		const int n = 70 * (i % 10);
		laws_row(&l, "1,%d,%d,%d,#", n > 450 ? 7 * n * n : 100 + 3 * n, n, n > 450);
	}
	check_bound(&l, "n <= 455", "n > 455");
}

/* Sizes become rarer towards the largest ones: no distance of them is a hole without a model. */
static void
test_rare_large_sizes_leave_no_hole(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 300; i++) {
		const int n = i < 250 ? i : 250 + 20 * (i - 250) + (i > 270 ? 100 : 0);
		laws_row(&l, "%d,%d", n > 700 ? 7 * n * n : 100 + 3 * n, n);
	}
	check_bound(&l, "n <= 710", "n > 710");
}

/* Between two groups of sizes is a hole that is far wider than the distances within them. */
static void
test_hole_between_groups(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 300; i++) {
		const int n = i < 150 ? i : 850 + i;
		laws_row(&l, "%d,%d", n > 700 ? 7 * n * n : 100 + 3 * n, n);
	}
	check_bound(&l, "n <= 149", "n >= 1000");
}

/* Curves through three values on each side of 96 would fit as well as the law that changes at 384:
 * the six values determine it. */
static void
test_few_sizes_with_a_bound(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 168; i++) {
		const int n = 16 << i % 6;
		laws_row(&l, "%d,%d", n > 384 ? 100256 : 5 * n, n);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.n, 2);
	assert_string_equal(laws_text(only_model(&a, 0, "n <= 384")->a, 0), "5 * n");
	assert_string_equal(laws_text(only_model(&a, 1, "n > 384")->a, 0), "100256");
	st_ann_annotation_free(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_modes_are_named),
	        cmocka_unit_test(test_addition_remains_a_term),
	        cmocka_unit_test(test_three_values_are_a_range),
	        cmocka_unit_test(test_outliers_beside_a_flag),
	        cmocka_unit_test(test_clusters_at_three_values),
	        cmocka_unit_test(test_bound_is_in_the_middle),
	        cmocka_unit_test(test_bound_of_a_branch),
	        cmocka_unit_test(test_rare_large_sizes_leave_no_hole),
	        cmocka_unit_test(test_hole_between_groups),
	        cmocka_unit_test(test_few_sizes_with_a_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
