/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers, sizes and times as users write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/parse.h"

static void
test_whole(void **state)
{
	static const char *const bad[] = {
	        "", "-1", "+1", " 1", "1 ", "1k", "18446744073709551616", "0x1"};
	uint64_t n;
	(void)state;
	assert_int_equal(st_parse_whole("0", &n), ST_OK);
	assert_int_equal(n, 0);
	assert_int_equal(st_parse_whole("18446744073709551615", &n), ST_OK);
	assert_true(n == UINT64_MAX);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(st_parse_whole(bad[i], &n), ST_FAILED);
}

static void
test_between(void **state)
{
	long n;
	(void)state;
	assert_int_equal(st_parse_between("-5", -5, 5, &n), ST_OK);
	assert_int_equal(n, -5);
	assert_int_equal(st_parse_between("-6", -5, 5, &n), ST_FAILED);
	assert_int_equal(st_parse_between("6", -5, 5, &n), ST_FAILED);
	assert_int_equal(st_parse_between("", -5, 5, &n), ST_FAILED);
	assert_int_equal(st_parse_between("1x", -5, 5, &n), ST_FAILED);
	assert_int_equal(st_parse_between("99999999999999999999", 0, INT64_MAX, &n), ST_FAILED);
}

static void
test_size(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"0", 0},
	            {"7", 7},
	            {"64k", 65536},
	            {"64K", 65536},
	            {"3m", 3u << 20},
	            {"2G", 2ull << 30},
	            {"17179869183G", 17179869183ull << 30}};
	static const char *const bad[] = {
	        "", "k", "-1", "1.5M", "1KB", "1T", "17179869184G", "1 k", "18446744073709551616"};
	uint64_t n;
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(st_parse_size(good[i].text, &n), ST_OK);
		assert_true(n == good[i].bytes);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(st_parse_size(bad[i], &n), ST_FAILED);
}

static void
test_real(void **state)
{
	static const char *const bad[] = {"", "x", "inf", "nan", "1e999"};
	const char *end;
	double n;
	(void)state;
	assert_int_equal(st_parse_real("12.5%", &n, &end), ST_OK);
	assert_true(n == 12.5);
	assert_string_equal(end, "%");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(st_parse_real(bad[i], &n, &end), ST_FAILED);
}

static void
test_time(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} good[] = {{"5", 5},
	            {"5s", 5},
	            {"0.5m", 30},
	            {"1h", 3600},
	            {"100ms", 100 * 1e-3},
	            {"20us", 20 * 1e-6},
	            {"-1s", -1}};
	static const char *const bad[] = {"", "s", "5 s", "5d", "5S", "5ns", "inf"};
	double n;
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(st_parse_time(good[i].text, &n), ST_OK);
		assert_true(n == good[i].seconds);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(st_parse_time(bad[i], &n), ST_FAILED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_whole), cmocka_unit_test(test_between),
	        cmocka_unit_test(test_size),  cmocka_unit_test(test_real),
	        cmocka_unit_test(test_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
