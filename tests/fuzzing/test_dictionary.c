/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dictionaries: what a file means, which files are refused, and the rules that use tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "fuzz/rules.h"

static char file[] = "/tmp/strobe-test-dictionary-XXXXXX";

static int
make_file(void **state)
{
	(void)state;
	const int fd = mkstemp(file);
	return fd < 0 ? -1 : close(fd);
}

static int
remove_file(void **state)
{
	(void)state;
	return unlink(file);
}

static st_status
read_dictionary(struct st_fuzz_rules *rules, const char *text, size_t n, struct st_error *e)
{
	struct st_fuzz_bytes b = {0};
	struct st_error ignored;
	assert_false(st_fuzz_bytes_splice(&b, 0, 0, text, n));
	assert_false(st_fuzz_bytes_write(&b, file, &ignored));
	st_fuzz_bytes_free(&b);
	return st_rules_add_dictionary(rules, file, e);
}

static void
assert_token(const struct st_fuzz_rules *rules, size_t number, const char *bytes, size_t n)
{
	assert_true(number < rules->tokens.n);
	assert_int_equal(rules->tokens.v[number].n, n);
	assert_memory_equal(rules->tokens.v[number].v, bytes, n);
}

static void
tokens(void **state)
{
	static const char text[] = "# comment with \"quotes\"\n"
	                           "\n"
	                           "  \"plain\"  \n"
	                           "name=\"GET\"\n"
	                           "png_header-1.0 = \"\\x89PNG\\x0d\\x0A\\x00\"\r\n"
	                           "quote@12=\"a\\\"b\\\\c\"\n"
	                           "   # indented\n"
	                           "\"#=\"\n"
	                           "\"\xc3\xa4\t\"";
	struct st_fuzz_rules rules = {0};
	struct st_error e;
	(void)state;
	assert_false(read_dictionary(&rules, text, sizeof text - 1, &e));
	assert_int_equal(rules.tokens.n, 6);
	assert_token(&rules, 0, "plain", 5);
	assert_token(&rules, 1, "GET", 3);
	assert_token(&rules, 2, "\x89PNG\r\n\0", 7);
	assert_token(&rules, 3, "a\"b\\c", 5);
	assert_token(&rules, 4, "#=", 2);
	assert_token(&rules, 5, "\xc3\xa4\t", 3);
	assert_false(read_dictionary(&rules, "\"more\"\n", 7, &e)); /* a second one adds to it */
	assert_int_equal(rules.tokens.n, 7);
	st_rules_free(&rules);
}

static void
refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
	        {"\"a\"\nabc\n", "line 2: an entry is NAME=\"TOKEN\" or \"TOKEN\""},
	        {"\"", "line 1: an entry is"},
	        {"\"a\" b", "line 1: an entry is"},
	        {"a b=\"c\"", "line 1: an entry is"},
	        {"a=b=\"c\"", "line 1: an entry is"},
	        {"a@x=\"c\"", "line 1: an entry is"},
	        {"a \"c\"", "line 1: an entry is"},
	        {"=\"c\"", "line 1: an entry is"},
	        {"\n\na=\"\"", "line 3: the token is empty"},
	        {"\"a\"b\"", "line 1: write a quotation mark in a token as \\\""},
	        {"\"\\n\"", "line 1: a backslash must be followed by"},
	        {"\"\\x4\"", "line 1: a backslash must be followed by"},
	        {"\"\\xg0\"", "line 1: a backslash must be followed by"},
	        {"\"\\\"", "line 1: a backslash must be followed by"},
	        {"", "has no token"},
	        {"# nothing\n\n", "has no token"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct st_fuzz_rules rules = {0};
		struct st_error e = {0};
		if (!read_dictionary(&rules, bad[i].text, strlen(bad[i].text), &e))
			fail_msg("'%s' was taken", bad[i].text);
		if (!strstr(e.text, bad[i].why) || !strstr(e.text, file))
			fail_msg("'%s': %s", bad[i].text, e.text);
		st_rules_free(&rules);
	}
}

/* Bytes that change or are missing: the file is taken or refused, and no token is empty, but the
 * last one of a file that is refused. */
