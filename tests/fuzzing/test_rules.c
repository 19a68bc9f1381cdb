/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of each rule, and the properties that it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "fuzz/rules.h"

static void
fill(struct st_fuzz_bytes *b, const char *text, size_t n)
{
	assert_false(st_fuzz_bytes_splice(b, 0, b->n, text, n));
}

/* Applies a rule once to a text. */
static void
assert_becomes(enum st_fuzz_rule rule, const char *from, const char *to)
{
	struct st_fuzz_bytes b = {0};
	uint64_t random = 1;
	fill(&b, from, strlen(from));
	assert_false(st_rule_apply(rule, &b, &random));
	assert_int_equal(b.n, strlen(to));
	if (b.n)
		assert_memory_equal(b.v, to, b.n);
	st_fuzz_bytes_free(&b);
}

static void
lines(void **state)
{
	(void)state;
	assert_becomes(ST_RULE_DOUBLE_LINE, "The quick brown fox.\n",
	               "The quick brown fox.The quick brown fox.\n");
	assert_becomes(ST_RULE_DOUBLE_LINE, "fox", "foxfox");
	assert_becomes(ST_RULE_COPY_LINE, "one\n", "one\none\n");
	assert_becomes(ST_RULE_COPY_LINE, "one", "one\none");
	assert_becomes(ST_RULE_DIVIDE_LINE, "ab\n", "a\nb\n");
	assert_becomes(ST_RULE_DIVIDE_LINE, "a\n", "a\n");
	assert_becomes(ST_RULE_DELETE_LINE, "one\n", "");
	assert_becomes(ST_RULE_DELETE_LINE, "one", "");
	assert_becomes(ST_RULE_DELETE_CHARACTER, "x\n", "\n");
	assert_becomes(ST_RULE_REMOVE_BLANKS, "The quick\tbrown fox.\n", "Thequickbrownfox.\n");
	assert_becomes(ST_RULE_REPEAT_BLANKS, "a b\n", "a          b\n");
}

static void
words(void **state)
{
	(void)state;
	assert_becomes(ST_RULE_SORT_WORDS, "the quick  brown fox\n", "brown fox  quick the\n");
	assert_becomes(ST_RULE_SORT_DESCENDING, "the quick brown\n", "the quick brown\n");
	assert_becomes(ST_RULE_SORT_WORDS, "10 9 -3 2.5", "-3 2.5 9 10");
	assert_becomes(ST_RULE_SORT_DESCENDING, "10 9 -3 2.5", "10 9 2.5 -3");
	assert_becomes(ST_RULE_SORT_WORDS, "10 9 x", "10 9 x");
	assert_becomes(ST_RULE_DELETE_WORD, " fox \n", "  \n");
	char hundred[102] = {0};
	memset(hundred, 'a', 100);
	hundred[100] = '\n';
	assert_becomes(ST_RULE_REPEAT_WORD, "a\n", hundred);
}

/* A limited repetition begins with the same bytes, and is not much longer. */
static void
limited_words(void **state)
{
	(void)state;
	struct st_fuzz_bytes all = {0}, few = {.most = 50};
	uint64_t random = 1;
	fill(&all, "abc\n", 4);
	fill(&few, "abc\n", 4);
	assert_false(st_rule_apply(ST_RULE_REPEAT_WORD, &all, &random));
	random = 1;
	assert_false(st_rule_apply(ST_RULE_REPEAT_WORD, &few, &random));
	assert_int_equal(all.n, 301);
	assert_in_range(few.n, 50, 53);
	assert_memory_equal(few.v, all.v, 50);
	st_fuzz_bytes_free(&all);
	st_fuzz_bytes_free(&few);
}

