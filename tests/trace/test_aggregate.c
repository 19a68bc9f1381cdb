/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries and returns worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/aggregate.h"

struct event {
	char kind; /* '(' entry, ')' return; 0: the end */
	int64_t tid;
	const char *name;
	uint64_t ns;
};

static void
feed(struct st_trace *t, const struct event *events, bool per_thread)
{
	struct st_trace_aggregate *a = st_trace_aggregate_new(per_thread);
	assert_non_null(a);
	for (; events->kind; events++) {
		const size_t n = strlen(events->name);
		if (events->kind == '(')
			assert_int_equal(
			        st_trace_enter(a, events->tid, events->name, n, events->ns), 0);
		else
			assert_int_equal(
			        st_trace_return(a, events->tid, events->name, n, events->ns), 0);
	}
	assert_int_equal(st_trace_aggregate_end(a, t), 0);
	st_trace_aggregate_free(a);
}

static const struct st_trace_function *
find(const struct st_trace *t, const char *name, int64_t tid)
{
	for (size_t i = 0; i < t->functions.n; i++)
		if (!strcmp(t->functions.v[i].name, name) && t->functions.v[i].tid == tid)
			return &t->functions.v[i];
	return NULL;
}

static void
expect(const struct st_trace *t, const char *name, uint64_t calls, uint64_t inclusive,
       uint64_t exclusive, uint64_t outermost, uint64_t lost)
{
	const struct st_trace_function *f = find(t, name, -1);
	assert_non_null(f);
	assert_int_equal(f->calls, calls);
	assert_int_equal(f->inclusive_ns, inclusive);
	assert_int_equal(f->exclusive_ns, exclusive);
	assert_int_equal(f->outermost_ns, outermost);
	assert_int_equal(f->lost, lost);
}

static void
test_nested(void **state)
{
	static const struct event log[] = {
	        {'(', 1, "main", 0}, {'(', 1, "a", 100},    {'(', 1, "b", 150},
	        {')', 1, "b", 250},  {')', 1, "a", 400},    {'(', 1, "b", 500},
	        {')', 1, "b", 550},  {')', 1, "main", 900}, {0, 0, NULL, 0}};
	struct st_trace t;
	(void)state;
	feed(&t, log, false);
	assert_int_equal(t.functions.n, 3);
	expect(&t, "main", 1, 900, 550, 900, 0);
	expect(&t, "a", 1, 300, 200, 300, 0);
	expect(&t, "b", 2, 150, 150, 150, 0);
	assert_int_equal(find(&t, "b", -1)->min_ns, 50);
	assert_int_equal(find(&t, "b", -1)->max_ns, 100);
	/* The order is that of exclusive times. */
	assert_string_equal(t.functions.v[0].name, "main");
	assert_string_equal(t.functions.v[1].name, "a");
	st_trace_free(&t);
}

static void
test_recursion(void **state)
{
	static const struct event log[] = {
	        {'(', 1, "f", 0},   {'(', 1, "f", 100}, {'(', 1, "f", 350}, {')', 1, "f", 450},
	        {')', 1, "f", 500}, {')', 1, "f", 800}, {0, 0, NULL, 0}};
	struct st_trace t;
	(void)state;
	feed(&t, log, false);
	/* 800 + 400 + 100; alone 400 + 300 + 100; around all others 800. */
	expect(&t, "f", 3, 1300, 800, 800, 0);
	assert_int_equal(t.pairs.n, 2);
	assert_int_equal(t.pairs.v[0].caller, ST_TRACE_NOBODY);
	assert_int_equal(t.pairs.v[0].inclusive_ns, 800);
	assert_int_equal(t.pairs.v[1].calls, 2);
	assert_int_equal(t.pairs.v[1].inclusive_ns, 500);
	assert_int_equal(t.pairs.v[0].outermost_ns, 800);
	assert_int_equal(t.pairs.v[1].outermost_ns, 0);
	st_trace_free(&t);
}

/* Stacks are per thread: what another thread does in between is no callee. */
static void
test_threads(void **state)
{
	static const struct event log[] = {
	        {'(', 1, "main", 0}, {'(', 2, "a", 100},    {'(', 1, "b", 200}, {')', 2, "a", 400},
	        {')', 1, "b", 590},  {')', 1, "main", 900}, {0, 0, NULL, 0}};
	struct st_trace t;
	(void)state;
	feed(&t, log, false);
	expect(&t, "main", 1, 900, 510, 900, 0);
	expect(&t, "a", 1, 300, 300, 300, 0);
	st_trace_free(&t);
	feed(&t, log, true);
	assert_non_null(find(&t, "main", 1));
	assert_non_null(find(&t, "a", 2));
	assert_null(find(&t, "a", 1));
	st_trace_free(&t);
}

