/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries and returns as slices of a timeline: where they begin and end, and how they are merged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/lanes.h"

enum { ENTRY, RETURN };

static void
add(struct st_lanes *l, int64_t tid, uint64_t ns, int kind, uint32_t function, uint64_t depth)
{
	const struct st_lane_event v = {1, tid, ns, depth, function, kind == RETURN};
	assert_int_equal(st_lanes_add(l, &v), 0);
}

static void
check(const struct st_lanes *l, size_t lane, size_t level, size_t i, uint64_t begin, uint64_t end,
      uint32_t function, uint64_t calls)
{
	assert_true(level < l->lanes.v[lane].rows.n);
	assert_true(i < l->lanes.v[lane].rows.v[level].slices.n);
	const struct st_lane_slice *s = &l->lanes.v[lane].rows.v[level].slices.v[i];
	assert_int_equal(s->begin_ns, begin);
	assert_int_equal(s->end_ns, end);
	assert_int_equal(s->function, function);
	assert_int_equal(s->calls, calls);
}

static size_t
slices_of(const struct st_lanes *l, size_t lane, size_t level)
{
	return l->lanes.v[lane].rows.v[level].slices.n;
}

static void
calls_nest(void **state)
{
	struct st_lanes l = {.most = 100};
	(void)state;
	add(&l, 7, 10, ENTRY, 0, 1);
	add(&l, 8, 12, ENTRY, 3, 1);
	add(&l, 7, 20, ENTRY, 1, 2);
	add(&l, 7, 30, RETURN, 1, 2);
	add(&l, 7, 40, ENTRY, 2, 2);
	add(&l, 7, 45, RETURN, 2, 2);
	add(&l, 8, 50, RETURN, 3, 1);
	add(&l, 7, 60, RETURN, 0, 1);
	assert_int_equal(st_lanes_finish(&l), 0);
	assert_int_equal(l.lanes.n, 2);
	assert_int_equal(l.lanes.v[1].tid, 8);
	assert_ptr_equal(st_lanes_find(&l, 1, 8), &l.lanes.v[1]);
	assert_null(st_lanes_find(&l, 2, 8));
	assert_null(st_lanes_find(&l, 1, 9));
	check(&l, 0, 0, 0, 10, 60, 0, 1);
	check(&l, 0, 1, 0, 20, 30, 1, 1);
	check(&l, 0, 1, 1, 40, 45, 2, 1);
	check(&l, 1, 0, 0, 12, 50, 3, 1);
	assert_int_equal(l.events, 8);
	assert_int_equal(l.calls, 4);
	assert_int_equal(l.begin_ns, 10);
	assert_int_equal(l.end_ns, 60);
	assert_int_equal(l.width_ns, 0);
	st_lanes_free(&l);
}

/* Calls that longjmp leaves end with the next event; those under way at the end with the last one;
 * a return whose entry was not seen is none. */
static void
calls_without_an_end(void **state)
{
	struct st_lanes l = {.most = 100};
	(void)state;
	add(&l, 7, 5, RETURN, 9, 1);
	add(&l, 7, 10, ENTRY, 0, 1);
	add(&l, 7, 20, ENTRY, 1, 2);
	add(&l, 7, 30, ENTRY, 2, 3);
	add(&l, 7, 40, ENTRY, 3, 2);
	add(&l, 7, 50, ENTRY, 4, 3);
	assert_int_equal(st_lanes_finish(&l), 0);
	check(&l, 0, 2, 0, 30, 40, 2, 1);
	check(&l, 0, 1, 0, 20, 40, 1, 1);
	check(&l, 0, 1, 1, 40, 50, 3, 1);
	check(&l, 0, 0, 0, 10, 50, 0, 1);
	assert_int_equal(slices_of(&l, 0, 0), 1);
	assert_int_equal(l.calls, 5);
	st_lanes_free(&l);
}

static void
time_does_not_run_backwards(void **state)
{
	struct st_lanes l = {.most = 100};
	(void)state;
	add(&l, 7, 50, ENTRY, 0, 1);
	add(&l, 7, 20, RETURN, 0, 1);
	add(&l, 7, 30, ENTRY, 1, 1);
	add(&l, 7, 60, RETURN, 1, 1);
	assert_int_equal(st_lanes_finish(&l), 0);
	check(&l, 0, 0, 0, 50, 50, 0, 1);
	check(&l, 0, 0, 1, 50, 60, 1, 1);
	st_lanes_free(&l);
}

