/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that is built piece by piece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/text.h"
#include "base/words.h"

static void
test_built(void **state)
{
	struct st_text t;
	(void)state;
	FILE *out = st_text_begin(&t);
	assert_non_null(out);
	for (int i = 0; i < 1000; i++)
		fprintf(out, "%d,", i % 10);
	char *text = st_text_end(&t);
	assert_int_equal(t.n, 2000);
	assert_int_equal(strlen(text), 2000);
	assert_memory_equal(text, "0,1,2,3,4,5,6,7,8,9,0,", 22);
	free(text);
}

static void
test_empty_and_zeros(void **state)
{
	struct st_text t;
	(void)state;
	st_text_begin(&t);
	char *text = st_text_end(&t);
	assert_string_equal(text, "");
	assert_int_equal(t.n, 0);
	free(text);
	fputc(0, st_text_begin(&t));
	free(st_text_end(&t));
	assert_int_equal(t.n, 1);
}

/* No memory for the text at the beginning: none at the end, either. */
static void
test_none(void **state)
{
	struct st_text t = {0};
	(void)state;
	assert_null(st_text_end(&t));
}

static void
test_of(void **state)
{
	(void)state;
	char *text = st_text_of("%s-%d", "a", 7);
	assert_string_equal(text, "a-7");
	free(text);
}

static void
test_append(void **state)
{
	char buffer[8] = "";
	(void)state;
	st_append(buffer, sizeof buffer, "%s", "abc");
	st_append(buffer, sizeof buffer, "%d", 12);
	assert_string_equal(buffer, "abc12");
	st_append(buffer, sizeof buffer, "%s", "345678");
	assert_string_equal(buffer, "abc1234");
	st_append(buffer, sizeof buffer, "%s", "x");
	assert_string_equal(buffer, "abc1234");
	char full[2] = {'a', 'b'};
	st_append(full, sizeof full, "c");
	assert_int_equal(full[1], 'b');
}

/* A shell makes the same words of them. */
static void
test_shell_quote(void **state)
{
	struct st_text t;
	(void)state;
	FILE *out = st_text_begin(&t);
	assert_non_null(out);
	st_shell_quote(out, "");
	putc(' ', out);
	st_shell_quote(out, "a $b\n'c'");
	char *text = st_text_end(&t);
	assert_string_equal(text, "'' 'a $b\n'\\''c'\\'''");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_built),  cmocka_unit_test(test_empty_and_zeros),
	        cmocka_unit_test(test_none),   cmocka_unit_test(test_of),
	        cmocka_unit_test(test_append), cmocka_unit_test(test_shell_quote),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
