/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Campaigns with invented runs are compared, so that ranks and correlations are known exactly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "report/blow.h"

enum { MOST = 6 };
static const char *const names[MOST] = {"f0", "f1", "f2", "f3", "f4", "f5"};

static bool
is_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* A causal campaign in which function i brings gains[i] percent if it takes no time; a negative one
 * was not measured. */
static struct st_blow
campaign_with(const int *gains, size_t n)
{
	struct st_blow b = {.causal = true};
	for (uint32_t i = 0; i < n; i++) {
		struct st_blow_function *f = ST_PUSH(&b.functions);
		*f = (struct st_blow_function){
		        .name = names[i], .raw_name = names[i], .image = "/bin/p", .chosen = true};
	}
	for (int i = 0; i < 3; i++)
		*ST_PUSH(&b.runs) =
		        (struct st_blow_run){.function = ST_BLOW_NONE, .total_ns = 1000000};
	for (uint32_t i = 0; i < n; i++)
		if (gains[i] >= 0)
			*ST_PUSH(&b.runs) = (struct st_blow_run){
			        .function = i,
			        .noise = {ST_BLOW_VIRTUAL, 100},
			        .total_ns = 1000000 - (uint64_t)gains[i] * 10000};
	return b;
}

static struct st_blow_comparison
comparison_of(const struct st_blow *a, const struct st_blow *b)
{
	struct st_blow_comparison c;
	struct st_error e;
	if (st_blow_compare(a, b, &c, &e))
		fail_msg("%s", e.text);
	return c;
}

static void
test_same(void **state)
{
	static const int gains[] = {1, 5, 3, 9};
	struct st_blow a = campaign_with(gains, 4);
	struct st_blow_comparison c = comparison_of(&a, &a);
	(void)state;
	assert_int_equal(c.pairs.n, 4);
	assert_true(is_near(c.correlation, 1) && isnan(c.low) && isnan(c.high));
	static const uint32_t order[] = {3, 1, 2, 0};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(c.pairs.v[i].function, order[i]);
		assert_true(is_near(c.pairs.v[i].effects[0].rank, (double)i + 1));
		assert_true(is_near(c.pairs.v[i].effects[1].rank, (double)i + 1));
		assert_false(st_blow_differs(&c.pairs.v[i]));
	}
	free(c.pairs.v);
	st_blow_free(&a);
}

/* Five functions of which two neighbours are exchanged: 1 - 6 * 2 / (5 * 24) = 0.9. */
static void
test_exchanged(void **state)
{
	static const int gains[] = {1, 2, 3, 4, 5}, others[] = {1, 2, 3, 5, 4},
	                 reversed[] = {5, 4, 3, 2, 1};
	struct st_blow a = campaign_with(gains, 5), b = campaign_with(others, 5),
	               r = campaign_with(reversed, 5);
	struct st_blow_comparison c = comparison_of(&a, &b);
	(void)state;
	assert_true(is_near(c.correlation, 0.9));
	const double half = 1.959963984540054 * sqrt((1 + 0.81 / 2) / 2);
	assert_true(is_near(c.low, tanh(atanh(0.9) - half)));
	assert_true(is_near(c.high, tanh(atanh(0.9) + half)));
	/* Invented runs have no spread, so any difference is one. */
	assert_true(st_blow_differs(&c.pairs.v[0]) && !st_blow_differs(&c.pairs.v[4]));
	free(c.pairs.v);
	c = comparison_of(&a, &r);
	assert_true(is_near(c.correlation, -1) && isnan(c.low));
	free(c.pairs.v);
	st_blow_free(&a);
	st_blow_free(&b);
	st_blow_free(&r);
}

