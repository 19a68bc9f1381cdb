/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of parents and of how many inputs a rule makes; the map of edges; minimising. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fuzz/corpus.h"
#include "fuzz/minimise.h"

static void
fill_corpus(struct st_corpus *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct st_fuzz_input input = {.ratio = (double)(n - i)};
		assert_false(st_corpus_add(c, &input));
	}
}

/* Of ten inputs each interval has two: those of interval i are chosen with i / 15 / 2. */
static void
parents(void **state)
{
	enum { PICKS = 150000 };
	struct st_corpus c = {0};
	size_t seen[10] = {0}, number;
	uint64_t random = 1;
	(void)state;
	fill_corpus(&c, 10);
	for (int i = 0; i < PICKS; i++) {
		assert_false(st_corpus_choose(&c, &random, &number));
		seen[number]++;
	}
	for (size_t i = 0; i < 10; i++) /* the first has the best ratio; 6 standard deviations */
		assert_in_range(seen[i], PICKS / 30 * (5 - i / 2) - 900,
		                PICKS / 30 * (5 - i / 2) + 900);
	st_corpus_free(&c);
	fill_corpus(&c, 3);
	memset(seen, 0, sizeof seen);
	for (int i = 0; i < 30000; i++) {
		assert_false(st_corpus_choose(&c, &random, &number));
		seen[number]++;
	}
	for (size_t i = 0; i < 3; i++)
		assert_in_range(seen[i], 9500, 10500);
	st_corpus_free(&c);
}

static void
fitness(void **state)
{
	(void)state;
	assert_float_equal(st_corpus_fitness(&(struct st_fuzz_input){.ratio = 3}), 3, 0);
	assert_float_equal(
	        st_corpus_fitness(&(struct st_fuzz_input){.ratio = 3, .made = 4, .interesting = 1}),
	        3.75, 0);
}

static void
mutants(void **state)
{
	uint64_t random = 5;
	size_t sum = 0;
	(void)state;
	for (size_t hits = 0; hits < 300; hits++) {
		assert_int_equal(st_fuzz_mutants(ST_STRATEGY_UNITARY, hits, 300, &random), 1);
		assert_int_equal(st_fuzz_mutants(ST_STRATEGY_PROPORTIONAL, hits, 300, &random),
		                 hits + 1 < 100 ? hits + 1 : 100);
		assert_int_equal(st_fuzz_mutants(ST_STRATEGY_PROBABILISTIC, hits, 0, &random), 1);
	}
	for (int i = 0; i < 10000; i++) /* at least a tenth, and a half */
		sum += st_fuzz_mutants(ST_STRATEGY_PROBABILISTIC, 0, 10, &random);
	assert_in_range(sum, 850, 1150);
	sum = 0;
	for (int i = 0; i < 10000; i++)
		sum += st_fuzz_mutants(ST_STRATEGY_MIXED, 5, 10, &random);
	assert_in_range(sum, 6 * 4700, 6 * 5300);
}

static void
map(void **state)
{
	struct st_fuzz_map map = {0};
	struct st_fuzz_edge_count counts[] = {{0, 5}, {3, 1}};
	const struct st_fuzz_execution x = {.edges = {counts, 2, 2}};
	bool raised;
	(void)state;
	assert_false(st_fuzz_map_raise(&map, &x, &raised));
	assert_true(raised);
	assert_false(st_fuzz_map_is_raised(&map, &x));
	assert_false(st_fuzz_map_raise(&map, &x, &raised));
	assert_false(raised);
	counts[0].times = 4;
	counts[1].times = 2;
	assert_true(st_fuzz_map_is_raised(&map, &x));
	assert_false(st_fuzz_map_raise(&map, &x, &raised));
	assert_true(raised);
	assert_int_equal(map.most.n, 4);
	assert_int_equal(map.most.v[0], 5); /* a maximum never falls */
	assert_int_equal(map.most.v[1], 0);
	assert_int_equal(map.most.v[3], 2);
	free(map.most.v);
}

/* ---- minimising ---- */

struct asked {
	const char *must; /* letters that have to be in it, in this order */
	size_t n;
};

static st_status
has_letters(void *arg, const struct st_fuzz_bytes *b, bool *yes, struct st_error *e)
{
	struct asked *asked = arg;
	const char *next = asked->must;
	(void)e;
	asked->n++;
	for (size_t i = 0; i < b->n && *next; i++)
		next += b->v[i] == (uint8_t)*next;
	*yes = !*next;
	return ST_OK;
}