/* Two calls of 1 ns, one of 10, two of 1 of different functions; three slices are wanted. */
static void
narrow_neighbours_are_merged(void **state)
{
	static const struct {
		uint64_t begin, end;
		uint32_t function;
	} calls[] = {{100, 101, 1}, {102, 103, 1}, {200, 210, 1}, {300, 301, 1}, {302, 303, 2}};
	struct st_lanes l = {.most = 4};
	(void)state;
	add(&l, 7, 0, ENTRY, 0, 1);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		add(&l, 7, calls[i].begin, ENTRY, calls[i].function, 2);
		add(&l, 7, calls[i].end, RETURN, calls[i].function, 2);
	}
	add(&l, 7, 1000, RETURN, 0, 1);
	assert_int_equal(st_lanes_finish(&l), 0);
	assert_int_equal(l.width_ns, 4);
	assert_int_equal(l.slices, 4);
	assert_int_equal(slices_of(&l, 0, 1), 3);
	check(&l, 0, 0, 0, 0, 1000, 0, 1);
	check(&l, 0, 1, 0, 100, 103, 1, 2);
	check(&l, 0, 1, 1, 200, 210, 1, 1);
	check(&l, 0, 1, 2, 300, 303, ST_LANE_SEVERAL, 2);
	st_lanes_free(&l);
}

/* However many calls there are, slices stay few, no call is lost, and they stay in order. */
static void
slices_stay_few(void **state)
{
	enum { CALLS = 200000, MOST = 1000 };
	struct st_lanes l = {.most = MOST};
	uint64_t calls = 0, last = 0;
	(void)state;
	for (uint64_t i = 0; i < CALLS; i++) {
		add(&l, 7, 100 * i, ENTRY, 0, 1);
		add(&l, 7, 100 * i + i % 97, RETURN, 0, 1);
		assert_true(l.slices <= 2 * MOST);
	}
	assert_int_equal(st_lanes_finish(&l), 0);
	assert_true(l.slices <= MOST && l.slices > MOST / 3);
	assert_int_equal(slices_of(&l, 0, 0), l.slices);
	for (size_t i = 0; i < l.slices; i++) {
		const struct st_lane_slice *s = &l.lanes.v[0].rows.v[0].slices.v[i];
		assert_true(s->begin_ns >= last && s->end_ns >= s->begin_ns);
		assert_true(s->end_ns - s->begin_ns <= l.width_ns);
		last = s->end_ns;
		calls += s->calls;
	}
	assert_int_equal(calls, CALLS);
	assert_false(l.too_many);
	st_lanes_free(&l);
}

static void
too_many_threads(void **state)
{
	struct st_lanes l = {.most = 10};
	(void)state;
	for (int64_t tid = 0; tid < 100; tid++) {
		add(&l, tid, 10, ENTRY, 0, 1);
		add(&l, tid, 20, RETURN, 0, 1);
	}
	assert_int_equal(st_lanes_finish(&l), 0);
	assert_true(l.too_many);
	assert_int_equal(l.slices, 0);
	assert_int_equal(l.calls, 100);
	st_lanes_free(&l);
}

static void
too_deep(void **state)
{
	struct st_lanes l = {.most = 1000};
	(void)state;
	for (uint64_t depth = 1; depth <= ST_LANE_LEVELS + 5; depth++)
		add(&l, 7, depth, ENTRY, 0, depth);
	for (uint64_t depth = ST_LANE_LEVELS + 5; depth; depth--)
		add(&l, 7, 1000 - depth, RETURN, 0, depth);
	assert_int_equal(st_lanes_finish(&l), 0);
	assert_int_equal(l.lanes.v[0].rows.n, ST_LANE_LEVELS);
	assert_int_equal(l.too_deep, 5);
	check(&l, 0, ST_LANE_LEVELS - 1, 0, ST_LANE_LEVELS, 1000 - ST_LANE_LEVELS, 0, 1);
	st_lanes_free(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(calls_nest),
	        cmocka_unit_test(calls_without_an_end),
	        cmocka_unit_test(time_does_not_run_backwards),
	        cmocka_unit_test(narrow_neighbours_are_merged),
	        cmocka_unit_test(slices_stay_few),
	        cmocka_unit_test(too_many_threads),
	        cmocka_unit_test(too_deep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
