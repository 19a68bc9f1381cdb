/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which inputs are interesting, and the rate after each round, with executions that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "fuzz/campaign.h"

enum { BASE = 1000, FOUND = 20, EXECUTED = 100 };

static void
assert_is(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9))
		fail_msg("%.12g is not %.12g", is, wanted);
}

/* Kept by the campaign. */
struct rounds {
	struct st_fuzz_campaign c;
	struct st_fuzz_target target;
	size_t kept;
};

static st_status
count_kept(void *arg, const struct st_fuzz_campaign *c, const struct st_fuzz_input *input,
           const struct st_fuzz_fault *fault, struct st_error *e)
{
	struct rounds *r = arg;
	(void)c, (void)input, (void)fault, (void)e;
	r->kept++;
	return ST_OK;
}

/* A campaign with one seed, after the seeds. */
static void
begin_rounds(struct rounds *r)
{
	struct st_fuzz_input seed = {.work = BASE, .ratio = 1, .grown = 1};
	*r = (struct rounds){.c = {.choice = {.rate = 1.5,
	                                      .round_interesting = FOUND,
	                                      .round_executions = EXECUTED},
	                           .rate = 1.5,
	                           .n_seeds = 1,
	                           .keep = count_kept}};
	r->c.target = &r->target;
	r->c.arg = r;
	r->c.corpus.base = BASE;
	assert_non_null(ST_PUSH(&r->c.hits));
	assert_non_null(ST_PUSH(&r->c.tried));
	assert_false(st_corpus_add(&r->c.corpus, &seed));
}

/* A child of that input of the corpus. Returns whether it was interesting. */
static bool
take(struct rounds *r, size_t parent, uint64_t work, enum st_fuzz_end end)
{
	const struct st_fuzz_execution x = {.end = end, .work = work};
	struct st_fuzz_input child = {.parent = parent};
	struct st_error e;
	const size_t before = r->c.n_interesting;
	assert_false(st_fuzz_campaign_take(&r->c, &child, 0, &x, &e));
	st_fuzz_input_free(&child);
	return r->c.n_interesting > before;
}

static void
take_many(struct rounds *r, size_t n, uint64_t work)
{
	for (size_t i = 0; i < n; i++)
		take(r, 0, work, ST_END_EXIT);
}

/* More than the rate times the base, and more than the parent. */
static void
threshold(void **state)
{
	struct rounds r;
	(void)state;
	begin_rounds(&r);
	assert_false(take(&r, 0, 1500, ST_END_EXIT)); /* a parent, as in densest */
	assert_true(take(&r, 0, 1501, ST_END_EXIT));
	assert_int_equal(r.c.corpus.list.n, 3);
	assert_false(take(&r, 2, 1501, ST_END_EXIT));
	assert_true(take(&r, 2, 1502, ST_END_EXIT));
	assert_int_equal(r.c.corpus.list.n, 4);
	assert_false(take(&r, 0, 9999, ST_END_SIGNAL)); /* a fault is kept by itself */
	assert_int_equal(r.kept, 3);
	assert_int_equal(r.c.hits.v[0], 2);
	assert_int_equal(r.c.tried.v[0], 5);
	assert_int_equal(r.c.corpus.list.v[0].made, 2);
	assert_int_equal(r.c.corpus.list.v[0].interesting, 1);
	assert_int_equal(r.c.corpus.list.v[2].made, 2);
	assert_is(st_corpus_fitness(&r.c.corpus.list.v[2]), 1.501 * 1.5);
	st_fuzz_campaign_free(&r.c);
}

/* A round without an interesting input has 100 executions, and lowers the rate by 0.01. */
static void
rate_falls(void **state)
{
	struct rounds r;
	(void)state;
	begin_rounds(&r);
	take_many(&r, EXECUTED - 1, 1400);
	assert_is(r.c.rate, 1.5);
	take_many(&r, 1, 1400);
	assert_is(r.c.rate, 1.49);
	for (size_t round = 2; round <= 60; round++) {
		take_many(&r, EXECUTED - 1, 1000);
		take(&r, 0, 1000, ST_END_HANG); /* it counts as an execution */
		assert_is(r.c.rate, round < 50 ? 1.5 - 0.01 * (double)round : 1);
	}
	assert_is(r.c.rate, 1); /* no less */
	assert_false(take(&r, 0, 1000, ST_END_EXIT));
	assert_true(take(&r, 0, 1001, ST_END_EXIT));
	st_fuzz_campaign_free(&r.c);
}

/* One with 20 interesting inputs ends with the last of them, and raises it by 0.05; so does one
 * with fewer after 100 executions. */
static void
rate_rises(void **state)
{
	struct rounds r;
	(void)state;
	begin_rounds(&r);
	take_many(&r, FOUND - 1, 2000);
	assert_is(r.c.rate, 1.5);
	take_many(&r, 1, 2000);
	assert_is(r.c.rate, 1.55);
	assert_false(take(&r, 0, 1550, ST_END_EXIT));
	assert_true(take(&r, 0, 1551, ST_END_EXIT));
	take_many(&r, EXECUTED - 3, 1000);
	assert_is(r.c.rate, 1.55);
	take_many(&r, 1, 1000);
	assert_is(r.c.rate, 1.6);
	assert_int_equal(r.c.n_interesting, FOUND + 1);
	st_fuzz_campaign_free(&r.c);
}

