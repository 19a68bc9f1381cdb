/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that records whose cost depends on nothing seldom get a formula or a condition: of 60 sets,
 * at most three, although one or two of them could by chance at a level of 1 %. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "laws.h"

enum { SETS = 60, FALSE_MOST = 3 };

static bool
has_law(const struct st_ann_annotation *a)
{
	return a->scopes.n > 1 || a->declarations.n > 0;
}

/* Five numbers beside few costs, with short and long tails. */
static void
test_numbers(void **state)
{
	(void)state;
	for (int tail = 0; tail < 2; tail++) {
		size_t found = 0;
		for (int set = 0; set < SETS; set++) {
			struct laws l;
			laws_begin(&l, "y,a,b,c,d,e");
			laws_state = (uint64_t)(1000 * tail + set);
			for (int i = 0; i < 20; i++)
				laws_row(&l, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g",
				         tail ? exp(6 + laws_normal()) : 1000 + 50 * laws_normal(),
				         laws_uniform(), laws_uniform(), laws_uniform(),
				         laws_uniform(), laws_uniform());
			struct st_ann_annotation a = laws_analyse(&l, "y");
			found += has_law(&a);
			st_ann_annotation_free(&a);
		}
		assert_in_range(found, 0, FALSE_MOST);
	}
}

/* The variances of log-normal costs differ between the values of a category by chance: with few
 * records repetitions show this, and with many the excess kurtosis. */
static void
test_categories(void **state)
{
	(void)state;
	static const int records[] = {50, 2000};
	for (size_t k = 0; k < 2; k++) {
		size_t found = 0;
		for (int set = 0; set < SETS; set++) {
			struct laws l;
			laws_begin(&l, "y,kind,flag");
			laws_state = (uint64_t)(5000 * k) + (uint64_t)set;
			for (int i = 0; i < records[k]; i++)
				laws_row(&l, "%.17g,%c,%c", exp(6 + laws_normal()),
				         "ABCD"[(int)(4 * laws_uniform()) % 4],
				         laws_uniform() < 0.5 ? 'y' : 'n');
			struct st_ann_annotation a = laws_analyse(&l, "y");
			found += has_law(&a);
			st_ann_annotation_free(&a);
		}
		assert_in_range(found, 0, FALSE_MOST);
	}
}

/* Ten records of a clear law are sufficient, and so is a difference of the spread alone. */
static void
test_laws_remain(void **state)
{
	(void)state;
	size_t found = 0;
	struct laws l;
	for (int set = 0; set < SETS; set++) {
		laws_begin(&l, "y,n");
		laws_state = (uint64_t)set;
		for (int i = 0; i < 10; i++)
			laws_row(&l, "%.17g,%d", 100 + 20 * i + 10 * laws_normal(), i);
		struct st_ann_annotation a = laws_analyse(&l, "y");
		found += has_law(&a);
		st_ann_annotation_free(&a);
	}
	assert_int_equal(found, SETS);
	laws_begin(&l, "y,kind");
	for (int i = 0; i < 200; i++)
		laws_row(&l, "%.17g,%c", 1000 + (i % 2 ? 50 : 5) * laws_normal(), "AB"[i % 2]);
	struct st_ann_annotation a = laws_analyse(&l, "y");
	assert_int_equal(a.scopes.n, 2);
	st_ann_annotation_free(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_numbers),
	        cmocka_unit_test(test_categories),
	        cmocka_unit_test(test_laws_remain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
