/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of the engine that overlap, made basic blocks that do not: exact counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/basic_blocks.h"
#include "wire/results/blocks.h"

static void
add(struct st_profile *p, uint32_t image, uint64_t offset, uint32_t bytes, uint32_t insns,
    uint64_t executions, uint64_t early, uint64_t samples)
{
	struct st_profile_block *b = ST_PUSH(&p->blocks);
	assert_non_null(b);
	*b = (struct st_profile_block){.image = image,
	                               .offset = offset,
	                               .target = 0x900,
	                               .bytes = bytes,
	                               .insns = insns,
	                               .end = ST_END_BRANCH,
	                               .executions = executions,
	                               .instructions = executions * insns + early,
	                               .samples = samples};
}

static void
expect(const struct st_basic_blocks *b, size_t i, uint64_t offset, uint32_t bytes, uint32_t insns,
       uint64_t executions, uint64_t instructions, uint64_t samples, uint32_t end)
{
	assert_true(i < b->n);
	assert_int_equal(b->v[i].offset, offset);
	assert_int_equal(b->v[i].bytes, bytes);
	assert_int_equal(b->v[i].insns, insns);
	assert_int_equal(b->v[i].executions, executions);
	assert_int_equal(b->v[i].instructions, instructions);
	assert_int_equal(b->v[i].samples, samples);
	assert_int_equal(b->v[i].end, end);
	assert_int_equal(b->v[i].target == 0x900, end == ST_END_BRANCH);
}

/* The sums over all blocks are those of the engine's. */
static void
expect_sums(const struct st_basic_blocks *b, const struct st_profile *p)
{
	uint64_t instructions = 0, samples = 0;
	for (size_t i = 0; i < p->blocks.n; i++) {
		instructions += p->blocks.v[i].instructions;
		samples += p->blocks.v[i].samples;
	}
	for (size_t i = 0; i < b->n; i++) {
		instructions -= b->v[i].instructions;
		samples -= b->v[i].samples;
	}
	assert_int_equal(instructions, 0);
	assert_int_equal(samples, 0);
}

static struct st_basic_blocks
open_blocks(const struct st_profile *p, size_t top)
{
	struct st_report r = {.profile = p, .top_parts = top};
	struct st_basic_blocks b;
	assert_int_equal(st_basic_blocks_open(&b, &r), ST_OK);
	return b;
}

static void
test_entries_in_the_middle(void **state)
{
	(void)state;
	struct st_profile *p = st_profile_new();
	add(p, 0, 0x100, 32, 10, 7, 0, 1); /* 4 + 5 + 1 instructions */
	add(p, 0, 0x10c, 20, 6, 1000, 0, 50);
	add(p, 0, 0x11e, 2, 1, 3, 0, 0);
	add(p, 0, 0x120, 8, 2, 5, 1, 0);  /* the block behind them */
	add(p, 1, 0x10c, 20, 6, 9, 0, 0); /* another image */
	struct st_basic_blocks b = open_blocks(p, 2);
	assert_int_equal(b.n, 5);
	expect(&b, 0, 0x100, 12, 4, 7, 28, 1, ST_END_NONE);
	expect(&b, 1, 0x10c, 18, 5, 1007, 5035, 50, ST_END_NONE);
	expect(&b, 2, 0x11e, 2, 1, 1010, 1010, 0, ST_END_BRANCH);
	expect(&b, 3, 0x120, 8, 2, 5, 11, 0, ST_END_BRANCH);
	expect(&b, 4, 0x10c, 20, 6, 9, 54, 0, ST_END_BRANCH);
	expect_sums(&b, p);
	bool *kept = st_basic_blocks_kept(&b);
	for (size_t i = 0; i < b.n; i++) /* the two hottest */
		assert_int_equal(kept[i], i == 1 || i == 2);
	assert_int_equal(b.order[0], 1);
	assert_int_equal(b.order[1], 2);
	free(kept);
	st_basic_blocks_close(&b);
	st_profile_free(p);
}

/* lock cmpxchg at 0x100 is one instruction, also for code that jumps over its prefix. */
static void
test_entry_behind_a_prefix(void **state)
{
	(void)state;
	struct st_profile *p = st_profile_new();
	add(p, 0, 0x100, 16, 3, 4, 2, 1);
	add(p, 0, 0x101, 15, 3, 6, 1, 2);
	add(p, 0, 0x108, 8, 1, 10, 0, 3);
	struct st_basic_blocks b = open_blocks(p, 0);
	assert_int_equal(b.n, 2);
	expect(&b, 0, 0x100, 8, 2, 10, 23, 3, ST_END_NONE);
	expect(&b, 1, 0x108, 8, 1, 20, 20, 3, ST_END_BRANCH);
	expect_sums(&b, p);
	st_basic_blocks_close(&b);
	st_profile_free(p);
}

/* Code that was written again: neither is the end of the other, and both stay as they are. */
static void
test_changed_code(void **state)
{
	(void)state;
	struct st_profile *p = st_profile_new();
	add(p, 0, 0x100, 16, 3, 4, 0, 0);
	add(p, 0, 0x100, 16, 5, 6, 0, 0);
	add(p, 0, 0x104, 12, 9, 1, 0, 0);
	struct st_basic_blocks b = open_blocks(p, 0);
	assert_int_equal(b.n, 3);
	expect_sums(&b, p);
	expect(&b, 2, 0x104, 12, 9, 1, 9, 0, ST_END_BRANCH);
	st_basic_blocks_close(&b);
	st_profile_free(p);
}

static void
test_none(void **state)
{
	(void)state;
	struct st_profile *p = st_profile_new();
	struct st_basic_blocks b = open_blocks(p, 3);
	assert_int_equal(b.n, 0);
	assert_int_equal(b.hottest, 0);
	st_basic_blocks_close(&b);
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_entries_in_the_middle),
	        cmocka_unit_test(test_entry_behind_a_prefix),
	        cmocka_unit_test(test_changed_code),
	        cmocka_unit_test(test_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
