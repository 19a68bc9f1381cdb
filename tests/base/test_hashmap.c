/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hash map against a search of the whole array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hashmap.h"
#include "base/vec.h"

typedef ST_VEC(uint64_t) numbers;

static uint32_t
find(const struct st_hashmap *m, const numbers *all, uint32_t hash, uint64_t number)
{
	return ST_HASHMAP_FIND(m, hash, i, all->v[i] == number);
}

/* Adds what is new of `n` numbers below `most`; each is found where it is, or not at all. */
static void
fill(size_t n, uint64_t most, uint32_t hash_mask)
{
	struct st_hashmap m = {0};
	numbers all = {0};
	uint64_t state = 1;
	for (size_t i = 0; i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		const uint64_t number = (state >> 33) % most;
		const uint32_t hash = st_hash_number(number) & hash_mask;
		uint32_t truth = 0;
		while (truth < all.n && all.v[truth] != number)
			truth++;
		const uint32_t found = find(&m, &all, hash, number);
		assert_int_equal(found, truth < all.n ? truth : ST_HASHMAP_NONE);
		if (found != ST_HASHMAP_NONE)
			continue;
		uint64_t *new = ST_PUSH(&all);
		assert_non_null(new);
		*new = number;
		assert_int_equal(st_hashmap_add(&m, hash, (uint32_t)all.n - 1), ST_OK);
	}
	assert_int_equal(m.n, all.n);
	free(all.v);
	st_hashmap_free(&m);
	assert_null(m.slots);
}

static void
test_against_search(void **state)
{
	(void)state;
	fill(3000, 2000, UINT32_MAX);
	fill(1000, 1u << 31, UINT32_MAX);
}

/* Elements whose hashes are the same, or lie beside one another and over the end. */
static void
test_bad_hashes(void **state)
{
	(void)state;
	fill(500, 300, 0);
	fill(500, 300, 3);
	fill(500, 300, 0xffffff00u);
}

static void
test_empty(void **state)
{
	struct st_hashmap m = {0};
	numbers all = {0};
	(void)state;
	assert_int_equal(find(&m, &all, 7, 7), ST_HASHMAP_NONE);
	st_hashmap_replace(&m, 7, 0, 1);
	st_hashmap_free(&m);
}

/* Of several elements of one hash the one that was said is replaced, and no other. */
static void
test_replace(void **state)
{
	struct st_hashmap m = {0};
	uint64_t v[] = {10, 11, 12, 13};
	numbers all = {v, 4, 4};
	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(st_hashmap_add(&m, 5, i), ST_OK);
	st_hashmap_replace(&m, 5, 1, 3);
	assert_int_equal(find(&m, &all, 5, 10), 0);
	assert_int_equal(find(&m, &all, 5, 11), ST_HASHMAP_NONE);
	assert_int_equal(find(&m, &all, 5, 12), 2);
	assert_int_equal(find(&m, &all, 5, 13), 3);
	assert_int_equal(m.n, 3);
	st_hashmap_free(&m);
}

static void
test_hashes(void **state)
{
	(void)state;
	assert_int_equal(st_hash_text("a name of some length"),
	                 st_hash_bytes("a name of some length!", 21));
	assert_int_not_equal(st_hash_text("12345678"), st_hash_text("12345679"));
	assert_int_not_equal(st_hash_bytes("\0", 1), st_hash_bytes("", 0));
	assert_int_not_equal(st_hash_numbers(1, 2), st_hash_numbers(2, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_against_search), cmocka_unit_test(test_bad_hashes),
	        cmocka_unit_test(test_empty),          cmocka_unit_test(test_replace),
	        cmocka_unit_test(test_hashes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