static void
minimal(void **state)
{
	static const char *const musts[] = {"a", "xyz", "aab", "zq", "the lazy dog"};
	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct asked asked = {musts[i], 0};
		const struct st_minimise how = {has_letters, NULL, &asked};
		struct st_fuzz_bytes b = {0};
		struct st_error e;
		char text[2000];
		for (size_t k = 0; k < sizeof text; k++)
			text[k] = "0123456789"[k * 7 % 10];
		for (size_t k = 0; musts[i][k]; k++)
			text[100 + 137 * k] = musts[i][k];
		assert_false(st_fuzz_bytes_splice(&b, 0, 0, text, sizeof text));
		assert_false(st_minimise(&how, &b, &e));
		assert_int_equal(b.n, strlen(musts[i]));
		assert_memory_equal(b.v, musts[i], b.n);
		assert_in_range(asked.n, 1, 1000);
		st_fuzz_bytes_free(&b);
	}
}

static bool
at_once(void *arg)
{
	(void)arg;
	return true;
}

static void
not_minimal(void **state)
{
	struct asked asked = {"a", 0};
	const struct st_minimise how = {has_letters, at_once, &asked};
	struct st_fuzz_bytes b = {0};
	(void)state;
	assert_false(st_fuzz_bytes_splice(&b, 0, 0, "xxa", 3));
	assert_false(st_minimise(&how, &b, NULL));
	assert_int_equal(b.n, 3);
	assert_int_equal(asked.n, 0);
	st_fuzz_bytes_free(&b);
}

/* Of 2,000 bytes, the first 64, 256 or 1,024 remain, if they hold; the shortest are tried first. */
static void
beginning(void **state)
{
	static const struct {
		size_t at, n, asked; /* of the letter; what remains; how often it was asked */
	} cases[] = {{0, 64, 1}, {63, 64, 1}, {64, 256, 2}, {1023, 1024, 3}, {1999, 2000, 3}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct asked asked = {"x", 0};
		const struct st_minimise how = {has_letters, NULL, &asked};
		struct st_fuzz_bytes b = {0};
		struct st_error e;
		char text[2000];
		memset(text, '-', sizeof text);
		text[cases[i].at] = 'x';
		assert_false(st_fuzz_bytes_splice(&b, 0, 0, text, sizeof text));
		assert_false(st_minimise_beginning(&how, &b, &e));
		assert_int_equal(b.n, cases[i].n);
		assert_memory_equal(b.v, text, b.n);
		assert_int_equal(asked.n, cases[i].asked);
		st_fuzz_bytes_free(&b);
	}
}

/* The letters that must be there remain; all others become the most frequent one. */
static void
alike(void **state)
{
	static const struct {
		const char *must, *before, *after;
	} cases[] = {{"", "abcdefgh", "aaaaaaaa"},
	             {"", "abcdbefb", "bbbbbbbb"},
	             {"xz", "abxcaza", "aaxaaza"},
	             {"a", "a", "a"},
	             {"", "", ""}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct asked asked = {cases[i].must, 0};
		const struct st_minimise how = {has_letters, NULL, &asked};
		struct st_fuzz_bytes b = {0};
		struct st_error e;
		const size_t n = strlen(cases[i].before);
		assert_false(st_fuzz_bytes_splice(&b, 0, 0, cases[i].before, n));
		assert_false(st_minimise_unify(&how, &b, &e));
		assert_int_equal(b.n, n);
		if (n)
			assert_memory_equal(b.v, cases[i].after, n);
		assert_in_range(asked.n, 0, 4 * n);
		st_fuzz_bytes_free(&b);
	}
	struct asked asked = {"", 0};
	const struct st_minimise at_its_end = {has_letters, at_once, &asked};
	struct st_fuzz_bytes b = {0};
	assert_false(st_fuzz_bytes_splice(&b, 0, 0, "abc", 3));
	assert_false(st_minimise_unify(&at_its_end, &b, NULL));
	assert_memory_equal(b.v, "abc", 3);
	st_fuzz_bytes_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(parents),   cmocka_unit_test(fitness),
	        cmocka_unit_test(mutants),   cmocka_unit_test(map),
	        cmocka_unit_test(minimal),   cmocka_unit_test(not_minimal),
	        cmocka_unit_test(beginning), cmocka_unit_test(alike)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
