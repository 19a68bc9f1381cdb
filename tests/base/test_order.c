/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting by keys against qsort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/order.h"

enum { MOST = 5000 };

static uint64_t seed = 88172645463325252u;

static uint64_t
any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* By key, then by the place in the vector before, which value tells. */
static int
by_key(const void *a, const void *b)
{
	const struct st_keyed *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void
check(size_t n, uint64_t mask)
{
	static struct st_keyed v[MOST], truth[MOST];
	for (size_t i = 0; i < n; i++)
		v[i] = truth[i] = (struct st_keyed){any() & mask, i};
	assert_int_equal(st_order_keys(v, n), 0);
	if (n)
		qsort(truth, n, sizeof *truth, by_key);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(v[i].key, truth[i].key);
		assert_int_equal(v[i].value, truth[i].value);
	}
}

static void
orders_keys(void **state)
{
	(void)state;
	static const uint64_t masks[] = {0,
	                                 1,
	                                 0x7ff,
	                                 0x800,
	                                 0xfffff,
	                                 0xff00000000000000u,
	                                 ~0ull,
	                                 1ull << 63,
	                                 0x8000000000000001u,
	                                 0x3ff800,
	                                 0xfff0fff0fff0};
	for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
		for (size_t n = 0; n < MOST; n = n * 3 + 1)
			check(n, masks[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(orders_keys)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