/* An input that takes an edge more often than ever becomes a parent if it works more than its own,
 * but is not interesting. */
static void
map_makes_parents(void **state)
{
	struct st_fuzz_edge_count counts[] = {{0, 3}};
	struct st_fuzz_execution x = {.work = 1001, .edges = {counts, 1, 1}};
	struct rounds r;
	struct st_error e;
	(void)state;
	begin_rounds(&r);
	for (uint64_t times = 3; times <= 5; times++) {
		struct st_fuzz_input child = {0};
		counts[0].times = times == 5 ? 4 : times; /* the third raises nothing */
		assert_false(st_fuzz_campaign_take(&r.c, &child, 0, &x, &e));
		st_fuzz_input_free(&child);
	}
	assert_int_equal(r.c.corpus.list.n, 3);
	struct st_fuzz_input child = {0};
	counts[0].times = 100;
	x.work = 1000; /* no more than its parent */
	assert_false(st_fuzz_campaign_take(&r.c, &child, 0, &x, &e));
	st_fuzz_input_free(&child);
	assert_int_equal(r.c.corpus.list.n, 3);
	assert_int_equal(r.c.corpus.map.most.v[0], 100);
	assert_int_equal(r.c.n_interesting, 0);
	assert_int_equal(r.kept, 0);
	st_fuzz_campaign_free(&r.c);
}

/* An input that has grown more for each of its bytes than all parents of about its size becomes a
 * parent, also if it works less than its own parent. The best of all is known, too. */
static void
densest(void **state)
{
	static const struct {
		uint64_t work;
		size_t bytes, parents, greatest;
	} inputs[] = {
	        {1400, 99, 2, 1}, /* 0.4 for 100 bytes */
	        {1400, 99, 2, 1},
	        {1450, 199, 3, 1}, /* 0.45 for 200: the first of its size */
	        {1200, 39, 4, 3},  /* 0.2 for 40 */
	        {1400, 80, 5, 3},  /* 0.4 for 81 */
	        {1390, 80, 5, 3},
	        {1001, 0, 6, 3}, /* 0.001 for 1: more than the seed, which has 0 */
	        {1000, 0, 6, 3},
	        {1000, 8, 6, 3}, /* the first of its size, but it has not grown */
	        {1499, 79, 7, 6},
	};
	struct rounds r;
	struct st_error e;
	(void)state;
	begin_rounds(&r);
	r.c.densest[0] = 1;
	assert_int_equal(r.c.greatest, 0);
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		const struct st_fuzz_execution x = {.work = inputs[i].work};
		struct st_fuzz_input child = {0};
		char bytes[200] = {0};
		assert_false(st_fuzz_bytes_splice(&child.bytes, 0, 0, bytes, inputs[i].bytes));
		assert_false(st_fuzz_campaign_take(&r.c, &child, 0, &x, &e));
		st_fuzz_input_free(&child);
		assert_int_equal(r.c.corpus.list.n, inputs[i].parents);
		assert_int_equal(r.c.greatest, inputs[i].greatest);
	}
	assert_int_equal(r.c.densest[0], 6);
	assert_int_equal(r.c.densest[6], 4); /* 32 to 63 bytes */
	assert_int_equal(r.c.densest[7], 7);
	assert_int_equal(r.c.densest[8], 3);
	assert_int_equal(r.c.n_interesting, 0);
	assert_int_equal(r.kept, 0);
	st_fuzz_campaign_free(&r.c);
}

static void
sizes(void **state)
{
	(void)state;
	assert_int_equal(st_fuzz_size_class(0), 0);
	assert_int_equal(st_fuzz_size_class(1), 1);
	assert_int_equal(st_fuzz_size_class(2), 2);
	assert_int_equal(st_fuzz_size_class(3), 2);
	for (size_t i = 2; i <= 26; i++) {
		assert_int_equal(st_fuzz_size_class((1u << i) - 1), i);
		assert_int_equal(st_fuzz_size_class(1u << i), i + 1);
	}
	assert_int_equal(st_fuzz_size_class(SIZE_MAX), ST_FUZZ_SIZES - 1);
}

/* Each input is known once, by its size and each of its bits. */
static void
known_inputs(void **state)
{
	enum { BYTES = 300 };
	uint8_t bytes[BYTES] = {0};
	struct st_fuzz_known known = {0};
	bool added;
	(void)state;
	for (int again = 0; again < 2; again++) {
		for (size_t n = 0; n <= BYTES; n++) {
			const struct st_fuzz_bytes input = {.v = bytes, .n = n};
			assert_false(st_fuzz_known_add(&known, &input, &added));
			assert_int_equal(added, !again);
		}
		for (size_t bit = 0; bit < BYTES * 8; bit++) {
			const struct st_fuzz_bytes input = {.v = bytes, .n = BYTES};
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_false(st_fuzz_known_add(&known, &input, &added));
			assert_int_equal(added, !again);
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	assert_int_equal(known.list.n, BYTES + 1 + BYTES * 8);
	st_fuzz_known_free(&known);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(threshold),    cmocka_unit_test(rate_falls),
	        cmocka_unit_test(rate_rises),   cmocka_unit_test(map_makes_parents),
	        cmocka_unit_test(densest),      cmocka_unit_test(sizes),
	        cmocka_unit_test(known_inputs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