static void
test_lost_return(void **state)
{
	static const struct event log[] = {
	        {'(', 1, "main", 0}, {'(', 1, "a", 100}, {'(', 1, "b", 150},    {')', 1, "a", 400},
	        {'(', 1, "c", 500},  {')', 1, "c", 550}, {')', 1, "main", 900}, {0, 0, NULL, 0}};
	struct st_trace t;
	(void)state;
	feed(&t, log, false);
	expect(&t, "a", 1, 300, 300, 300, 0);
	expect(&t, "b", 0, 0, 0, 0, 1);
	expect(&t, "main", 1, 900, 550, 900, 0);
	assert_int_equal(t.lost_returns, 1);
	st_trace_free(&t);
}

static void
test_lost_entry(void **state)
{
	static const struct event log[] = {{'(', 1, "main", 0},   {'(', 1, "a", 100},
	                                   {')', 1, "b", 250},    {')', 1, "a", 400},
	                                   {')', 1, "main", 900}, {0, 0, NULL, 0}};
	struct st_trace t;
	(void)state;
	feed(&t, log, false);
	expect(&t, "a", 1, 300, 300, 300, 0);
	expect(&t, "main", 1, 900, 600, 900, 0);
	assert_null(find(&t, "b", -1));
	assert_int_equal(t.functions.n, 2);
	assert_int_equal(t.stray_returns, 1);
	assert_int_equal(t.lost_returns, 0);
	st_trace_free(&t);
}

/* A recursion that was left halfway is not under way any more. */
static void
test_lost_recursion(void **state)
{
	static const struct event log[] = {
	        {'(', 1, "main", 0}, {'(', 1, "f", 100}, {'(', 1, "f", 200}, {')', 1, "main", 500},
	        {'(', 1, "f", 600},  {')', 1, "f", 650}, {0, 0, NULL, 0}};
	struct st_trace t;
	(void)state;
	feed(&t, log, false);
	expect(&t, "f", 1, 50, 50, 50, 2);
	st_trace_free(&t);
}

/* What no returning activation is around is a total of its own, also within lost ones. */
static void
test_within_lost(void **state)
{
	static const struct event log[] = {
	        {'(', 1, "main", 0},   {'(', 1, "f", 100}, {'(', 1, "f", 200}, {'(', 1, "f", 210},
	        {')', 1, "f", 230},    {')', 1, "f", 300}, {'(', 1, "f", 400}, {')', 1, "f", 450},
	        {')', 1, "main", 500}, {0, 0, NULL, 0}};
	struct st_trace t;
	(void)state;
	feed(&t, log, false);
	/* 20 + 100 + 50; the 20 are a part of the 100. */
	expect(&t, "f", 3, 170, 150, 150, 1);
	/* f calls f: none of these is the outermost, because the first one was under way. */
	for (size_t i = 0; i < t.pairs.n; i++)
		if (t.pairs.v[i].caller != ST_TRACE_NOBODY)
			assert_int_equal(t.pairs.v[i].outermost_ns, 0);
	st_trace_free(&t);
}

static void
test_end(void **state)
{
	static const struct event log[] = {{'(', 1, "main", 0}, {'(', 1, "a", 5}, {0, 0, NULL, 0}};
	struct st_trace t;
	(void)state;
	feed(&t, log, false);
	assert_int_equal(t.lost_returns, 2);
	assert_int_equal(t.pairs.n, 0);
	st_trace_free(&t);
}

/* Every duration is less than 1/32 above the beginning of its class. */
static void
test_classes(void **state)
{
	(void)state;
	for (uint64_t ns = 0; ns < 100000; ns++) {
		const uint64_t from = st_trace_class_of(ns);
		assert_true(from <= ns);
		assert_true(32 * (ns - from) < (ns > 32 ? ns : 32));
		assert_int_equal(st_trace_class_of(from), from);
	}
	assert_int_equal(st_trace_class_of(UINT64_MAX), 63ull << 58);
}