/* The range of lengths over many seeds. */
static void
blanks(void **state)
{
	static const enum st_fuzz_rule rules[] = {ST_RULE_APPEND_BLANKS, ST_RULE_PREPEND_BLANKS,
	                                          ST_RULE_INSERT_BLANKS};
	size_t least = SIZE_MAX, most = 0;
	(void)state;
	for (uint64_t random = 0, i = 0; i < 3000; i++) {
		struct st_fuzz_bytes b = {0};
		fill(&b, "ab\n", 3);
		assert_false(st_rule_apply(rules[i % 3], &b, &random));
		size_t n = b.n - 3;
		least = n < least ? n : least;
		most = n > most ? n : most;
		assert_int_equal(b.v[b.n - 1], '\n');
		assert_int_equal(b.v[0], i % 3 == 1 ? ' ' : b.v[0]);
		assert_true(i % 3 != 0 || !memcmp(b.v, "ab ", 3));
		assert_true(i % 3 != 1 || !memcmp(b.v + b.n - 4, " ab\n", 4));
		st_fuzz_bytes_free(&b);
	}
	assert_in_range(least, 100, 110);
	assert_in_range(most, 990, 1000);
}

static void
binary(void **state)
{
	uint64_t random = 7;
	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct st_fuzz_bytes b = {0};
		unsigned had[256] = {0}, has[256] = {0}, bits = 0;
		fill(&b, "\0\x80z\0\xff", 5);
		assert_false(st_rule_apply(ST_RULE_SWAP_BYTES, &b, &random));
		assert_int_equal(b.n, 5);
		for (int k = 0; k < 5; k++) {
			had[(uint8_t) "\0\x80z\0\xff"[k]]++;
			has[b.v[k]]++;
		}
		assert_memory_equal(had, has, sizeof had);
		fill(&b, "\0\x80z\0\xff", 5);
		assert_false(st_rule_apply(ST_RULE_FLIP_BIT, &b, &random));
		assert_int_equal(b.n, 5);
		for (int k = 0; k < 5; k++)
			bits += (unsigned)__builtin_popcount(b.v[k] ^ (uint8_t) "\0\x80z\0\xff"[k]);
		assert_int_equal(bits, 1);
		fill(&b, "\0\x80z\0\xff", 5);
		assert_false(st_rule_apply(ST_RULE_REMOVE_ZERO, &b, &random));
		assert_int_equal(b.n, 4);
		assert_non_null(memchr(b.v, 0, b.n));
		assert_false(st_rule_apply(ST_RULE_REMOVE_ZERO, &b, &random));
		assert_false(st_rule_apply(ST_RULE_REMOVE_ZERO, &b, &random));
		assert_int_equal(b.n, 3);
		assert_memory_equal(b.v, "\x80z\xff", 3);
		assert_false(st_rule_apply(ST_RULE_INSERT_ZERO, &b, &random));
		assert_int_equal(b.n, 4);
		assert_non_null(memchr(b.v, 0, b.n));
		assert_false(st_rule_apply(ST_RULE_REMOVE_BYTE, &b, &random));
		assert_int_equal(b.n, 3);
		assert_false(st_rule_apply(ST_RULE_INSERT_BYTE, &b, &random));
		assert_int_equal(b.n, 4);
		st_fuzz_bytes_free(&b);
	}
}

static int
by_byte(const void *x, const void *y)
{
	const uint8_t *a = x, *b = y;
	return *a - *b;
}

/* What has changed of "hello" is one range, in the order that the rule makes. */
static void
assert_range(enum st_fuzz_rule rule, const uint8_t *now)
{
	const char *old = "hello";
	size_t from = 0, to = 5;
	while (from < 5 && now[from] == old[from])
		from++;
	while (to > from && now[to - 1] == old[to - 1])
		to--;
	for (size_t i = from; i < to; i++)
		if (rule == ST_RULE_REVERSE_BYTES)
			assert_int_equal(now[i], old[from + to - 1 - i]);
		else if (i > from)
			assert_true(now[i - 1] <= now[i]);
}

