/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the comparison of records with an annotation: how often unchanged functions are broken, and
 * that changed ones are. All records are drawn from a fixed seed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "annotate/compare.h"
#include "laws.h"

enum { LAWS = 7, INTERRUPTED = 6 };

/* Draws the cost of a call: lines with even noise, noise in proportion, noise that only adds, a
 * parabola, modes, costs with rare additions, and times with rare interrupts. factor: multiplies
 * the cost. */
static double
drawn_cost(int law, double n, double factor)
{
	const double line = factor * (200 + 3 * n);
	switch (law) {
	case 0:
		return line + 20 * laws_normal();
	case 1:
		return line * (1 + 0.1 * laws_normal());
	case 2:
		return line + laws_exponential(50);
	case 3:
		return factor * (100 + n * n / 50) + 10 * laws_normal();
	case 4:
		return factor * (laws_uniform() < 0.3 ? 900 : 300) + 20 * laws_normal();
	case INTERRUPTED:
		return line + 5 * laws_normal() + (laws_uniform() < 0.005 ? 20000 : 0);
	default:
		return factor * 500 + 20 * laws_normal() + (laws_uniform() < 0.02 ? 300 : 0);
	}
}

static struct st_ann_data
drawn_records(int law, size_t count, double factor)
{
	const uint64_t state = laws_state;
	struct laws l;
	laws_begin(&l, "y,n");
	laws_state = state;
	for (size_t i = 0; i < count; i++) {
		const double n = floor(1 + 400 * laws_uniform());
		laws_row(&l, "%.17g,%.17g", drawn_cost(law, n, factor), n);
	}
	return laws_take(&l, law == INTERRUPTED ? "y:ns" : "y");
}

/* Analyses old records, and compares new ones with the annotation. Frees both. */
static struct st_ann_compared
comparison_of(struct st_ann_data *old, struct st_ann_data *new, double margin)
{
	const struct st_ann_options options = {0};
	struct st_ann_annotation a;
	struct st_ann_compared c;
	struct st_error e = {0};
	if (st_ann_analyse(&old->functions.v[0], 0, &options, &a, &e))
		fail_msg("%s", e.text);
	const size_t tests = st_ann_compare_findings(&a);
	const struct st_ann_comparison how = {.margin = margin, .error = 0.01 / (double)tests};
	assert_false(st_ann_compare(&a, &new->functions.v[0], 0, &how, &c));
	assert_true(c.findings.n <= tests);
	free(c.findings.v);
	st_ann_annotation_free(&a);
	st_ann_data_free(old);
	st_ann_data_free(new);
	return c;
}

static enum st_ann_change
compared(int law, size_t old_count, size_t new_count, double factor, double margin)
{
	struct st_ann_data old = drawn_records(law, old_count, 1),
	                   new = drawn_records(law, new_count, factor);
	return comparison_of(&old, &new, margin).change;
}

/* At most 1 % of 1,260 comparisons of unchanged functions are broken. */
static void
test_unchanged(void **state)
{
	(void)state;
	enum { ROUNDS = 60 };
	static const size_t counts[] = {12, 100, 400};
	size_t broken[LAWS] = {0}, all = 0, kept = 0;
	laws_state = 21;
	for (int law = 0; law < LAWS; law++)
		for (size_t k = 0; k < 3; k++)
			for (size_t i = 0; i < ROUNDS; i++) {
				const enum st_ann_change change =
				        compared(law, 150, counts[k], 1, 0.05);
				broken[law] += change == ST_ANN_CHANGE_RAISED;
				all += change == ST_ANN_CHANGE_RAISED;
				kept += change == ST_ANN_CHANGE_SAME;
			}
	if (all > 12)
		fail_msg("of 1,260 are broken: %zu %zu %zu %zu %zu %zu %zu", broken[0], broken[1],
		         broken[2], broken[3], broken[4], broken[5], broken[6]);
	assert_true(kept > 100);
}