static void
test_quantiles(void **state)
{
	struct st_trace_function f = {.name = "f", .min_ns = 1000, .max_ns = 1000000};
	uint64_t ns;
	(void)state;
	assert_false(st_trace_quantile(&f, 0.5, &ns));
	/* 1000, 2000, ... 1000000: the median is 500000. */
	for (uint64_t i = 1; i <= 1000; i++, f.calls++)
		assert_int_equal(st_trace_count(&f, 1000 * i), 0);
	static const struct {
		double q;
		uint64_t truth;
	} cases[] = {{0.001, 1000}, {0.1, 100000},  {0.5, 500000},
	             {0.9, 900000}, {0.99, 990000}, {1, 1000000}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(st_trace_quantile(&f, cases[i].q, &ns));
		const double error = ((double)ns - (double)cases[i].truth) / (double)cases[i].truth;
		assert_true(error <= ST_TRACE_QUANTILE_ERROR && error >= -ST_TRACE_QUANTILE_ERROR);
	}
	/* One call is in no class: then nothing is known. */
	f.calls++;
	assert_false(st_trace_quantile(&f, 0.5, &ns));
	free(f.classes.v);
}

/* ---- entries and returns of an engine ---- */

static struct st_trace_aggregate *
engine_of(const char *const *names, const struct st_trace_limits *limits)
{
	struct st_trace_aggregate *a = st_trace_aggregate_new(false);
	assert_non_null(a);
	for (uint32_t i = 0; names[i]; i++)
		assert_int_equal(st_trace_declare(a, &(struct st_trace_function){.name = names[i]}),
		                 i);
	if (limits)
		st_trace_limit(a, limits);
	return a;
}

/* back: the return address; 0: by a jump. */
static void
enters_from(struct st_trace_aggregate *a, uint32_t function, uint64_t sp, uint64_t back,
            uint64_t ns)
{
	const struct st_trace_event event = {.ns = ns,
	                                     .sp = sp,
	                                     .tid = 1,
	                                     .pid = 1,
	                                     .function = function,
	                                     .back = back,
	                                     .jumps_to_itself = true};
	assert_int_equal(st_trace_event_entry(a, &event), 0);
}

/* By a call. */
static void
enters(struct st_trace_aggregate *a, uint32_t function, uint64_t sp, uint64_t ns)
{
	enters_from(a, function, sp, sp + 1, ns);
}

static void
returns(struct st_trace_aggregate *a, uint32_t function, uint64_t sp, uint64_t ns)
{
	const struct st_trace_event event = {
	        .ns = ns, .sp = sp, .tid = 1, .pid = 1, .function = function};
	assert_int_equal(st_trace_event_return(a, &event), 0);
}

static void
finish(struct st_trace_aggregate *a, struct st_trace *t)
{
	assert_int_equal(st_trace_aggregate_end(a, t), 0);
	st_trace_aggregate_free(a);
}

/* 100 calls within each other, of which the engine sees 64 return. */
static void
test_nested_too_deep(void **state)
{
	(void)state;
	static const char *const names[] = {"f", NULL};
	struct st_trace_aggregate *a = engine_of(names, &(struct st_trace_limits){.followed = 64});
	struct st_trace t;
	for (uint64_t i = 0; i < 100; i++)
		enters(a, 0, 10000 - 10 * i, i);
	for (uint64_t i = 64; i-- > 0;)
		returns(a, 0, 10000 - 10 * i, 200 - i);
	finish(a, &t);
	expect(&t, "f", 64, 64 * 200 - 2 * (63 * 64 / 2), 200, 200, 36);
	assert_int_equal(t.lost_returns, 36);
	assert_int_equal(t.nested_returns, 36);
	st_trace_free(&t);
}

/* Calls one after the other in a function that is itself nested too deep are all counted. */
static void
test_calls_too_deep(void **state)
{
	(void)state;
	static const char *const names[] = {"f", "g", NULL};
	struct st_trace_aggregate *a = engine_of(names, &(struct st_trace_limits){.followed = 1});
	struct st_trace t;
	enters(a, 0, 100, 0);
	for (uint64_t i = 0; i < 5; i++)
		enters(a, 1, 90, 10 + i);
	returns(a, 0, 100, 50);
	enters(a, 1, 100, 60);
	returns(a, 1, 100, 70);
	finish(a, &t);
	expect(&t, "f", 1, 50, 50, 50, 0);
	expect(&t, "g", 1, 10, 10, 10, 5);
	assert_int_equal(t.nested_returns, 5);
	st_trace_free(&t);
}

