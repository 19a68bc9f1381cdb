/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The difference of two inputs: it is exact, and as small as there is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "fuzz/difference.h"

static struct st_fuzz_bytes
bytes_of(const char *text)
{
	return (struct st_fuzz_bytes){.v = (uint8_t *)text, .n = strlen(text)};
}

/* The seed with all changes made is the witness; changes are in order and apart. */
static void
assert_applies(const struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
               const struct st_fuzz_bytes *witness)
{
	struct st_fuzz_bytes made = {0};
	size_t at = 0, removed = 0, inserted = 0;
	for (size_t i = 0; i < d->list.n; i++) {
		const struct st_fuzz_change *c = &d->list.v[i];
		assert_true(c->from >= at && (!i || c->from > at));
		assert_true(c->n_removed + c->n_inserted > 0);
		assert_true(c->from + c->n_removed <= seed->n);
		assert_true(c->to + c->n_inserted <= witness->n);
		assert_false(st_fuzz_bytes_splice(&made, made.n, 0, seed->v + at, c->from - at));
		assert_int_equal(made.n, c->to);
		assert_false(
		        st_fuzz_bytes_splice(&made, made.n, 0, witness->v + c->to, c->n_inserted));
		at = c->from + c->n_removed;
		removed += c->n_removed;
		inserted += c->n_inserted;
	}
	assert_false(st_fuzz_bytes_splice(&made, made.n, 0, seed->v + at, seed->n - at));
	assert_int_equal(made.n, witness->n);
	if (made.n)
		assert_memory_equal(made.v, witness->v, made.n);
	assert_int_equal(d->kept, seed->n - removed);
	assert_int_equal(d->kept, witness->n - inserted);
	assert_int_equal(d->seed_bytes, seed->n);
	assert_int_equal(d->witness_bytes, witness->n);
	st_fuzz_bytes_free(&made);
}

static void
assert_printed(const char *from, const char *to, size_t joined, const char *wanted)
{
	const struct st_fuzz_bytes seed = bytes_of(from), witness = bytes_of(to);
	struct st_fuzz_difference d;
	char *text = NULL;
	size_t size;
	assert_false(st_fuzz_difference_find(&d, &seed, &witness, joined));
	assert_applies(&d, &seed, &witness);
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	st_fuzz_difference_print(&d, &seed, &witness, out);
	assert_false(fclose(out));
	assert_string_equal(text, wanted);
	free(text);
	st_fuzz_difference_free(&d);
}

static void
small(void **state)
{
	(void)state;
	assert_printed("", "", 0, "");
	assert_printed("same", "same", 0, "  4 'same'\n");
	assert_printed("", "new", 0, "+ 3 'new'\n");
	assert_printed("old", "", 0, "- 3 'old'\n");
	assert_printed("old", "NEW", 0, "- 3 'old'\n+ 3 'NEW'\n");
	assert_printed("a word\n", "a wordwordword\n", 0,
	               "  6 'a word'\n+ 8 'wordword'\n  1 '\\012'\n");
	assert_printed("one two three", "one three", 0, "  5 'one t'\n- 4 'wo t'\n  4 'hree'\n");
	assert_printed("axbxc", "ayb%c", 0,
	               "  1 'a'\n- 1 'x'\n+ 1 'y'\n  1 'b'\n- 1 'x'\n+ 1 '\\045'\n  1 'c'\n");
	assert_printed("axbxc", "ayb%c", 2, "  1 'a'\n- 3 'xbx'\n+ 3 'yb\\045'\n  1 'c'\n");
}

static void
long_parts(void **state)
{
	char text[101], wanted[200];
	(void)state;
	memset(text, 'b', sizeof text - 1);
	memset(text, 'a', 40);
	text[100] = '\0';
	snprintf(wanted, sizeof wanted, "  1 'x'\n+ 100 '%.32s' ... '%.32s'\n  1 'y'\n", text,
	         text + 68);
	char whole[103];
	snprintf(whole, sizeof whole, "x%sy", text);
	assert_printed("xy", whole, 4, wanted);
	text[64] = '\0';
	snprintf(whole, sizeof whole, "x%sy", text);
	snprintf(wanted, sizeof wanted, "  1 'x'\n+ 64 '%s'\n  1 'y'\n", text);
	assert_printed("xy", whole, 4, wanted);
}

/* The length of the longest common subsequence, by its definition. */
static size_t
longest(const struct st_fuzz_bytes *a, const struct st_fuzz_bytes *b)
{
	enum { MOST = 64 };
	size_t table[MOST + 1][MOST + 1] = {{0}};
	for (size_t i = 1; i <= a->n; i++)
		for (size_t k = 1; k <= b->n; k++)
			if (a->v[i - 1] == b->v[k - 1])
				table[i][k] = table[i - 1][k - 1] + 1;
			else
				table[i][k] = table[i - 1][k] > table[i][k - 1] ? table[i - 1][k]
				                                                : table[i][k - 1];
	return table[a->n][b->n];
}

