/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the parser of contracts, and their verdicts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "annotate/contract.h"
#include "base/random.h"

/* Makes ten calls of f(int): count is 10 n, time is 1000 n ns; the last call has neither. */
static struct st_ann_data
ten_calls(void)
{
	static const char text[] =
	        "#strobe-records,1\n#function,1,f(int)\n#metric,1,count\n#metric,1,time,ns\n"
	        "#feature,1,n\n#feature,1,n1s\n1,10,1000,1,2\n1,20,2000,2,2\n1,30,3000,3,2\n"
	        "1,40,4000,4,2\n1,50,5000,5,2\n1,60,6000,6,2\n1,70,7000,7,2\n1,80,8000,8,2\n"
	        "1,90,9000,9,2\n1,,,10,2\n";
	struct st_ann_data d = {0};
	struct st_error e;
	if (st_ann_data_take(&d, text, sizeof text - 1, "t", NULL, &e))
		fail_msg("%s", e.text);
	return d;
}

static struct st_ann_outcome
outcome_of(const char *text)
{
	struct st_ann_data d = ten_calls();
	struct st_ann_contracts c;
	struct st_ann_outcome o;
	struct st_error e;
	if (st_ann_contracts_parse(text, strlen(text), "c", &c, &e) ||
	    st_ann_contract_check(&c.list.v[0], &d, &o, &e))
		fail_msg("%s: %s", text, e.text);
	st_ann_contracts_free(&c);
	st_ann_data_free(&d);
	return o;
}

static void
test_bounds(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum st_ann_verdict verdict;
		size_t records, above;
	} truth[] = {
	        {"count(f) <= 10*n", ST_ANN_KEPT, 9, 0},
	        {"count(f(int)) <= 10*n", ST_ANN_KEPT, 9, 0},
	        {"count(\"f(int)\") <= 10*n - 1", ST_ANN_BROKEN, 9, 9},
	        {"count(f) <= 85", ST_ANN_BROKEN, 9, 1},
	        {"count(f) <= 85 for n in 1..8", ST_ANN_KEPT, 8, 0},
	        {"count(f) <= 85 for n in 9..1e2", ST_ANN_BROKEN, 1, 1},
	        {"count(f) <= 85 for n in 10..20", ST_ANN_NOT_EXERCISED, 0, 0},
	        {"count(g) <= 85", ST_ANN_NOT_EXERCISED, 0, 0},
	        {"bytes(f) <= 85", ST_ANN_NOT_EXERCISED, 0, 0},
	        {"time(f) <= 1us*n", ST_ANN_KEPT, 9, 0},
	        {"time(f) <= 0.001ms * n", ST_ANN_KEPT, 9, 0},
	        {"time(f) <= 1e-6s*n", ST_ANN_KEPT, 9, 0},
	        {"time(f) <= 999ns*n", ST_ANN_BROKEN, 9, 9},
	        {"time(f) <= 500*n1s*n", ST_ANN_KEPT, 9, 0},
	        {"count(f) <= 10*n*log(n) + 10", ST_ANN_KEPT, 9, 0},
	        /* Nine records cannot show that 95 % of the calls are within the bound; they can
	         * show that far fewer are. */
	        {"count(f) <= 100 @p95", ST_ANN_CANNOT_TELL, 9, 0},
	        {"count(f) <= 85 @p50", ST_ANN_KEPT, 9, 1},
	        {"count(f) <= 15 @p95", ST_ANN_BROKEN, 9, 8},
	        {"count(f) <= 85 @p99 for n in 1..9", ST_ANN_CANNOT_TELL, 9, 1},
	};
	for (size_t i = 0; i < sizeof truth / sizeof *truth; i++) {
		const struct st_ann_outcome o = outcome_of(truth[i].text);
		if (o.verdict != truth[i].verdict || o.records != truth[i].records ||
		    o.above != truth[i].above)
			fail_msg("%s: %d, %zu of %zu", truth[i].text, (int)o.verdict, o.above,
			         o.records);
	}
	assert_int_equal(outcome_of("count(f) ~ n").verdict, ST_ANN_KEPT);
	assert_int_equal(outcome_of("count(f) ~ n for n in 1..5").records, 5);
	assert_int_equal(outcome_of("count(f) ~ log(n)").verdict, ST_ANN_CANNOT_TELL);
	assert_int_equal(outcome_of("time(f) ~ 3ns * n").verdict, ST_ANN_KEPT);
	assert_int_equal(outcome_of("count(f) ~ n1s + 0 * n").verdict, ST_ANN_CANNOT_TELL);
	assert_int_equal(outcome_of("count(g) ~ n").verdict, ST_ANN_NOT_EXERCISED);
	const struct st_ann_outcome o = outcome_of("count(f) <= 85");
	assert_true(o.worst == 90 && o.bound == 85 && o.worst_record == 9);
	/* Clopper and Pearson, 8 of 9: R's binom.test(8, 9). */
	const struct st_ann_outcome share = outcome_of("count(f) <= 85 @p50");
	assert_true(fabs(share.share_low - 0.5175035) < 1e-6);
	assert_true(fabs(share.share_high - 0.9971909) < 1e-6);
}

