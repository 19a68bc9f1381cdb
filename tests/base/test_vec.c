/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growing arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"

static void
test_push(void **state)
{
	ST_VEC(uint32_t) vec = {0};
	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t *new = ST_PUSH(&vec);
		assert_non_null(new);
		assert_int_equal(*new, 0);
		*new = i;
	}
	assert_int_equal(vec.n, 1000);
	for (uint32_t i = 0; i < vec.n; i++)
		assert_int_equal(vec.v[i], i);
	free(vec.v);
}

/* What was removed from the end does not come back. */
static void
test_push_zeroes(void **state)
{
	ST_VEC(uint64_t) vec = {0};
	(void)state;
	*ST_PUSH(&vec) = UINT64_MAX;
	vec.n--;
	assert_int_equal(*ST_PUSH(&vec), 0);
	free(vec.v);
}

static void
test_reserve(void **state)
{
	ST_VEC(char) vec = {0};
	(void)state;
	assert_true(ST_RESERVE(&vec, 100));
	assert_int_equal(vec.cap, 100);
	const char *at = vec.v;
	for (int i = 0; i < 100; i++)
		*ST_PUSH(&vec) = (char)i;
	assert_ptr_equal(vec.v, at);
	assert_true(ST_RESERVE(&vec, 5 << 20)); /* in large pages, where there are any */
	assert_int_equal(vec.cap, 100 + (5 << 20));
	assert_int_equal(vec.v[99], 99);
	free(vec.v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_push),
	        cmocka_unit_test(test_push_zeroes),
	        cmocka_unit_test(test_reserve),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