/* Rules for ranges: what they keep, and what they can reach. */
static void
ranges(void **state)
{
	uint64_t random = 7;
	bool sorted = false, descending = false, reversed = false;
	size_t longest = 0;
	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct st_fuzz_bytes b = {0};
		fill(&b, "hello", 5);
		assert_false(st_rule_apply(ST_RULE_SORT_BYTES, &b, &random));
		assert_range(ST_RULE_SORT_BYTES, b.v);
		sorted |= !memcmp(b.v, "ehllo", 5);
		fill(&b, "hello", 5);
		assert_false(st_rule_apply(ST_RULE_SORT_BYTES_DESCENDING, &b, &random));
		descending |= !memcmp(b.v, "ollhe", 5);
		qsort(b.v, 5, 1, by_byte);
		assert_memory_equal(b.v, "ehllo", 5);
		fill(&b, "hello", 5);
		assert_false(st_rule_apply(ST_RULE_REVERSE_BYTES, &b, &random));
		assert_range(ST_RULE_REVERSE_BYTES, b.v);
		reversed |= !memcmp(b.v, "olleh", 5);
		/* One number is added to all bytes of one range. */
		fill(&b, "\0\0\0\0\0", 5);
		assert_false(st_rule_apply(ST_RULE_ADD_TO_BYTES, &b, &random));
		size_t changes = 0;
		for (size_t k = 0; k <= 5; k++) {
			const int8_t before = k ? (int8_t)b.v[k - 1] : 0,
			             now = k < 5 ? (int8_t)b.v[k] : 0;
			changes += before != now;
			assert_true(!now || (abs(now) <= 16 && !(abs(now) & (abs(now) - 1))));
		}
		assert_int_equal(changes, 2);
		/* Doublings of the range [from, to): what follows it stays behind it. */
		fill(&b, "hello", 5);
		assert_false(st_rule_apply(ST_RULE_REPEAT_BYTES, &b, &random));
		assert_in_range(b.n, 6, 5 * 64);
		assert_int_equal(b.v[0], 'h');
		assert_int_equal(b.v[b.n - 1], 'o');
		longest = b.n > longest ? b.n : longest;
		fill(&b, "hello", 5);
		b.most = 40;
		for (int k = 0; k < 40; k++)
			assert_false(st_rule_apply(ST_RULE_REPEAT_BYTES, &b, &random));
		assert_in_range(b.n, 40, 39 * 2);
		st_fuzz_bytes_free(&b);
	}
	assert_true(sorted && descending && reversed);
	assert_int_equal(longest, 5 * 64);
}

static void
tags(void **state)
{
	(void)state;
	assert_becomes(ST_RULE_REMOVE_ATTRIBUTE, "<a href=\"x\">y</a>", "<a>y</a>");
	assert_becomes(ST_RULE_REMOVE_ATTRIBUTE_NAME, "<a href='x'>y</a>", "<a ='x'>y</a>");
	assert_becomes(ST_RULE_REMOVE_ATTRIBUTE_VALUE, "<a href='x'>y</a>", "<a href=''>y</a>");
	assert_becomes(ST_RULE_REMOVE_TAG, "y<br/>z", "yz");
	assert_becomes(ST_RULE_REMOVE_ATTRIBUTE, "a=\"b\" > <", "a=\"b\" > <");
	assert_becomes(ST_RULE_REMOVE_TAG, "< never closed", "< never closed");
}

/* No rule fails with an input that has nothing to work on, or any bytes; what it makes of one seed
 * is always the same. */
static void
any_input(void **state)
{
	static const char *const texts[] = {"",    "\n",      " ", "\n\n", "<",
	                                    "<=>", "<a b=\"", "a", "\t \n"};
	uint64_t random = 3;
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct st_fuzz_bytes one = {0}, two = {0};
		uint8_t bytes[40];
		size_t n = st_random_below(&random, sizeof bytes);
		enum st_fuzz_rule rule =
		        (enum st_fuzz_rule)st_random_below(&random, ST_RULE_INSERT_TOKEN);
		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t) " \n<>=\"'a0\xc3"[st_random_below(&random, 11)];
		if (i < 1000) {
			n = strlen(texts[i % 9]);
			memcpy(bytes, texts[i % 9], n);
		}
		assert_false(st_fuzz_bytes_splice(&one, 0, 0, bytes, n));
		assert_false(st_fuzz_bytes_splice(&two, 0, 0, bytes, n));
		uint64_t again = random;
		assert_false(st_rule_apply(rule, &one, &random));
		assert_false(st_rule_apply(rule, &two, &again));
		assert_int_equal(one.n, two.n);
		if (one.n)
			assert_memory_equal(one.v, two.v, one.n);
		st_fuzz_bytes_free(&one);
		st_fuzz_bytes_free(&two);
	}
}