/* Equal gains share the mean of their ranks; without any difference there is no correlation. */
static void
test_ties(void **state)
{
	static const int gains[] = {7, 7, 1}, equal[] = {2, 2, 2};
	struct st_blow a = campaign_with(gains, 3), b = campaign_with(equal, 3);
	struct st_blow_comparison c = comparison_of(&a, &b);
	(void)state;
	assert_true(is_near(c.pairs.v[0].effects[0].rank, 1.5));
	assert_true(is_near(c.pairs.v[1].effects[0].rank, 1.5));
	assert_true(is_near(c.pairs.v[2].effects[0].rank, 3));
	assert_true(is_near(c.pairs.v[2].effects[1].rank, 2));
	assert_true(isnan(c.correlation));
	free(c.pairs.v);
	st_blow_free(&a);
	st_blow_free(&b);
}

/* Functions that were not measured, or that only one campaign has, are counted. */
static void
test_missing(void **state)
{
	static const int gains[] = {1, 2, 3, -1, 5}, others[] = {1, -1, 3, 4, 5, 6};
	struct st_blow a = campaign_with(gains, 5), b = campaign_with(others, 6);
	(void)state;
	a.functions.v[4].image = "/elsewhere/p"; /* the same file name */
	b.functions.v[0].image = "/bin/other";
	struct st_blow_comparison c = comparison_of(&a, &b);
	assert_int_equal(c.pairs.n, 2);
	assert_int_equal(c.unmeasured, 2);
	assert_int_equal(c.alone[0], 1);
	assert_int_equal(c.alone[1], 2);
	assert_true(is_near(c.correlation, 1));
	free(c.pairs.v);
	st_blow_free(&a);
	st_blow_free(&b);
}

static void
test_refused(void **state)
{
	static const int gains[] = {1, 2, 3};
	struct st_blow a = campaign_with(gains, 3), b = campaign_with(gains, 3);
	struct st_blow_comparison c;
	struct st_error e;
	(void)state;
	b.functions.v[2].progress = ST_BLOW_CALLS;
	assert_int_equal(st_blow_compare(&a, &b, &c, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "'end of the run', the other one 'f2'"));
	b.causal = false;
	assert_int_equal(st_blow_compare(&a, &b, &c, &e), ST_FAILED);
	assert_int_equal(e.code, ST_EXIT_USAGE);
	assert_non_null(strstr(e.text, "the same mode"));
	st_blow_free(&a);
	st_blow_free(&b);
}

static void
expect_comparison(const struct st_blow *a, const struct st_blow *b, const char *expected)
{
	const struct st_blow_view view = {.top = 1};
	struct st_blow_comparison c = comparison_of(a, b);
	struct st_text text;
	assert_true(st_text_begin(&text));
	assert_int_equal(st_blow_compare_print(a, &c, &view, text.out), ST_OK);
	char *written = st_text_end(&text);
	assert_non_null(strstr(written, expected));
	free(written);
	free(c.pairs.v);
}

static void
test_text(void **state)
{
	static const int gains[] = {10, 20, 30, 40}, others[] = {20, 10, 40, 30}, none[] = {-1};
	struct st_blow a = campaign_with(gains, 4), b = campaign_with(others, 4),
	               few = campaign_with(gains, 3), fewer = campaign_with(others, 3),
	               n = campaign_with(none, 1);
	(void)state;
	expect_comparison(&a, &b,
	                  "rank correlation (Spearman): 0.600, 95 % interval -0.893 to 0.993\n");
	expect_comparison(&a, &b,
	                  "functions measured in both campaigns: 4; not measured in one of "
	                  "them: 0; tried only in the first one: 0, only in the other one: "
	                  "0\n");
	expect_comparison(&a, &b, "0.4000 (0.4000 to 0.4000)");
	expect_comparison(&a, &a, "1.000, without an interval, since the order is the same\n");
	expect_comparison(&few, &fewer,
	                  "0.500, without an interval, since there are fewer than four");
	expect_comparison(&n, &n, "cannot tell, since fewer than two different results");
	st_blow_free(&a);
	st_blow_free(&b);
	st_blow_free(&few);
	st_blow_free(&fewer);
	st_blow_free(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_same),    cmocka_unit_test(test_exchanged),
	        cmocka_unit_test(test_ties),    cmocka_unit_test(test_missing),
	        cmocka_unit_test(test_refused), cmocka_unit_test(test_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
