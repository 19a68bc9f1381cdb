/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/option.h"
#include "cli/options.h"

#define SAMPLE_OPTIONS(O)                                                                          \
	O(top, 'n', "top", "N", true, "rows")                                                      \
	O(quiet, 'q', "quiet", NULL, true, "say nothing")                                          \
	O(verbose, 'v', "verbose", NULL, true, "say more")                                         \
	O(stress, 0, "stress", "LIST", false, "for tests")

enum {
#define O(id, letter, name, argument, shown, help) SAMPLE_##id,
	SAMPLE_OPTIONS(O)
#undef O
};
static const struct st_option sample[] = {SAMPLE_OPTIONS(ST_OPTION_ROW)};

static struct st_options
parser(char *const *argv)
{
	return (struct st_options){.options = sample, .n = 4, .argv = argv};
}

static void
expect(struct st_options *o, int option, const char *value)
{
	struct st_error e = {0};
	const char *got;
	assert_int_equal(st_options_next(o, &got, &e), option);
	if (value)
		assert_string_equal(got, value);
	else
		assert_null(got);
}

static void
expect_error(char *const *argv, const char *text)
{
	struct st_options o = parser(argv);
	struct st_error e = {0};
	const char *got;
	assert_int_equal(st_options_next(&o, &got, &e), ST_OPTIONS_BAD);
	assert_int_equal(e.code, ST_EXIT_USAGE);
	assert_string_equal(e.text, text);
}

#define ARGV(...) ((char *const[]){__VA_ARGS__, NULL})

static void
all_spellings(void **state)
{
	(void)state;
	struct st_options o =
	        parser(ARGV("--top", "5", "--top=6", "-n", "7", "-n8", "-qvn9", "--quiet",
	                    "--top=", "file", "-", "--stress=a,b", "--", "--top"));
	expect(&o, SAMPLE_top, "5");
	expect(&o, SAMPLE_top, "6");
	expect(&o, SAMPLE_top, "7");
	expect(&o, SAMPLE_top, "8");
	expect(&o, SAMPLE_quiet, NULL);
	expect(&o, SAMPLE_verbose, NULL);
	expect(&o, SAMPLE_top, "9");
	expect(&o, SAMPLE_quiet, NULL);
	expect(&o, SAMPLE_top, "");
	expect(&o, ST_OPTIONS_OTHER, "file");
	expect(&o, ST_OPTIONS_OTHER, "-");
	expect(&o, SAMPLE_stress, "a,b");
	expect(&o, ST_OPTIONS_OTHER, "--top");
	expect(&o, ST_OPTIONS_END, NULL);
	expect(&o, ST_OPTIONS_END, NULL);
}

static void
mistakes_are_named(void **state)
{
	(void)state;
	expect_error(ARGV("--tpo=3"), "unknown option '--tpo'; did you mean '--top'?");
	expect_error(ARGV("--verb"), "unknown option '--verb'; did you mean '--verbose'?");
	expect_error(ARGV("--zzzzzz"), "unknown option '--zzzzzz'; --help lists the options");
	expect_error(ARGV("-x"), "unknown option '-x'; --help lists the options");
	expect_error(ARGV("--quiet=yes"), "option '--quiet' takes no argument");
	expect_error(ARGV("--top"), "option '--top' needs an argument: N");
	expect_error(ARGV("-n"), "option '-n' needs an argument: N");
}

static void
very_long_options_are_no_harm(void **state)
{
	(void)state;
	char text[5000] = "--";
	struct st_error e = {0};
	const char *got;
	memset(text + 2, 'a', sizeof text - 3);
	struct st_options o = parser(ARGV(text));
	assert_int_equal(st_options_next(&o, &got, &e), ST_OPTIONS_BAD);
}

static void
numbers_have_limits(void **state)
{
	(void)state;
	struct st_error e = {0};
	long n;
	assert_int_equal(st_option_number("top", "0", 0, 10, &n, &e), 0);
	assert_int_equal(n, 0);
	assert_int_equal(st_option_number("top", "10", 0, 10, &n, &e), 0);
	assert_int_equal(n, 10);
	static const char *const wrong[] = {
	        "11", "-1", "", "x", "3x", "1e3", "99999999999999999999"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(st_option_number("top", wrong[i], 0, 10, &n, &e), -1);
	assert_string_equal(e.text,
	                    "--top takes a number from 0 to 10, not '99999999999999999999'");
}

static void
words_are_those_of_a_list(void **state)
{
	(void)state;
	static const char *const words[] = {"first", "second", "third"};
	struct st_error e = {0};
	unsigned which;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(st_option_word("kind", words[i], words, 3, &which, &e), 0);
		assert_int_equal(which, i);
	}
	static const char *const wrong[] = {"", "firs", "first ", "fourth"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(st_option_word("kind", wrong[i], words, 3, &which, &e), -1);
	assert_int_equal(e.code, ST_EXIT_USAGE);
	assert_string_equal(e.text, "--kind takes first, second or third, not 'fourth'");
}

static void
help_hides_the_test_aids(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	st_options_help(out, sample, 4, false);
	fclose(out);
	assert_string_equal(text, "  -n, --top N           rows\n"
	                          "  -q, --quiet           say nothing\n"
	                          "  -v, --verbose         say more\n");
	free(text);
	out = open_memstream(&text, &size);
	st_options_help(out, sample + 3, 1, true);
	fclose(out);
	assert_string_equal(text, "      --stress LIST     for tests\n");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_spellings),
	        cmocka_unit_test(mistakes_are_named),
	        cmocka_unit_test(very_long_options_are_no_harm),
	        cmocka_unit_test(numbers_have_limits),
	        cmocka_unit_test(words_are_those_of_a_list),
	        cmocka_unit_test(help_hides_the_test_aids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
