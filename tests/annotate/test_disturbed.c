/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that a few disturbed or deviating records hide no law, and that rare expensive calls stay.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "annotate/far.h"
#include "laws.h"

/* The law that a branch on one feature chooses from two others; the branch is not recorded. */
static double
by_condition(int a, int b, int c)
{
	return 20 + (a > 10 ? 0.1 * b * b : 12 * c);
}

static void
add_by_condition(struct laws *l, int rows, double noise, int disturbed)
{
	for (int i = 0; i < rows; i++) {
		const int a = i % 21, b = i * 7 % 301, c = i * 13 % 307;
		laws_row(l, "%.17g,%d,%d,%d",
		         by_condition(a, b, c) + noise * laws_normal() +
		                 (i == disturbed ? 40000 : 0),
		         a, b, c);
	}
}

static const struct st_ann_model *
model_of(const struct st_ann_annotation *a, size_t scope, const char *condition)
{
	assert_string_equal(laws_text(a->scopes.v[scope].condition, 0), condition);
	assert_int_equal(a->scopes.v[scope].models.n, 1);
	return &a->scopes.v[scope].models.v[0];
}

/* With exact data: both laws to all digits, and the condition between 10 and 11. */
static void
test_condition_of_another_feature(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,a,b,c");
	add_by_condition(&l, 600, 0, -1);
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.n, 2);
	assert_string_equal(laws_text(model_of(&a, 0, "a <= 10")->a, 0), "20 + 12 * c");
	assert_string_equal(laws_text(model_of(&a, 1, "a > 10")->a, 10), "20 + 0.1 * b^2");
	st_ann_annotation_free(&a);
}

/* More records than are sampled: the condition is as exact. */
static void
test_condition_among_many(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,a,b,c");
	add_by_condition(&l, 10007, 20, -1);
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.n, 2);
	assert_true(fabs(laws_coefficients(model_of(&a, 0, "a <= 10")->a).v[1] - 12) < 0.1);
	assert_true(fabs(laws_coefficients(model_of(&a, 1, "a > 10")->a).v[1] - 0.1) < 0.001);
	st_ann_annotation_free(&a);
}

/* One time of 600 that is ten times the others is left out, and the share is given. */
static void
test_one_disturbed_record(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,a,b,c");
	add_by_condition(&l, 600, 10, 300);
	struct st_ann_annotation a = laws_analyse(&l, "y:ns");
	assert_int_equal(a.scopes.n, 2);
	const struct st_ann_model *low = model_of(&a, 0, "a <= 10");
	const struct st_ann_model *high = model_of(&a, 1, "a > 10");
	assert_int_equal(low->selection, ST_ANN_DOMINANT);
	assert_int_equal(low->n, 318); /* of 319: record 300 has a = 6 */
	assert_true(fabs(low->dropped - 1.0 / 319) < 1e-12);
	assert_int_equal(high->selection, ST_ANN_PLAIN);
	assert_int_equal(low->n + high->n, 599);
	assert_true(low->r2_cv > 0.99 && high->r2_cv > 0.99);
	st_ann_annotation_free(&a);
}

/* A record that is far above the line leaves a good model of all records: of times it is left out,
 * of counts it is not, because nothing disturbs counts. */
static void
test_times_and_counts(void **state)
{
	(void)state;
	for (int times = 0; times < 2; times++) {
		struct laws l;
		laws_begin(&l, "y,x");
		for (int i = 0; i < 600; i++)
			laws_row(&l, "%d,%d", 100 + 10 * (i % 50) + (i == 300 ? 1000 : 0), i % 50);
		struct st_ann_annotation a = laws_analyse(&l, times ? "y:ns" : "y");
		assert_int_equal(a.scopes.n, 1);
		const struct st_ann_model *m = &a.scopes.v[0].models.v[0];
		assert_int_equal(m->n, times ? 599 : 600);
		assert_int_equal(m->selection, times ? ST_ANN_DOMINANT : ST_ANN_PLAIN);
		if (times)
			assert_string_equal(laws_text(m->a, 10), "100 + 10 * x");
		st_ann_annotation_free(&a);
	}
}

