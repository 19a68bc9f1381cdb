/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of results that are made of templates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "session/output_name.h"

static const char *const program[] = {"/usr/bin/a b", "-x", "../in put", "ä", NULL};
static const struct st_output_words words = {.collector = "hot+calls",
                                             .workload = "big/1",
                                             .program = (char *const *)(uintptr_t)program,
                                             .date = 1600000000};

static void
expect(const struct st_output_words *w, const char *template, const char *wanted)
{
	struct st_error e;
	char *name = st_output_name(template, w, &e);
	assert_non_null(name);
	assert_string_equal(name, wanted);
	free(name);
}

static void
test_words(void **state)
{
	(void)state;
	expect(&words, "%collector%-%cmd%.db", "hot+calls-a_b.db");
	expect(&words, "dir/%args%", "dir/-x_.._in_put___");
	expect(&words, "%workload%%date%", "big_12020-09-13-12-26-40");
	expect(&words, "%cmd%cmd%", "a_bcmd%");
}

static void
test_other_text(void **state)
{
	(void)state;
	expect(&words, "", "");
	expect(&words, "50%", "50%");
	expect(&words, "%%", "%%");
	expect(&words, "100%.%CMD%.% cmd%", "100%.%CMD%.% cmd%");
}

static void
test_nothing_to_put(void **state)
{
	(void)state;
	char *const none[] = {NULL};
	const struct st_output_words empty = {.collector = "", .program = none};
	expect(&empty, "<%collector%%cmd%%args%%workload%>", "<>");
}

/* A name must not become longer than a file system allows. */
static void
test_long_words(void **state)
{
	(void)state;
	char argument[300], wanted[101];
	char *const program_long[] = {(char *)(uintptr_t) "p", argument, argument, NULL};
	const struct st_output_words w = {.collector = "c", .program = program_long};
	memset(argument, 'x', sizeof argument - 1);
	argument[sizeof argument - 1] = '\0';
	memset(wanted, 'x', 100);
	wanted[100] = '\0';
	expect(&w, "%args%", wanted);
}

static void
test_unknown(void **state)
{
	(void)state;
	struct st_error e;
	assert_null(st_output_name("a%tool%", &words, &e));
	assert_int_equal(e.code, ST_EXIT_USAGE);
	assert_string_equal(e.text,
	                    "the name of the result has the unknown word '%tool%'; the words "
	                    "are %collector%, %cmd%, %args%, %workload% and %date%");
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_words),          cmocka_unit_test(test_other_text),
	        cmocka_unit_test(test_nothing_to_put), cmocka_unit_test(test_long_words),
	        cmocka_unit_test(test_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
