/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace put into a profile, and read from the profile's file, is the same trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "trace/trace.h"

static struct st_trace_class classes[] = {{10, 2}, {64, 1}};
static struct st_trace_function functions[] = {{.name = "outer",
                                                .image = "/bin/b",
                                                .build_id = "bb",
                                                .offset = 0x20,
                                                .file = "/x.c",
                                                .line = 7,
                                                .tid = 5,
                                                .calls = 3,
                                                .counted = 2,
                                                .error_ns = 30,
                                                .lost = 1,
                                                .inclusive_ns = 84,
                                                .outermost_ns = 80,
                                                .exclusive_ns = 50,
                                                .min_ns = 10,
                                                .max_ns = 64,
                                                .classes = {classes, 2, 2}},
                                               {.name = "inner",
                                                .image = "/bin/a",
                                                .build_id = "",
                                                .offset = 0x30,
                                                .tid = 5,
                                                .calls = 1,
                                                .inclusive_ns = 4,
                                                .outermost_ns = 4,
                                                .exclusive_ns = 4,
                                                .min_ns = 4,
                                                .max_ns = 4},
                                               {.name = "inner",
                                                .image = "/bin/a",
                                                .build_id = "",
                                                .offset = 0x30,
                                                .tid = 6,
                                                .calls = 1,
                                                .inclusive_ns = 3,
                                                .outermost_ns = 3,
                                                .exclusive_ns = 3,
                                                .min_ns = 3,
                                                .max_ns = 3}};
static struct st_trace_pair pairs[] = {
        {.caller = ST_TRACE_NOBODY,
         .callee = 0,
         .calls = 3,
         .inclusive_ns = 84,
         .outermost_ns = 80},
        {.caller = 0, .callee = 1, .calls = 1, .inclusive_ns = 4, .outermost_ns = 4}};
static struct st_trace_refused refused[] = {
        {"locked", "/bin/b", "it begins with a lock prefix", 0x10, false},
        {"often", "/bin/b", "it was called 100001 times", 0x20, true}};

static struct st_trace_step steps[] = {{"inner", "/bin/a", 0x30, 2000, 7},
                                       {"inner", "/bin/a", 0x30, 5000, 0},
                                       {"locked", "/bin/b", 0x10, 1000, 2}};

static const struct st_trace whole = {.engine = "ebpf",
                                      .functions = {functions, 3, 3},
                                      .pairs = {pairs, 2, 2},
                                      .refused = {refused, 2, 2},
                                      .steps = {steps, 3, 3},
                                      .budget = {0.0125, 1000000000, 50000000},
                                      .lost_returns = 1,
                                      .lost_records = 9,
                                      .probe = {21500, 300, 9250},
                                      .nested_returns = 1};

static struct st_profile *
through_a_file(const struct st_trace *t)
{
	char path[] = "/tmp/strobe-put-XXXXXX";
	struct st_profile *p = st_profile_new();
	struct st_error e;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	p->run.tool = p->run.options = p->run.strobe_version = "";
	p->run.cwd = p->run.host = p->run.machine = p->run.kernel = p->run.cpu = "";
	st_profile_add_tool(p, "calltimes");
	st_profile_add_option(p, 0, "engine", t->engine);
	assert_int_equal(st_trace_put(t, p), 0);
	if (st_profile_save(p, path, &e))
		fail_msg("%s", e.text);
	st_profile_free(p);
	p = st_profile_load(path, &e);
	if (!p)
		fail_msg("%s", e.text);
	unlink(path);
	return p;
}

static void
same_function(const struct st_trace_function *a, const struct st_trace_function *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->image, b->image);
	assert_string_equal(a->build_id, b->build_id);
	assert_int_equal(a->offset, b->offset);
	assert_string_equal(a->file ? a->file : "", b->file ? b->file : "");
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->calls, b->calls);
	assert_int_equal(a->counted, b->counted);
	assert_int_equal(a->error_ns, b->error_ns);
	assert_int_equal(a->error_unknown, b->error_unknown);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->inclusive_ns, b->inclusive_ns);
	assert_int_equal(a->outermost_ns, b->outermost_ns);
	assert_int_equal(a->exclusive_ns, b->exclusive_ns);
	assert_int_equal(a->min_ns, b->min_ns);
	assert_int_equal(a->max_ns, b->max_ns);
	assert_int_equal(a->classes.n, b->classes.n);
	for (size_t i = 0; i < a->classes.n; i++)
		assert_memory_equal(&a->classes.v[i], &b->classes.v[i], sizeof *a->classes.v);
}