/* A jump over two calls: they are lost, and were not nested too deep. */
static void
test_jump_over(void **state)
{
	(void)state;
	static const char *const names[] = {"f", "g", "h", NULL};
	struct st_trace_aggregate *a = engine_of(names, &(struct st_trace_limits){.followed = 64});
	struct st_trace t;
	enters(a, 0, 100, 0);
	enters(a, 1, 90, 10);
	enters(a, 1, 80, 20);
	enters(a, 2, 95, 30);
	returns(a, 2, 95, 40);
	returns(a, 0, 100, 100);
	finish(a, &t);
	expect(&t, "f", 1, 100, 90, 100, 0);
	expect(&t, "g", 0, 0, 0, 0, 2);
	expect(&t, "h", 1, 10, 10, 10, 0);
	assert_int_equal(t.nested_returns, 0);
	st_trace_free(&t);
}

/* A jump to another function has the same place, one to its own beginning is no call, and the
 * return of what began before the trace is nobody's. */
static void
test_jumps(void **state)
{
	(void)state;
	static const char *const names[] = {"f", "g", NULL};
	struct st_trace_aggregate *a = engine_of(names, NULL);
	struct st_trace t;
	returns(a, 1, 200, 0);
	enters(a, 0, 100, 10);
	enters_from(a, 0, 100, 0, 20);
	enters_from(a, 1, 100, 0, 30);
	returns(a, 1, 100, 40);
	returns(a, 0, 100, 40);
	returns(a, 0, 100, 40);
	finish(a, &t);
	expect(&t, "f", 1, 30, 20, 30, 0);
	expect(&t, "g", 1, 10, 10, 10, 0);
	assert_int_equal(t.stray_returns, 0);
	st_trace_free(&t);
}

/* The same place with the same return address is a jump, and with another one a call. */
static void
test_calls_of_one_place(void **state)
{
	(void)state;
	static const char *const names[] = {"f", "g", "h", NULL};
	struct st_trace_aggregate *a = engine_of(names, NULL);
	struct st_trace t;
	enters_from(a, 0, 100, 7, 10);
	enters_from(a, 1, 100, 7, 20);
	enters_from(a, 2, 100, 8, 30);
	returns(a, 2, 100, 40);
	finish(a, &t);
	expect(&t, "f", 0, 0, 0, 0, 1);
	expect(&t, "g", 0, 0, 0, 0, 1);
	expect(&t, "h", 1, 10, 10, 10, 0);
	assert_int_equal(t.pairs.n, 1);
	assert_int_equal(t.pairs.v[0].caller, ST_TRACE_NOBODY);
	st_trace_free(&t);
}

static void
test_limits(void **state)
{
	(void)state;
	static const char *const names[] = {"f", "g", "h", NULL};
	const struct st_trace_limits limits = {.depth = 2, .has_scope = true, .scope = 1};
	struct st_trace_aggregate *a = engine_of(names, &limits);
	struct st_trace t;
	enters(a, 0, 100, 0);
	enters(a, 1, 90, 10);
	enters(a, 2, 80, 20);
	enters(a, 2, 70, 30);
	returns(a, 2, 70, 40);
	returns(a, 2, 80, 50);
	returns(a, 1, 90, 60);
	enters(a, 2, 90, 70);
	returns(a, 2, 90, 80);
	enters(a, 1, 90, 85);
	assert_int_equal(st_trace_events_end(a, 90), 0);
	enters(a, 2, 90, 95);
	finish(a, &t);
	assert_null(find(&t, "f", -1));
	expect(&t, "g", 2, 55, 25, 55, 0);
	expect(&t, "h", 1, 30, 30, 30, 0);
	st_trace_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_nested),
	        cmocka_unit_test(test_recursion),
	        cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_lost_return),
	        cmocka_unit_test(test_lost_entry),
	        cmocka_unit_test(test_lost_recursion),
	        cmocka_unit_test(test_end),
	        cmocka_unit_test(test_classes),
	        cmocka_unit_test(test_nested_too_deep),
	        cmocka_unit_test(test_calls_too_deep),
	        cmocka_unit_test(test_jump_over),
	        cmocka_unit_test(test_jumps),
	        cmocka_unit_test(test_limits),
	        cmocka_unit_test(test_calls_of_one_place),
	        cmocka_unit_test(test_quantiles),
	        cmocka_unit_test(test_within_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
