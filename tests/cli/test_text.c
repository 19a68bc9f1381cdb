/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/text.h"

static void
numbers(void **state)
{
	(void)state;
	char b[ST_NUMBER_SIZE];
	assert_string_equal(st_number(b, 0), "0");
	assert_string_equal(st_number(b, 999), "999");
	assert_string_equal(st_number(b, 1000), "1,000");
	assert_string_equal(st_number(b, 123456789), "123,456,789");
	assert_string_equal(st_number(b, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(ST_COUNT(0, "process was", "processes were"), "0 processes were");
	assert_string_equal(ST_COUNT(1, "process was", "processes were"), "1 process was");
	assert_string_equal(ST_COUNT(1000, "process was", "processes were"),
	                    "1,000 processes were");
}

static void
durations(void **state)
{
	(void)state;
	char b[ST_NUMBER_SIZE];
	assert_string_equal(st_duration(b, 0), "0.0 ms");
	assert_string_equal(st_duration(b, 999), "999 ns");
	assert_string_equal(st_duration(b, 1500), "1.5 us");
	assert_string_equal(st_duration(b, 1000000), "1.0 ms");
	assert_string_equal(st_duration(b, 12345678), "12.3 ms");
	assert_string_equal(st_duration(b, 1250000000), "1.250 s");
	assert_string_equal(st_duration(b, 125500000000), "2 min 5.5 s");
	assert_string_equal(st_duration(b, -1), "-");
	st_duration(b, INT64_MAX);
	assert_true(strlen(b) < sizeof b);
}

static void
shortening(void **state)
{
	(void)state;
	char plain[] = "std::vector<int>::push_back", same[] = "main";
	char utf8[] = "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6\xc3\xbc";
	st_shorten(plain, 14);
	assert_string_equal(plain, "std::vector...");
	st_shorten(same, 4);
	assert_string_equal(same, "main");
	assert_int_equal(st_columns(utf8), 7);
	st_shorten(utf8, 5);
	assert_string_equal(utf8, "\xc3\xa4\xc3\xb6...");
	char *clean = st_printable("a\033[31mb\tc\x7f");
	assert_string_equal(clean, "a?[31mb?c?");
	free(clean);
}

static char *
printed(struct st_style style)
{
	static const struct st_table_column columns[] = {
	        {"count", false}, {"kind", true}, {"name", true}};
	struct st_table *t = st_table_new(columns, 3);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	st_table_count(t, 1234567);
	st_table_cell(t, "x");
	st_table_cell(t, "%s", "short");
	st_table_count(t, 8);
	st_table_cell(t, "longer");
	st_table_cell(t, "%s", "a name that does not fit at all");
	st_table_print(t, out, style);
	fclose(out);
	assert_int_equal(st_table_rows(t), 2);
	st_table_free(t);
	return text;
}

static void
tables(void **state)
{
	(void)state;
	char *text = printed((struct st_style){0});
	assert_string_equal(text, "      count  kind    name\n"
	                          "  1,234,567  x       short\n"
	                          "          8  longer  a name that does not fit at all\n");
	free(text);
	text = printed((struct st_style){.width = 42});
	assert_string_equal(text, "      count  kind    name\n"
	                          "  1,234,567  x       short\n"
	                          "          8  longer  a name that does n...\n");
	free(text);
	text = printed((struct st_style){.colour = true});
	static const char head[] = "\033[1m      count  kind    name\033[0m\n";
	assert_memory_equal(text, head, sizeof head - 1);
	free(text);
}

/* Controls of both sets, bytes that are no UTF-8, marks of direction; and what is text stays. */
static void
tricks_are_taken_out(void **state)
{
	(void)state;
	char *text = st_printable(
	        "\xc2\x9b"
	        "2J\x9b|\u202e\u2066\u200f\u2028\ufeff|\u00e9\u4e2d\U0001f600\xf0\x9f");
	assert_string_equal(text, "?2J?|?????|\u00e9\u4e2d\U0001f600??");
	free(text);
	text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct st_safe safe;
	FILE *into = st_safe_begin(&safe, out);
	assert_non_null(into);
	fputs("\033[1mbold\033[0m\tx\n\033[8mhidden\r\n", into);
	st_safe_end(&safe);
	st_print_json_safely(out, "{\"\u202e\": \"\xc2\x9b\U000e0041\u00e9\x7f\"}");
	fclose(out);
	assert_string_equal(text, "\033[1mbold\033[0m\tx\n?[8mhidden?\n"
	                          "{\"\\u202e\": \"\\u009b\\udb40\\udc41\u00e9\\u007f\"}");
	free(text);
}

static void
style_of_a_file_is_plain(void **state)
{
	(void)state;
	FILE *f = tmpfile();
	struct st_style style = st_style_of(f);
	assert_int_equal(style.width, 0);
	assert_false(style.colour);
	fclose(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(numbers),
	        cmocka_unit_test(durations),
	        cmocka_unit_test(shortening),
	        cmocka_unit_test(tables),
	        cmocka_unit_test(style_of_a_file_is_plain),
	        cmocka_unit_test(tricks_are_taken_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