/* A few times are a thousand times the largest one, and others only twice: both hide the law of two
 * features until they are left out. */
static void
test_disturbed_by_more_and_by_less(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n,m");
	for (int i = 0; i < 3900; i++) {
		const int n = 1 + i % 39, m = 100 + 2 * (i / 39);
		const int disturbance = i % 1300 == 71 ? 4000000 : i % 300 == 17 ? 25000 : 0;
		laws_row(&l, "%.17g,%d,%d", 1.25 * n * m + 10 * laws_normal() + disturbance, n, m);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y:ns");
	assert_int_equal(a.scopes.n, 1);
	const struct st_ann_model *m = model_of(&a, 0, "");
	assert_int_equal(m->selection, ST_ANN_DOMINANT);
	assert_int_equal(m->n, 3900 - 16);
	assert_true(m->r2_cv > 0.9999);
	st_ann_annotation_free(&a);
}

/* Sizes that are rare and large have large times, but these are what the law says. */
static void
test_large_sizes_are_not_disturbed(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 500; i++) {
		const double n = i % 250 ? 10 + i % 60 : 3000;
		laws_row(&l, "%.17g,%.17g", 5 * n * n * (1 + 0.01 * laws_normal()), n);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y:ns");
	assert_int_equal(a.scopes.n, 1);
	const struct st_ann_model *m = &a.scopes.v[0].models.v[0];
	assert_string_equal(m->class, "quadratic");
	assert_int_equal(m->selection, ST_ANN_PLAIN);
	assert_int_equal(m->n, 500);
	st_ann_annotation_free(&a);
}

/* One record in a hundred is of a size that no other record has, and costs far more than the law of
 * the small sizes says. This is another law, not a disturbance. */
static void
test_rare_sizes_with_another_law(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 2000; i++) {
		const double n = i % 100 == 7 ? 1000 + i : 1 + i % 100;
		laws_row(&l, "%.17g,%.17g",
		         n > 100 ? 3 * n * n : 1000 + 50 * n + 20 * laws_normal(), n);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y:ns");
	size_t n = 0;
	for (size_t i = 0; i < a.scopes.n; i++)
		for (size_t k = 0; k < a.scopes.v[i].models.n; k++) {
			assert_int_equal(a.scopes.v[i].models.v[k].selection, ST_ANN_PLAIN);
			n += a.scopes.v[i].models.v[k].n;
		}
	assert_int_equal(n, 2000);
	st_ann_annotation_free(&a);
}

/* A clock with ticks of 1,000 ns gives most times of a size the same value. One disturbed record is
 * left out; those that are one tick longer than the others are not. */
static void
test_ticks_of_the_clock(void **state)
{
	(void)state;
	static const double ticks[] = {1000, 41, 0.001};
	double predicted[2000], residuals[2000];
	for (int k = 0; k < 3; k++) {
		bool far[2000] = {false};
		size_t marked;
		laws_state = 1;
		for (int i = 0; i < 2000; i++) {
			const double y = 5000 + 200 * (i % 50) + 100 * laws_normal(),
			             measured = ticks[k] * round(y / ticks[k]);
			predicted[i] = 5000 + 200 * (i % 50);
			residuals[i] = (i == 777 ? 4000000 : measured) - predicted[i];
		}
		assert_int_equal(st_ann_mark_far(predicted, residuals, 2000, far, &marked), ST_OK);
		assert_int_equal(marked, 1);
		assert_true(far[777]);
	}
}

/* One time in seven is longer by a half to three times: the law of the others is found, also where
 * the long ones have bent the first model. */
static void
test_many_disturbed_records(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 700; i++) {
		const double n = 1 + i * 37 % 100, y = 50 + 440 * n;
		laws_row(&l, "%.17g,%.17g",
		         i % 7 == 3 ? y * (1.5 + (double)(i % 5) / 2)
		                    : y * (1 + 0.001 * laws_normal()),
		         n);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y:ns");
	assert_int_equal(a.scopes.n, 1);
	const struct st_ann_model *m = model_of(&a, 0, "");
	assert_int_equal(m->selection, ST_ANN_DOMINANT);
	assert_int_equal(m->n, 600);
	assert_true(fabs(m->dropped - 1.0 / 7) < 1e-12);
	assert_string_equal(m->class, "linear");
	assert_true(fabs(laws_coefficients(m->a).v[1] - 440) < 1);
	st_ann_annotation_free(&a);
}

/* From some size on all calls are slow. None of them is far above its neighbours. */
static void
test_slow_sizes_are_not_disturbed(void **state)
{
	(void)state;
	double predicted[200], residuals[200];
	bool far[200] = {false};
	size_t marked;
	for (int i = 0; i < 200; i++) {
		predicted[i] = 100 * i;
		residuals[i] = laws_normal() + (i >= 180 || i == 50 ? 50000 : 0);
	}
	assert_int_equal(st_ann_mark_far(predicted, residuals, 200, far, &marked), ST_OK);
	assert_true(far[50]);
	for (int i = 190; i < 200; i++)
		assert_false(far[i]);
}

/* If no feature explains the times, rare expensive calls are part of the cost. */
static void
test_rare_calls_without_a_law_stay(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 1000; i++)
		laws_row(&l, "%.17g,%d", 20 + laws_normal() + (i % 128 == 5 ? 3000 : 0),
		         i * 7 % 31);
	struct st_ann_annotation a = laws_analyse(&l, "y:ns");
	size_t n = 0;
	for (size_t i = 0; i < a.scopes.n; i++)
		for (size_t k = 0; k < a.scopes.v[i].models.n; k++) {
			assert_int_equal(a.scopes.v[i].models.v[k].selection, ST_ANN_PLAIN);
			n += a.scopes.v[i].models.v[k].n;
		}
	assert_int_equal(n, 1000);
	st_ann_annotation_free(&a);
}

