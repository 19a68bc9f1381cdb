/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results that a program may have written over: refused or read within their bounds, never followed
 * outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/view.h"
#include "fake.h"
#include "profile/profile.h"

static void
counts_are_summed_over_slots(void **state)
{
	(void)state;
	static const char *const counters[] = {"blocks", NULL};
	struct fake *f = fake_new(counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_view v;
	uint32_t map = fake_map(f, NULL, 0x1000, 0x2000, 0);
	uint32_t a = fake_block(f, map, 0x1000, 4, 1, ST_END_JUMP, 0x1000);
	uint32_t b = fake_block(f, map, 0x1004, 4, 1, ST_END_JUMP, 0x1000);
	fake_count(f, 0, a, 5);
	fake_count(f, 2, a, 7);
	fake_count(f, 1, b, 1ull << 40);
	assert_int_equal(st_view_open(&v, process.results, process.results_size, NULL), 0);
	struct st_view_counts counts;
	assert_int_equal(st_view_count(&v, &counts), 0);
	assert_int_equal(counts.executions[a], 12);
	assert_int_equal(counts.executions[b], 1ull << 40);
	assert_int_equal(st_results_executions(process.results, a), 12);
	st_view_counts_free(&counts);
	fake_free(f);
}

/* Points are before instructions first to last - 1; an execution that ended early has passed those
 * of the instructions that it completed. */
static void
amounts_are_added_by_points(void **state)
{
	(void)state;
	static const char *const counters[] = {"entries", "all", "some", "signed", NULL};
	static const strobe_column columns[] = {STROBE_KEY("k", STROBE_NUMBER),
	                                        STROBE_SUM("n", STROBE_NUMBER),
	                                        STROBE_MAX("m", STROBE_NUMBER),
	                                        {0}};
	struct fake *f = fake_new(counters);
	struct st_results_header *h = fake_header(f);
	uint32_t map = fake_map(f, NULL, 0x1000, 0x2000, 0);
	uint32_t table = fake_table(f, "t", columns);
	uint32_t row = fake_row(f, table, (uint64_t[]){7, 1000, 5});
	uint32_t block = fake_block(f, map, 0x1000, 30, 10, ST_END_JUMP, 0x1000);
	uint32_t tally = fake_tally(f);
	h->blocks.n_amounts = 0;
	fake_amount(f, block, 0, 1, ST_CELL(0, 0, 0), 1);
	fake_amount(f, block, 0, 10, ST_CELL(0, 1, 0), 1);
	fake_amount(f, block, 4, 7, ST_CELL(0, 2, 0), 2);
	fake_amount(f, block, 0, 1, ST_CELL(0, 3, 0), -3);
	fake_amount(f, tally, 0, 1, ST_CELL(table + 1, row, 1), 1);
	fake_amount(f, block, 9, 10, ST_CELL(table + 1, row, 1), 10);
	h->counters.sums[0] = 1000000;
	fake_count(f, 0, block, 100);
	fake_count(f, 1, tally, 17);
	fake_partial(f, block, 5);
	fake_partial(f, block, 9);
	fake_partial(f, block, 0);
	/* What cannot be true is left out. */
	fake_amount(f, block, 0, 1, ST_CELL(0, 4, 0), 1);
	fake_amount(f, block, 0, 1, ST_CELL(table + 1, row + 1, 1), 1);
	fake_amount(f, block, 0, 1, ST_CELL(table + 1, row, 0), 1);
	fake_amount(f, block, 0, 1, ST_CELL(table + 1, row, 3), 1);
	fake_amount(f, block, 0, 1, ST_CELL(table + 2, row, 1), 1);
	fake_amount(f, 200, 0, 1, ST_CELL(0, 0, 0), 1);
	fake_amount(f, 2, 0, 1, ST_CELL(0, 0, 0), 1);
	fake_amount(f, block, 5, 4, ST_CELL(0, 0, 0), 1);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_view v;
	struct st_view_counts counts;
	struct st_view_totals totals;
	assert_int_equal(st_view_open(&v, process.results, process.results_size, NULL), 0);
	assert_int_equal(st_view_count(&v, &counts), 0);
	assert_int_equal(st_view_total(&v, &counts, &totals), 0);
	assert_int_equal(totals.counters[0], 1000000 + 100 + 2);
	assert_int_equal(totals.counters[1], 1000 + 5 + 9);
	assert_int_equal(totals.counters[2], 2 * (300 + 1 + 3));
	assert_int_equal((int64_t)totals.counters[3], -3 * 102);
	assert_int_equal(totals.rows[0][row * 3], 7);
	assert_int_equal(totals.rows[0][row * 3 + 1], 1000 + 17 + 1000);
	assert_int_equal(totals.rows[0][row * 3 + 2], 5);
	assert_int_equal(counts.partial[block], 14);
	assert_true(st_view_is_block(&v, block) && !st_view_is_block(&v, tally));
	st_view_totals_free(&totals);
	st_view_counts_free(&counts);
	fake_free(f);
}

static void
strings_end_in_their_section(void **state)
{
	(void)state;
	static const char *const counters[] = {"blocks", NULL};
	struct fake *f = fake_new(counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_view v;
	assert_int_equal(st_view_open(&v, process.results, process.results_size, NULL), 0);
	assert_string_equal(st_view_string(&v, 1), "blocks");
	assert_string_equal(st_view_string(&v, v.n_strings), "");
	assert_string_equal(st_view_string(&v, UINT32_MAX), "");
	v.n_strings = 4; /* the end of "blocks" is now outside */
	assert_string_equal(st_view_string(&v, 1), "");
	fake_free(f);
}

static void
refuses(struct fake *f, size_t size)
{
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_view v;
	struct st_error e = {0};
	assert_int_equal(st_view_open(&v, process.results, size ? size : process.results_size, &e),
	                 -1);
	assert_int_equal(e.code, ST_EXIT_FAILED);
	assert_true(strlen(e.text) > 10);
	fake_free(f);
}

static void
wild_offsets_are_refused(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	fake_header(f)->layout.magic ^= 1;
	refuses(f, 0);
	f = fixture_results();
	fake_header(f)->layout.version++;
	refuses(f, 0);
	f = fixture_results();
	refuses(f, 100);
	f = fixture_results();
	refuses(f, sizeof(struct st_results_header));
	f = fixture_results();
	fake_header(f)->layout.off_blocks = UINT64_MAX - 7;
	refuses(f, 0);
	f = fixture_results();
	fake_header(f)->layout.off_blocks += 4; /* records out of alignment */
	refuses(f, 0);
	f = fixture_results();
	fake_header(f)->layout.counters_stride = 1ull << 60;
	refuses(f, 0);
	f = fixture_results();
	fake_header(f)->layout.off_blocks = fake_header(f)->layout.file_size - 64;
	refuses(f, 0);
}

/* Random bytes over a whole header and its records: collecting may fail or not, it must not read
 * outside. */
static void
random_damage_is_survived(void **state)
{
	(void)state;
	static char *const command[] = {"x", NULL};
	struct st_profile_origin o = {.tool = "hot", .argv = command, .keep_blocks = true};
	srand(1);
	for (int round = 0; round < 2000; round++) {
		struct fake *f = fixture_results();
		fixture_tables(f);
		struct st_process process = fake_process(f, 1, 0, "x");
		struct st_results_header *h = fake_header(f);
		size_t reach = round % 2 ? sizeof *h - sizeof h->fallbacks : 16384;
		for (int n = rand() % 20; n >= 0; n--)
			((unsigned char *)h)[8 + (size_t)rand() % (reach - 8)] =
			        (unsigned char)rand();
		struct st_run run = {.processes = &process, .n_processes = 1, .tsc_hz = 1e9};
		struct st_error e = {0};
		struct st_profile *p = st_profile_collect(&run, &o, &e);
		assert_true(p || e.code == ST_EXIT_FAILED);
		st_profile_free(p);
		fake_free(f);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(counts_are_summed_over_slots),
	        cmocka_unit_test(amounts_are_added_by_points),
	        cmocka_unit_test(strings_end_in_their_section),
	        cmocka_unit_test(wild_offsets_are_refused),
	        cmocka_unit_test(random_damage_is_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