static void
test_whole(void **state)
{
	(void)state;
	struct st_trace t;
	struct st_error e;
	struct st_profile *p = through_a_file(&whole);
	assert_int_equal(st_trace_read(&t, p, true, &e), 0);
	assert_string_equal(t.engine, "ebpf");
	assert_int_equal(t.functions.n, 3);
	for (size_t i = 0; i < 3; i++)
		same_function(&t.functions.v[i], &functions[i]);
	assert_int_equal(t.pairs.n, 2);
	assert_memory_equal(t.pairs.v, pairs, sizeof pairs);
	assert_int_equal(t.refused.n, 2);
	for (size_t i = 0; i < t.refused.n; i++) {
		assert_string_equal(t.refused.v[i].name, refused[i].name);
		assert_string_equal(t.refused.v[i].image, refused[i].image);
		assert_string_equal(t.refused.v[i].reason, refused[i].reason);
		assert_int_equal(t.refused.v[i].offset, refused[i].offset);
		assert_int_equal(t.refused.v[i].left_out, refused[i].left_out);
	}
	assert_int_equal(t.lost_returns, 1);
	assert_int_equal(t.lost_records, 9);
	assert_int_equal(t.nested_returns, 1);
	assert_memory_equal(&t.probe, &whole.probe, sizeof t.probe);
	/* 84 ns in 3 calls, 4 ns, and 3 ns; what lasts 9.55 ns is resolved. */
	assert_true(st_trace_is_resolved(&t, &t.functions.v[0]));
	assert_false(st_trace_is_resolved(&t, &t.functions.v[1]));
	assert_false(st_trace_is_resolved(&t, &t.functions.v[2]));
	st_trace_free(&t);
	st_profile_free(p);
}

static void
test_budget(void **state)
{
	(void)state;
	struct st_trace t;
	struct st_error e;
	struct st_profile *p = through_a_file(&whole);
	assert_int_equal(st_trace_read(&t, p, true, &e), 0);
	assert_int_equal(t.steps.n, 3);
	for (size_t i = 0; i < t.steps.n; i++) {
		assert_string_equal(t.steps.v[i].name, steps[i].name);
		assert_string_equal(t.steps.v[i].image, steps[i].image);
		assert_int_equal(t.steps.v[i].offset, steps[i].offset);
		assert_int_equal(t.steps.v[i].at_ns, steps[i].at_ns);
		assert_int_equal(t.steps.v[i].every, steps[i].every);
	}
	assert_memory_equal(&t.budget, &whole.budget, sizeof t.budget);
	/* 50 ms of 950 ms. */
	assert_true(st_trace_cost_share(&t.budget) > 0.0526 &&
	            st_trace_cost_share(&t.budget) < 0.0527);
	for (size_t i = 0; i < t.functions.n; i++)
		assert_int_equal(st_trace_was_dropped(&t, &t.functions.v[i]),
		                 !strcmp(t.functions.v[i].name, "inner"));
	st_trace_free(&t);
	st_profile_free(p);
}

/* Nothing was called, and all was refused. */
static void
test_empty(void **state)
{
	(void)state;
	struct st_trace t;
	struct st_error e;
	const struct st_trace empty = {.engine = "ebpf", .refused = {refused, 1, 1}};
	struct st_profile *p = through_a_file(&empty);
	assert_int_equal(st_trace_read(&t, p, false, &e), 0);
	assert_int_equal(t.functions.n, 0);
	assert_int_equal(t.refused.n, 1);
	st_trace_free(&t);
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole),
	                                   cmocka_unit_test(test_budget),
	                                   cmocka_unit_test(test_empty)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