/* Three calls of 223 deviate from an exact line by one instruction: the line remains one. */
static void
test_few_that_deviate_a_little(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,x");
	for (int i = 0; i < 223; i++)
		laws_row(&l, "%d,%d", i % 75 ? 12 + 80 * (i % 75) : 13, i % 75);
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.n, 1);
	assert_null(a.scopes.v[0].condition);
	assert_string_equal(a.scopes.v[0].models.v[0].class, "linear");
	st_ann_annotation_free(&a);
}

/* Three values determine any curve of three coefficients: the higher class has no evidence. */
static void
test_three_values(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,x");
	for (int i = 0; i < 30; i++)
		laws_row(&l, "%d,%d", (const int[]){10, 25, 45}[i % 3],
		         (const int[]){0, 2, 4}[i % 3]);
	struct st_ann_annotation a = laws_analyse(&l, "y");
	for (size_t i = 0; i < a.scopes.n; i++)
		for (size_t k = 0; k < a.scopes.v[i].models.n; k++)
			assert_true(!strcmp(a.scopes.v[i].models.v[k].class, "linear") ||
			            !strcmp(a.scopes.v[i].models.v[k].class, "constant"));
	st_ann_annotation_free(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_condition_of_another_feature),
	        cmocka_unit_test(test_condition_among_many),
	        cmocka_unit_test(test_one_disturbed_record),
	        cmocka_unit_test(test_times_and_counts),
	        cmocka_unit_test(test_disturbed_by_more_and_by_less),
	        cmocka_unit_test(test_large_sizes_are_not_disturbed),
	        cmocka_unit_test(test_rare_sizes_with_another_law),
	        cmocka_unit_test(test_ticks_of_the_clock),
	        cmocka_unit_test(test_many_disturbed_records),
	        cmocka_unit_test(test_slow_sizes_are_not_disturbed),
	        cmocka_unit_test(test_rare_calls_without_a_law_stay),
	        cmocka_unit_test(test_few_that_deviate_a_little),
	        cmocka_unit_test(test_three_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