static void
mutations(void **state)
{
	static const char good[] = "# c\nname=\"GET\"\n\"\\x89P\\\"\\\\\"\na@1=\"b\"\n";
	static const char letters[] = "\"\\x#=@\n a0\xff";
	uint64_t random = 3;
	size_t taken = 0;
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct st_fuzz_rules rules = {0};
		struct st_error e;
		char text[sizeof good];
		memcpy(text, good, sizeof good);
		for (size_t n = st_random_below(&random, 4); n > 0; n--)
			text[st_random_below(&random, sizeof good - 1)] =
			        letters[st_random_below(&random, sizeof letters)];
		const bool is_taken =
		        !read_dictionary(&rules, text, st_random_below(&random, sizeof good), &e);
		taken += is_taken;
		for (size_t i = 0; i + !is_taken < rules.tokens.n; i++)
			assert_true(rules.tokens.v[i].n > 0);
		st_rules_free(&rules);
	}
	assert_in_range(taken, 300, 2999);
}

static void
assert_rule(const char *name, const char *from, size_t n)
{
	static const char one[] = "\"AB\"\n\"c\"\n";
	struct st_fuzz_rules rules = {0};
	struct st_error e;
	uint64_t random = 5;
	assert_false(read_dictionary(&rules, one, sizeof one - 1, &e));
	assert_false(st_rules_add_named(&rules, name, &e));
	for (int round = 0; round < 200; round++) {
		struct st_fuzz_bytes b = {0};
		assert_false(st_fuzz_bytes_splice(&b, 0, 0, from, n));
		assert_false(st_rules_apply(&rules, 0, &b, &random));
		size_t at = 0, token;
		while (at < n && b.v[at] == (uint8_t)from[at])
			at++;
		token = b.v[at] == 'A' ? 2 : 1;
		if (!strcmp(name, "overwrite-token")) {
			const size_t all = at + token > n ? at + token : n;
			assert_int_equal(b.n, all);
			assert_memory_equal(b.v + at, token == 2 ? "AB" : "c", token);
			if (at + token < n)
				assert_memory_equal(b.v + at + token, from + at + token,
				                    n - at - token);
		} else {
			const size_t times = !strcmp(name, "insert-token") ? 1 : 100;
			assert_int_equal(b.n, n + times * token);
			for (size_t i = 0; i < times; i++)
				assert_memory_equal(b.v + at + i * token, token == 2 ? "AB" : "c",
				                    token);
			if (n > at)
				assert_memory_equal(b.v + at + times * token, from + at, n - at);
		}
		st_fuzz_bytes_free(&b);
	}
	st_rules_free(&rules);
}

static void
rules_for_tokens(void **state)
{
	static const char *const names[] = {"insert-token", "overwrite-token", "repeat-token"};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_rule(names[i], "0123456789", 10);
		assert_rule(names[i], "x", 1);
		assert_rule(names[i], "", 0);
	}
}

static void
use(void **state)
{
	struct st_fuzz_rules rules = {0};
	struct st_error e;
	(void)state;
	assert_false(st_rules_use_tokens(&rules, &e));
	assert_int_equal(st_rules_count(&rules), 0);
	assert_false(st_rules_add_named(&rules, "insert-token", &e));
	assert_true(st_rules_use_tokens(&rules, &e));
	assert_int_equal(e.code, ST_EXIT_USAGE);
	assert_non_null(strstr(e.text, "need a --dictionary"));
	assert_false(read_dictionary(&rules, "\"a\"", 3, &e));
	assert_false(st_rules_use_tokens(&rules, &e)); /* only the one that was named */
	assert_int_equal(st_rules_count(&rules), 1);
	st_rules_free(&rules);
	assert_false(read_dictionary(&rules, "\"a\"", 3, &e));
	assert_false(st_rules_add_type(&rules, ST_TYPE_XML, &e));
	const size_t of_type = st_rules_count(&rules);
	assert_int_equal(of_type, 15 + 4 + 1); /* of text, of XML, repeat-bytes */
	assert_false(st_rules_use_tokens(&rules, &e));
	assert_int_equal(st_rules_count(&rules), of_type + 3);
	assert_string_equal(st_rules_name(&rules, of_type), "insert-token");
	st_rules_free(&rules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(tokens),           cmocka_unit_test(refused),
	        cmocka_unit_test(mutations),        cmocka_unit_test(use),
	        cmocka_unit_test(rules_for_tokens),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
