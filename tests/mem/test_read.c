/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocations as tables of a profile: what is read is what was written, and tables that do not fit
 * together are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mem/mem.h"

/* Two paths of one function, and pages. */
static void
fill_sample(struct st_mem *m)
{
	static const struct st_mem_frame frames[] = {
	        {ST_MEM_NONE, "main", "/a", "a.c", 16, 9, false},
	        {0, "std::list<int>::push", "/a", "list.h", 20, 3, true},
	        {1, "malloc", "/libc", "", 32, 0, false},
	        {0, "malloc", "/libc", "", 32, 0, false},
	        {0, "mmap", "/libc", "", 64, 0, false}};
	static const struct st_mem_context contexts[] = {
	        {2, false, 5, 500, 10, 1, 300, 310, 2, 200},
	        {3, false, 7, 70, 0, 0, 30, 40, 7, 10},
	        {4, true, 1, 4096, 4096, 1, 4096, 4096, 0, 4096}};
	*m = (struct st_mem){
	        .missed = 3, .cut = 4, .interval_ns = 5, .peak_from_ns = 6, .peak_to_ns = 7};
	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
		*ST_PUSH(&m->frames) = frames[i];
	for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++)
		*ST_PUSH(&m->contexts) = contexts[i];
	m->totals[ST_ALLOC_HEAP] =
	        (struct st_mem_totals){.calls = 12, .bytes = 570, .peak = 330, .live = 10};
	m->totals[ST_ALLOC_HEAP].classes[0] = 2;
	m->totals[ST_ALLOC_HEAP].classes[7] = 10;
	m->totals[ST_ALLOC_MAPPED].classes[13] = 1;
	*ST_PUSH(&m->snapshots) = (struct st_mem_snapshot){100, 330, 3, 0};
	*ST_PUSH(&m->snapshots) = (struct st_mem_snapshot){200, 10, 1, 4096};
	*ST_PUSH(&m->shares) = (struct st_mem_share){0, 0, 300};
	*ST_PUSH(&m->shares) = (struct st_mem_share){1, 2, 4096};
	*ST_PUSH(&m->places) = (struct st_mem_place){100, 1ull << 46, 300};
	*ST_PUSH(&m->places) = (struct st_mem_place){100, (1ull << 46) + 65536, 30};
	*ST_PUSH(&m->places) = (struct st_mem_place){200, 1ull << 46, 10};
	m->range_bytes = 65536;
}

static struct st_profile *
sample_profile(void)
{
	struct st_mem m;
	struct st_profile *p = st_profile_new();
	assert_non_null(p);
	fill_sample(&m);
	assert_int_equal(st_mem_put(&m, p), ST_OK);
	st_mem_free(&m);
	p->run.tool = ST_MEM_TOOL;
	return p;
}

static struct st_profile_table *
table_of(struct st_profile *p, const char *name)
{
	for (size_t i = 0; i < p->tables.n; i++)
		if (!strcmp(p->tables.v[i].name, name))
			return &p->tables.v[i];
	fail();
	return NULL;
}

static void
what_is_read_is_what_was_written(void **state)
{
	(void)state;
	struct st_mem m, wanted;
	struct st_error e;
	struct st_profile *p = sample_profile();
	fill_sample(&wanted);
	assert_int_equal(st_mem_read(&m, p, &e), ST_OK);
	assert_int_equal(m.frames.n, wanted.frames.n);
	assert_int_equal(m.range_bytes, 65536);
	assert_int_equal(m.places.n, 3);
	assert_memory_equal(m.places.v, wanted.places.v, 3 * sizeof *m.places.v);
	for (size_t i = 0; i < m.frames.n; i++) {
		assert_string_equal(m.frames.v[i].function, wanted.frames.v[i].function);
		assert_string_equal(m.frames.v[i].file, wanted.frames.v[i].file);
		assert_string_equal(m.frames.v[i].image, wanted.frames.v[i].image);
		assert_int_equal(m.frames.v[i].parent, wanted.frames.v[i].parent);
		assert_int_equal(m.frames.v[i].line, wanted.frames.v[i].line);
		assert_int_equal(m.frames.v[i].inlined, wanted.frames.v[i].inlined);
	}
	assert_int_equal(m.contexts.n, 3);
	assert_memory_equal(m.contexts.v, wanted.contexts.v, 3 * sizeof *m.contexts.v);
	assert_memory_equal(m.totals, wanted.totals, sizeof m.totals);
	assert_memory_equal(m.snapshots.v, wanted.snapshots.v, 2 * sizeof *m.snapshots.v);
	assert_int_equal(m.shares.n, 2);
	assert_int_equal(m.shares.v[1].context, 2);
	assert_int_equal(m.missed + m.cut * 10 + m.interval_ns * 100 + m.peak_from_ns * 1000, 6543);
	st_mem_free(&m);
	st_mem_free(&wanted);
	st_profile_free(p);
}

/* Both paths of the heap are asked for by main: its library's function is not the place. */
static void
sites_leave_out_the_language(void **state)
{
	(void)state;
	struct st_mem m;
	struct st_mem_sites sites;
	fill_sample(&m);
	assert_int_equal(st_mem_group(&m, &sites), ST_OK);
	assert_int_equal(sites.rows.n, 2);
	assert_int_equal(sites.rows.v[0].frame, 0);
	assert_int_equal(sites.rows.v[0].sum.calls, 12);
	assert_int_equal(sites.rows.v[0].sum.peak, 330);
	assert_int_equal(sites.rows.v[0].sum.largest, 200);
	assert_true(sites.rows.v[1].mapped);
	free(sites.rows.v);
	st_mem_free(&m);
}

/* A value of a table that leads nowhere. */
static void
damaged_tables_are_refused(void **state)
{
	static const struct {
		const char *table;
		size_t value;
		uint64_t number;
	} damages[] = {{"frames", 0, 17},  /* numbers are not those of the rows */
	               {"frames", 10, 4},  /* a parent that comes later */
	               {"contexts", 0, 5}, /* of a frame that is not there */
	               {"shares", 0, 150}, /* of no snapshot */
	               {"shares", 1, 1}};  /* of no context */
	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct st_mem m;
		struct st_error e = {0};
		struct st_profile *p = sample_profile();
		table_of(p, damages[i].table)->values.v[damages[i].value].number =
		        damages[i].number;
		assert_int_equal(st_mem_read(&m, p, &e), ST_FAILED);
		assert_non_null(strstr(e.text, "do not fit together"));
		st_profile_free(p);
	}
}

static void
other_profiles_are_refused(void **state)
{
	(void)state;
	struct st_mem m;
	struct st_error e = {0};
	struct st_profile *p = st_profile_new();
	p->run.tool = "hot";
	assert_int_equal(st_mem_read(&m, p, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "made with the tool hot, not with strobe mem"));
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_read_is_what_was_written),
	                                   cmocka_unit_test(sites_leave_out_the_language),
	                                   cmocka_unit_test(damaged_tables_are_refused),
	                                   cmocka_unit_test(other_profiles_are_refused)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