static void
fill_random(struct st_fuzz_bytes *b, uint64_t *random, uint64_t letters)
{
	b->n = 0;
	for (size_t n = st_random_below(random, 60); n > 0; n--) {
		const uint8_t letter = (uint8_t)('a' + st_random_below(random, letters));
		assert_false(st_fuzz_bytes_splice(b, b->n, 0, &letter, 1));
	}
}

static void
random_pairs(void **state)
{
	uint64_t random = 11;
	struct st_fuzz_bytes a = {0}, b = {0};
	(void)state;
	for (int round = 0; round < 3000; round++) {
		const uint64_t letters = 1 + st_random_below(&random, 6);
		struct st_fuzz_difference d;
		fill_random(&a, &random, letters);
		fill_random(&b, &random, letters);
		assert_false(st_fuzz_difference_find(&d, &a, &b, 0));
		assert_int_equal(d.unit, ST_DIFFERENCE_BYTES);
		assert_applies(&d, &a, &b);
		assert_int_equal(d.kept, longest(&a, &b));
		st_fuzz_difference_free(&d);
		const size_t joined = 1 + st_random_below(&random, 8);
		assert_false(st_fuzz_difference_find(&d, &a, &b, joined));
		assert_applies(&d, &a, &b);
		for (size_t i = 1; i < d.list.n; i++)
			assert_true(d.list.v[i].from - d.list.v[i - 1].from -
			                    d.list.v[i - 1].n_removed >=
			            joined);
		st_fuzz_difference_free(&d);
	}
	st_fuzz_bytes_free(&a);
	st_fuzz_bytes_free(&b);
}

/* Inputs that are too large to be compared by bytes: 4000 lines, of which one is another, and three
 * are new. */
static void
lines(void **state)
{
	struct st_fuzz_bytes a = {0}, b = {0};
	struct st_fuzz_difference d;
	(void)state;
	for (int i = 0; i < 4000; i++) {
		char line[16];
		const size_t n = (size_t)snprintf(line, sizeof line, "%d\n", i % 1000);
		assert_false(st_fuzz_bytes_splice(&a, a.n, 0, line, n));
		if (i == 2000)
			assert_false(st_fuzz_bytes_splice(&b, b.n, 0, "x\ny\nz\n", 6));
		if (i == 3000)
			assert_false(st_fuzz_bytes_splice(&b, b.n, 0, "other\n", 6));
		else
			assert_false(st_fuzz_bytes_splice(&b, b.n, 0, line, n));
	}
	assert_false(st_fuzz_difference_find(&d, &a, &b, 0));
	assert_int_equal(d.unit, ST_DIFFERENCE_LINES);
	assert_applies(&d, &a, &b);
	assert_int_equal(d.list.n, 2);
	assert_int_equal(d.list.v[0].n_removed, 0);
	assert_int_equal(d.list.v[0].n_inserted, 6);
	assert_int_equal(d.list.v[1].n_removed, 1); /* without the newline */
	assert_int_equal(d.list.v[1].n_inserted, 5);
	st_fuzz_difference_free(&d);
	st_fuzz_bytes_free(&a);
	st_fuzz_bytes_free(&b);
}

/* Of two long lines, and of too many short ones, only what is between equal ends differs. */
static void
check_ends(enum st_difference_unit unit, uint8_t separator)
{
	enum { N = 30000 };
	struct st_fuzz_bytes a = {.v = malloc(N), .n = N}, b = {.v = malloc(N), .n = N};
	struct st_fuzz_difference d;
	assert_non_null(a.v);
	assert_non_null(b.v);
	memset(a.v, 'a', N);
	memset(b.v, 'b', N);
	memset(b.v, 'a', 100);
	memset(b.v + N - 50, 'a', 50);
	for (size_t i = 1; i < N; i += 2)
		a.v[i] = b.v[i] = separator;
	assert_false(st_fuzz_difference_find(&d, &a, &b, 4));
	assert_int_equal(d.unit, unit);
	assert_applies(&d, &a, &b);
	assert_int_equal(d.list.n, 1);
	assert_int_equal(d.list.v[0].from, 100);
	assert_int_equal(d.list.v[0].n_removed, N - 151); /* the last separator is the same */
	st_fuzz_difference_free(&d);
	free(a.v);
	free(b.v);
}

static void
ends(void **state)
{
	(void)state;
	check_ends(ST_DIFFERENCE_LINES, '-');
	check_ends(ST_DIFFERENCE_ENDS, '\n');
	assert_string_equal(st_difference_unit_name(ST_DIFFERENCE_ENDS), "ends");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(small),        cmocka_unit_test(long_parts),
	        cmocka_unit_test(random_pairs), cmocka_unit_test(lines),
	        cmocka_unit_test(ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