static void
test_errors(void **state)
{
	(void)state;
	static const struct {
		const char *text, *cause;
	} wrong[] = {
	        {"", "c has no contract"},
	        {"# only this\n\n", "c has no contract"},
	        {"time", "c:1:5: the text ends where '(' is expected after the metric"},
	        {"\n 3 <= 4", "c:2:2: a contract such as 'time(sort) <= 9*n' is expected here"},
	        {"time() <= 3", "c:1:6: the name of a function is expected here"},
	        {"time(f) < 3", "c:1:9: '<=' is expected after the function, not '<'"},
	        {"time(f) <= ", "c:1:12: a bound such as 9*n*log(n) is expected here"},
	        {"time(f) <= 3 n", "c:1:14: the end of the bound, @ or 'for' is expected here"},
	        {"time(f) ~ 3",
	         "c:1:12: growth is compared with an expression of features, as in '~ n'; a "
	         "constant bound is written with <="},
	        {"time(f) ~ 3us",
	         "c:1:14: growth is compared with an expression of features, as in '~ n'; a "
	         "constant bound is written with <="},
	        {"time(f) ~ n @p95", "c:1:14: only a bound with <= can have a share of calls"},
	        {"time(f) <= 3 @95", "c:1:15: 'p' is expected after @, not '9'"},
	        {"time(f) <= 3 @p0",
	         "c:1:17: a share of calls is above 0 and at most 100, as in @p95"},
	        {"time(f) <= 3 for n in 5", "c:1:23: a range such as 1e3..1e6 is expected here"},
	        {"time(f) <= 3 for n in 5..4", "c:1:27: the range ends before it begins"},
	        {"a(f) <= 1\nb(f) <= 1 @p5 x",
	         "c:2:15: the end of the line is expected after the contract"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct st_ann_contracts c;
		struct st_error e = {0};
		assert_true(
		        st_ann_contracts_parse(wrong[i].text, strlen(wrong[i].text), "c", &c, &e));
		assert_string_equal(e.text, wrong[i].cause);
		st_ann_contracts_free(&c);
	}
	struct st_ann_data d = ten_calls();
	struct st_ann_contracts c;
	struct st_ann_outcome o;
	struct st_error e;
	assert_false(st_ann_contracts_parse("count(f) <= m", 13, "c", &c, &e));
	assert_true(st_ann_contract_check(&c.list.v[0], &d, &o, &e));
	assert_string_equal(e.text,
	                    "the records of f(int) have no feature 'm' for the contract in line 1");
	st_ann_contracts_free(&c);
	st_ann_data_free(&d);
}

/* The bound cannot be compared with the records. */
static void
test_wrong_bounds(void **state)
{
	(void)state;
	static const struct {
		const char *text, *cause;
	} wrong[] = {
	        {"count(f) <= 3ms",
	         "the contract in line 1 has a time in ms, but the unit of count in the records of "
	         "f(int) is not one of time: write the bound without a unit, or name the unit of a "
	         "column with -m NAME:UNIT"},
	        {"count(f) <= 1e6 / (n - 4)", "record 4"},
	        {"count(f) <= 1e6 + (n - 2) / (n - 2)", "record 2"},
	        {"count(f) <= 1e6 * ln(n - 5) @p95", "record 1"},
	        {"count(f) ~ n / (n - 3)", "record 3"},
	        {"count(f) <= 1e6 / (n - 4) for n in 4..5", "record 4"},
	};
	struct st_ann_data d = ten_calls();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct st_ann_contracts c;
		struct st_ann_outcome o;
		struct st_error e = {0};
		char cause[600];
		snprintf(cause, sizeof cause, "%s%s%s",
		         i ? "the bound of the contract in line 1 is not a finite number for " : "",
		         wrong[i].cause,
		         i ? " of f(int), for example after a division by 0: change the bound, or "
		             "exclude "
		             "the "
		             "record with 'for NAME in LOW..HIGH'"
		           : "");
		assert_false(
		        st_ann_contracts_parse(wrong[i].text, strlen(wrong[i].text), "c", &c, &e));
		assert_true(st_ann_contract_check(&c.list.v[0], &d, &o, &e));
		assert_string_equal(e.text, cause);
		st_ann_contracts_free(&c);
	}
	st_ann_data_free(&d);
	/* The records without the metric, or out of the range, have no bound. */
	assert_int_equal(outcome_of("count(f) <= 1e6 / (n - 10)^2").verdict, ST_ANN_KEPT);
	assert_int_equal(outcome_of("count(f) <= 1e6 / (n - 4) for n in 5..9").verdict,
	                 ST_ANN_KEPT);
}

/* Contracts with random changes are read or refused with a cause. */
static void
test_mutants(void **state)
{
	(void)state;
	static const char original[] =
	        "time(f(int)) <= 9ns*n*log(n) + (2 - n)^2 @p95 for n in 1..9\n"
	        "time(f) ~ n*log(n) for n in 1..9\n";
	static const char bytes[] = "()<=~@.^*-+ \n#\"0123456789nsp";
	uint64_t random = 1;
	struct st_ann_data d = ten_calls();
	size_t read = 0;
	for (int i = 0; i < 3000; i++) {
		char text[sizeof original];
		struct st_ann_contracts c;
		struct st_ann_outcome o;
		struct st_error e = {0};
		memcpy(text, original, sizeof text);
		for (size_t k = st_random_below(&random, 4); k; k--)
			text[st_random_below(&random, sizeof text - 1)] =
			        bytes[st_random_below(&random, sizeof bytes - 1)];
		if (st_ann_contracts_parse(text, sizeof text - 1, "c", &c, &e))
			assert_true(*e.text);
		else
			for (size_t k = 0; k < c.list.n; k++)
				read += !st_ann_contract_check(&c.list.v[k], &d, &o, &e);
		st_ann_contracts_free(&c);
	}
	assert_true(read > 300);
	st_ann_data_free(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bounds), cmocka_unit_test(test_errors),
	        cmocka_unit_test(test_wrong_bounds), cmocka_unit_test(test_mutants)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
