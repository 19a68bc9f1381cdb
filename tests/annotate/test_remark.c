/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the remark of an analysis: what it did not find, and why. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "laws.h"

/* Analyses the records and checks the remark and the only model; remark NULL: there is none. */
static void
check_remark(struct laws *l, const char *metric, const char *remark, const char *model)
{
	struct st_ann_annotation a = laws_analyse(l, metric);
	if (remark)
		assert_string_equal(a.note ? a.note : "", remark);
	else
		assert_null(a.note);
	if (model) {
		assert_int_equal(a.scopes.n, 1);
		assert_string_equal(laws_text(a.scopes.v[0].models.v[0].a, 6), model);
	}
	st_ann_annotation_free(&a);
}

static void
test_no_remark(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 100; i++)
		laws_row(&l, "%d,%d", 7 + 3 * (i % 40), i % 40);
	check_remark(&l, "y", NULL, "7 + 3 * n");
}

/* An address, which is not a size although it grows with one, and sizes below 0 without a sign. */
static void
test_values_that_hardly_differ(void **state)
{
	(void)state;
	static const char *const bases[] = {"1401135%08d", "184467440737%08d"};
	for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
		struct laws l;
		char row[64];
		laws_begin(&l, "y,x");
		for (int i = 0; i < 200; i++) {
			snprintf(row, sizeof row, bases[k], i * 64);
			laws_row(&l, "%d,%s", 7 + 3 * i, row);
		}
		struct st_ann_annotation a = laws_analyse(&l, "y");
		assert_string_equal(a.note,
		                    "the values of the features that vary are no sizes: they are "
		                    "integers above 2^53, or differ by less than a millionth, as "
		                    "addresses do");
		for (size_t i = 0; i < a.scopes.n; i++)
			for (size_t m = 0; m < a.scopes.v[i].models.n; m++)
				assert_null(strchr(laws_text(a.scopes.v[i].models.v[m].a, 6), 'x'));
		st_ann_annotation_free(&a);
		laws_begin(&l, "y,x,n");
		for (int i = 0; i < 200; i++) {
			snprintf(row, sizeof row, bases[k], i * 64);
			laws_row(&l, "%d,%s,%d", 7 + 3 * i, row, i);
		}
		check_remark(&l, "y", NULL, "7 + 3 * n");
	}
}

/* Memory that is not initialised has values of any size, which are small in some records. */
static void
test_values_beyond_sizes(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,junk,n");
	for (int i = 0; i < 200; i++) {
		const int n = i % 40;
		if (i % 50 == 7)
			laws_row(&l, "%d,%d%015d,%d", 7 + 3 * n + n % 3, 32 + i, n * 12345, n);
		else
			laws_row(&l, "%d,%d,%d", 7 + 3 * n + n % 3, n % 3 * 64, n);
	}
	struct st_ann_annotation a = laws_analyse(&l, "y");
	for (size_t i = 0; i < a.scopes.n; i++)
		for (size_t m = 0; m < a.scopes.v[i].models.n; m++)
			assert_null(strchr(laws_text(a.scopes.v[i].models.v[m].a, 6), 'j'));
	st_ann_annotation_free(&a);
}

/* Features of any size have a linear law; its powers may not be numbers. */
static void
test_sizes_of_features(void **state)
{
	(void)state;
	static const struct {
		const char *scale, *model;
	} cases[] = {{"e200", "100 + 7e-200 * n"}, {"e-290", "100 + 7e+290 * n"}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct laws l;
		laws_begin(&l, "y,n");
		for (int i = 0; i < 300; i++)
			laws_row(&l, "%d,%d%s", 100 + 7 * (1 + i % 50), 1 + i % 50, cases[k].scale);
		check_remark(&l, "y",
		             "powers and products of n are not tried, because its values are not "
		             "between 1e-100 and 1e100: record it in another unit",
		             cases[k].model);
	}
}

/* The values have fewer digits than other numbers. */
static void
test_values_without_a_scale(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 300; i++)
		laws_row(&l, "%d,%de-310", 100 + 7 * (1 + i % 50), 1 + i % 50);
	check_remark(&l, "y",
	             "n is not used, because its values are too large or too small for "
	             "calculations: record it in another unit",
	             NULL);
}

static void
test_laws_of_other_classes(void **state)
{
	(void)state;
	for (int cubic = 0; cubic < 2; cubic++) {
		struct laws l;
		laws_begin(&l, "y,n");
		for (int i = 0; i < 400; i++) {
			const double n = 1 + i % 200;
			laws_row(&l, "%.17g,%.17g",
			         cubic ? 5 * n * n * n + 50 * laws_normal()
			               : 500 * log2(n) + 5 * laws_normal(),
			         n);
		}
		struct st_ann_annotation a = laws_analyse(&l, "y");
		char remark[200];
		snprintf(remark, sizeof remark,
		         "one scope instead of %zu may describe the records: try --class %s",
		         a.scopes.n,
		         cubic ? "constant,linear,nlogn,quadratic,cubic"
		               : "constant,log,linear,nlogn,quadratic");
		assert_true(a.scopes.n > 3);
		assert_string_equal(a.note ? a.note : "", remark);
		st_ann_annotation_free(&a);
	}
}

/* Two lines with a bound are not a law of another class. */
static void
test_two_lines(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 400; i++) {
		const int n = 1 + i % 200;
		laws_row(&l, "%.17g,%d", (n > 120 ? 9000 - 20 * n : 100 + 12 * n) + laws_normal(),
		         n);
	}
	check_remark(&l, "y", NULL, NULL);
}

static void
test_why_nothing_depends(void **state)
{
	(void)state;
	struct laws l;
	laws_begin(&l, "#strobe-records,1\n#function,1,f\n#metric,1,y");
	for (int i = 0; i < 100; i++)
		laws_row(&l, "1,%d", 7 + i % 3);
	check_remark(&l, "y",
	             "the records have no feature: record data of the calls that the cost may "
	             "depend on",
	             NULL);
	laws_begin(&l, "y,n,kind");
	for (int i = 0; i < 100; i++)
		laws_row(&l, "%d,5,a", 7 + i % 3);
	check_remark(&l, "y",
	             "all features are the same in all records: record calls with different data",
	             NULL);
	laws_begin(&l, "y,n");
	for (int i = 0; i < 100; i++)
		laws_row(&l, "%.17g,%d", 7 + laws_normal(), i % 10);
	check_remark(&l, "y", NULL, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_no_remark),
	        cmocka_unit_test(test_sizes_of_features),
	        cmocka_unit_test(test_values_that_hardly_differ),
	        cmocka_unit_test(test_values_beyond_sizes),
	        cmocka_unit_test(test_values_without_a_scale),
	        cmocka_unit_test(test_laws_of_other_classes),
	        cmocka_unit_test(test_two_lines),
	        cmocka_unit_test(test_why_nothing_depends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
