/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the store that are functions of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "store/column.h"
#include "store/pack.h"
#include "store/sha256.h"
#include "store/traits.h"

static void
check_hash(const char *text, size_t n, const char *expected)
{
	char hex[ST_HASH_HEX + 1];
	struct st_hash hash = st_sha256(text, n);
	assert_string_equal(st_hash_hex(&hash, hex), expected);
}

/* The examples of FIPS 180-4, and the lengths around the end of a block by sha256sum. */
static void
test_sha256(void **state)
{
	static char million[1000000], zeros[128];
	(void)state;
	memset(million, 'a', sizeof million);
	check_hash("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_hash("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
	           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	check_hash(million, sizeof million,
	           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	check_hash(zeros, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
	check_hash(zeros, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

static struct st_cell
number(int64_t n)
{
	return (struct st_cell){.kind = ST_CELL_NUMBER, .number = n};
}

static struct st_cell
text(const char *t, size_t n)
{
	return (struct st_cell){.kind = ST_CELL_TEXT, .bytes = t, .n = n};
}

static void
check_same(const struct st_cell *a, const struct st_cell *b)
{
	assert_int_equal(a->kind, b->kind);
	if (a->kind == ST_CELL_NUMBER)
		assert_int_equal(a->number, b->number);
	if (a->kind == ST_CELL_REAL)
		assert_memory_equal(&a->real, &b->real, sizeof a->real);
	if (a->kind == ST_CELL_TEXT || a->kind == ST_CELL_BLOB) {
		assert_int_equal(a->n, b->n);
		if (a->n)
			assert_memory_equal(a->bytes, b->bytes, a->n);
	}
}

/* Written and read again; returns the bytes. */
static struct st_bytes
check_round_trip(const struct st_cell *cells, size_t n)
{
	struct st_column_writer w = {0};
	struct st_bytes bytes = {0};
	struct st_cell cell;
	for (size_t i = 0; i < n; i++)
		st_column_add(&w, &cells[i]);
	st_column_end(&w, &bytes);
	assert_false(bytes.failed);
	struct st_column_reader r = st_column_read(bytes.v, bytes.n);
	for (size_t i = 0; i < n; i++) {
		assert_true(st_column_next(&r, &cell));
		check_same(&cells[i], &cell);
	}
	assert_false(st_column_next(&r, &cell));
	assert_false(r.cut.bad);
	return bytes;
}

static void
check_column(const struct st_cell *cells, size_t n)
{
	struct st_bytes bytes = check_round_trip(cells, n);
	st_bytes_free(&bytes);
}

static void
test_column(void **state)
{
	const struct st_cell extremes[] = {number(INT64_MIN), number(INT64_MAX), number(0),
	                                   number(-1),        number(INT64_MIN), number(INT64_MAX)};
	const struct st_cell rising[] = {number(1), number(2), number(3), number(400)};
	const struct st_cell texts[] = {text("", 0), text("a\0b", 3), text("\xff", 1)};
	const struct st_cell mixed[] = {number(7),
	                                {.kind = ST_CELL_NULL},
	                                text("x", 1),
	                                {.kind = ST_CELL_REAL, .real = -0.0},
	                                {.kind = ST_CELL_REAL, .real = 1e300},
	                                {.kind = ST_CELL_BLOB, .bytes = "\0\1", .n = 2}};
	(void)state;
	check_column(extremes, 6);
	check_column(rising, 4);
	check_column(texts, 3);
	check_column(mixed, 6);
	check_column(NULL, 0);
}

/* Offsets of functions are a few bytes each, and equal columns are equal bytes. */
static void
test_column_is_short(void **state)
{
	enum { N = 1000 };
	struct st_cell cells[N];
	(void)state;
	for (int i = 0; i < N; i++)
		cells[i] = number(0x7f0000000000 + 16 * i);
	struct st_bytes one = check_round_trip(cells, N), two = check_round_trip(cells, N);
	assert_true(one.n < N + 16);
	assert_int_equal(one.n, two.n);
	assert_memory_equal(one.v, two.v, one.n);
	st_bytes_free(&one);
	st_bytes_free(&two);
}

static struct st_pack
make_pack(void)
{
	struct st_pack p = {.version = 4};
	*ST_PUSH(&p.schema) = strdup("CREATE TABLE t(a, b)");
	struct st_pack_table *t = ST_PUSH(&p.tables);
	t->name = strdup("t");
	t->rows = 2;
	struct st_pack_column *a = ST_PUSH(&t->columns);
	a->name = strdup("a");
	st_bytes_add(&a->bytes, "\1\2\4", 3);
	struct st_pack_column *b = ST_PUSH(&t->columns);
	b->name = strdup("b");
	b->apart = true;
	b->hash = st_sha256("b", 1);
	return p;
}

static void
test_manifest(void **state)
{
	struct st_pack p = make_pack(), q;
	struct st_bytes bytes = {0}, again = {0};
	(void)state;
	st_pack_manifest(&p, &bytes);
	assert_true(st_pack_of_manifest(&q, bytes.v, bytes.n));
	st_pack_manifest(&q, &again);
	assert_int_equal(bytes.n, again.n);
	assert_memory_equal(bytes.v, again.v, bytes.n);
	assert_non_null(st_pack_column_named(&q, "t", "b"));
	assert_null(st_pack_column_named(&q, "t", "c"));
	assert_null(st_pack_table_named(&q, "u"));
	st_pack_free(&q);
	/* Each shorter manifest is refused, and so is a longer one. */
	for (size_t n = 0; n < bytes.n; n++) {
		assert_false(st_pack_of_manifest(&q, bytes.v, n));
		st_pack_free(&q);
	}
	st_bytes_add(&bytes, "", 1);
	assert_false(st_pack_of_manifest(&q, bytes.v, bytes.n));
	st_pack_free(&q);
	st_pack_free(&p);
	st_bytes_free(&bytes);
	st_bytes_free(&again);
}

/* Damaged bytes end a reader, under the sanitizers without a word from them. */
static void
test_damaged(void **state)
{
	enum { ROUNDS = 20000 };
	const struct st_cell mixed[] = {number(7), text("seven", 5), {.kind = ST_CELL_NULL}};
	struct st_pack p = make_pack(), q;
	struct st_bytes manifest = {0}, column = check_round_trip(mixed, 3);
	uint64_t random = 1;
	(void)state;
	st_pack_manifest(&p, &manifest);
	for (int i = 0; i < ROUNDS; i++) {
		struct st_bytes *b = i % 2 ? &manifest : &column, copy = {0};
		struct st_cell cell;
		st_bytes_add(&copy, b->v, b->n);
		for (size_t k = st_random_below(&random, 4) + 1; k; k--)
			copy.v[st_random_below(&random, copy.n)] =
			        (unsigned char)st_random_next(&random);
		copy.n -= st_random_below(&random, 3);
		struct st_column_reader r = st_column_read(copy.v, copy.n);
		size_t n = 0;
		while (st_column_next(&r, &cell))
			assert_true(n++ < copy.n);
		(void)!st_pack_of_manifest(&q, copy.v, copy.n);
		st_pack_free(&q);
		st_bytes_free(&copy);
	}
	st_pack_free(&p);
	st_bytes_free(&manifest);
	st_bytes_free(&column);
}

static void
test_machines(void **state)
{
	const char a[] = "cpu=X\ncores=2\nkernel=Linux 6\nlibrary libc.so.6=12\nonly=a\n";
	const char b[] = "library libc.so.6=34\nkernel=Linux 6\ncores=4\ncpu=X\nother=b\n";
	struct st_trait_difference d;
	const char *at = NULL;
	(void)state;
	assert_true(st_traits_differ(a, b, &at, &d));
	assert_int_equal(d.name_length, 5);
	assert_memory_equal(d.name, "cores", 5);
	assert_memory_equal(d.a, "2\n", 2);
	assert_memory_equal(d.b, "4\n", 2);
	assert_true(st_traits_differ(a, b, &at, &d));
	assert_memory_equal(d.name, "library libc.so.6=12", 20);
	assert_false(st_traits_differ(a, b, &at, &d));
	at = NULL;
	assert_false(st_traits_differ(a, a, &at, &d));
	/* A value that only begins alike is another one. */
	at = NULL;
	assert_true(st_traits_differ("cores=2\n", "cores=24\n", &at, &d));
	assert_null(st_traits_differences(a, a, ", here "));
	char *all = st_traits_differences(a, b, ", here ");
	assert_string_equal(all, "cores: 2, here 4; library libc.so.6: 12, here 34");
	free(all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_sha256),   cmocka_unit_test(test_column),
	        cmocka_unit_test(test_manifest), cmocka_unit_test(test_column_is_short),
	        cmocka_unit_test(test_damaged),  cmocka_unit_test(test_machines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