/* Without a margin the error is that of the intervals alone: that of lines is 1 % at most. */
static void
test_level(void **state)
{
	(void)state;
	enum { ROUNDS = 500 };
	size_t broken = 0;
	laws_state = 22;
	for (size_t i = 0; i < ROUNDS; i++)
		broken += compared((int)(i % 2), 100, i % 4 < 2 ? 30 : 300, 1, 0) ==
		          ST_ANN_CHANGE_RAISED;
	/* At 1 %, more than 13 of 500 have a probability of 0.1 %. */
	if (broken > 13)
		fail_msg("%zu of %d are broken", broken, (int)ROUNDS);
}

/* A cost that doubles is always found, and half of it is never broken. */
static void
test_changed(void **state)
{
	(void)state;
	laws_state = 23;
	for (int law = 0; law < LAWS; law++)
		for (size_t i = 0; i < 10; i++) {
			const enum st_ann_change up = compared(law, 150, 200, 2, 0.05),
			                         down = compared(law, 150, 200, 0.5, 0.05);
			if (up != ST_ANN_CHANGE_RAISED || (law < 4 && down == ST_ANN_CHANGE_RAISED))
				fail_msg("law %d, round %zu: %s, %s", law, i,
				         st_ann_change_name(up), st_ann_change_name(down));
		}
}

/* Times of two kinds, of which the second one is rare; one of its first calls may be disturbed. */
static struct st_ann_data
two_kinds(bool disturbed)
{
	struct laws l;
	laws_begin(&l, "y,n,kind");
	for (int i = 0; i < 400; i++)
		laws_row(&l, "%d,%d,%s",
		         (i % 10 ? 100 + 10 * (i % 37) : 9000 + 70 * (i % 37)) + i % 3 +
		                 (disturbed && i == 120 ? 90000 : 0),
		         i % 37, i % 10 ? "often" : "rarely");
	return laws_take(&l, "y:ns");
}

/* A disturbed record is 2.5 % of its scope, but 0.25 % of all: the records are still compared. */
static void
test_disturbed_in_small_scope(void **state)
{
	(void)state;
	struct st_ann_data old = two_kinds(true), new = two_kinds(false);
	struct st_ann_compared c = comparison_of(&old, &new, 0.05);
	assert_string_equal(c.reason, "");
	assert_int_equal(c.change, ST_ANN_CHANGE_SAME);
	assert_int_equal(c.disturbed, 0);
	assert_int_equal(c.judged, 400);
	old = two_kinds(true);
	new = two_kinds(true);
	c = comparison_of(&old, &new, 0.05);
	assert_int_equal(c.change, ST_ANN_CHANGE_SAME);
	assert_int_equal(c.disturbed, 1);
	assert_int_equal(c.judged, 399);
}

/* Costs around 100 with that spread; those of the first `far` records are 2,000 more. */
static struct st_ann_data
spread_records(double sd, int far)
{
	struct laws l;
	laws_begin(&l, "y,n");
	for (int i = 0; i < 600; i++)
		laws_row(&l, "%.17g,%d", 100 + sd * laws_normal() + (i < far ? 2000 : 0), i % 7);
	return laws_take(&l, "y");
}

/* A spread that one record makes large is uncertain; one that all records have is not. */
static void
test_spread(void **state)
{
	(void)state;
	static const struct {
		double sd;
		int far;
		enum st_ann_change change;
	} cases[] = {{1, 0, ST_ANN_CHANGE_SAME},
	             {1, 1, ST_ANN_CHANGE_UNCERTAIN},
	             {30, 0, ST_ANN_CHANGE_RAISED}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		laws_state = 24;
		struct st_ann_data old = spread_records(1, 0),
		                   new = spread_records(cases[i].sd, cases[i].far);
		assert_int_equal(comparison_of(&old, &new, 0.05).change, cases[i].change);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_unchanged), cmocka_unit_test(test_level),
	        cmocka_unit_test(test_changed), cmocka_unit_test(test_disturbed_in_small_scope),
	        cmocka_unit_test(test_spread)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