static void
sets(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		enum st_fuzz_type type;
		size_t rules;
	} cases[] = {{"plain text\n", 11, ST_TYPE_TEXT, 16},
	             {"gr\xc3\xbc\xc3\x9f\n", 7, ST_TYPE_TEXT, 16},
	             {"", 0, ST_TYPE_TEXT, 16},
	             {"a\0b", 3, ST_TYPE_BINARY, 11},
	             {"\xff\xfe\xfd", 3, ST_TYPE_BINARY, 11},
	             {" <?xml version='1.0'?><a/>", 26, ST_TYPE_XML, 20},
	             {"<a>", 3, ST_TYPE_XML, 20},
	             {"< 3", 3, ST_TYPE_TEXT, 16}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct st_fuzz_bytes b = {0};
		struct st_fuzz_rules rules = {0};
		fill(&b, cases[i].text, cases[i].n);
		assert_int_equal(st_fuzz_type_of(&b), cases[i].type);
		assert_false(st_rules_add_type(&rules, cases[i].type, NULL));
		assert_int_equal(st_rules_count(&rules), cases[i].rules);
		st_rules_free(&rules);
		st_fuzz_bytes_free(&b);
	}
}

/* Each rule has its own expression and replacement. */
static void
user_rules(void **state)
{
	struct st_fuzz_rules rules = {0};
	struct st_fuzz_bytes b = {0};
	struct st_error e;
	uint64_t random = 1;
	(void)state;
	assert_false(st_rules_add_user(&rules, "a+=>X", &e));
	assert_false(st_rules_add_user(&rules, "b=>", &e));
	assert_false(st_rules_add_named(&rules, "flip-bit", &e));
	assert_true(st_rules_add_user(&rules, "no separator", &e));
	assert_string_equal(e.text, "--regex takes EXPRESSION=>REPLACEMENT, as in 'a+=>aaaa', not "
	                            "'no separator'");
	assert_true(st_rules_add_user(&rules, "(=>x", &e));
	assert_non_null(strstr(e.text, "'(' is not an extended regular expression: "));
	assert_true(st_rules_add_named(&rules, "flip-bits", &e));
	assert_string_equal(e.text,
	                    "--rules: there is no rule 'flip-bits' (did you mean 'flip-bit'?): "
	                    "see strobe help fuzz");
	assert_int_equal(st_rules_count(&rules), 3);
	assert_string_equal(st_rules_name(&rules, 1), "b");
	assert_string_equal(st_rules_name(&rules, 2), "flip-bit");
	fill(&b, "caaab", 5);
	assert_false(st_rules_apply(&rules, 0, &b, &random));
	assert_int_equal(b.n, 3);
	assert_memory_equal(b.v, "cXb", 3);
	assert_false(st_rules_apply(&rules, 1, &b, &random));
	assert_int_equal(b.n, 2);
	assert_memory_equal(b.v, "cX", 2);
	st_fuzz_bytes_free(&b);
	st_rules_free(&rules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(lines),         cmocka_unit_test(words),
	        cmocka_unit_test(limited_words), cmocka_unit_test(blanks),
	        cmocka_unit_test(binary),        cmocka_unit_test(ranges),
	        cmocka_unit_test(tags),          cmocka_unit_test(any_input),
	        cmocka_unit_test(sets),          cmocka_unit_test(user_rules)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
