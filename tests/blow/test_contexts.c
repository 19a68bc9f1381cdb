/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "blow/contexts.h"
#include "blow/corpus.h"
#include "blow/locations.h"
#include "profile/profile.h"

/* Functions f, g and main, of which two threads have these pairs: main>f, g>f, nobody>main. */
enum { F, G, MAIN };
static const char *const names[] = {"f", "g", "main"};

static void
read_all(struct st_blow *b, char *lines)
{
	char *rest = lines;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			assert_int_equal(st_blow_read_function(b, line), ST_OK);
	free(lines);
}

static void
add_pair(struct st_trace *t, uint32_t caller, uint32_t callee, uint64_t calls)
{
	struct st_trace_pair *pair = ST_PUSH(&t->pairs);
	*pair = (struct st_trace_pair){
	        .caller = caller, .callee = callee, .calls = calls, .outermost_ns = 1000 * calls};
}

static void
fill_trace(struct st_trace *t)
{
	*t = (struct st_trace){0};
	for (uint32_t i = 0; i < 6; i++) {
		struct st_trace_function *f = ST_PUSH(&t->functions);
		*f = (struct st_trace_function){.name = names[i % 3],
		                                .image = "/bin/p",
		                                .offset = 0x1000 + 16 * (i % 3),
		                                .tid = 1 + i / 3};
	}
	struct st_trace_function *scope = ST_PUSH(&t->functions);
	*scope = (struct st_trace_function){.name = "scope", .image = "/bin/q", .offset = 0x1000};
	add_pair(t, MAIN, F, 2);
	add_pair(t, 3 + MAIN, 3 + F, 3);
	add_pair(t, G, F, 4);
	add_pair(t, ST_TRACE_NOBODY, MAIN, 1);
	add_pair(t, 6, G, 1); /* a caller that is not in the list */
	add_pair(t, G, 6, 1);
	add_pair(t, F, G, 0); /* no call has returned */
}

static void
list_program(struct st_blow *b)
{
	struct st_blow_written w = {0};
	struct st_trace t;
	struct st_text text;
	assert_non_null(st_text_begin(&text));
	for (uint32_t i = 0; i < 3; i++) {
		const struct st_blow_function f = {.name = names[i],
		                                   .raw_name = names[i],
		                                   .image = "/bin/p",
		                                   .offset = 0x1000 + 16 * i,
		                                   .calls = 9,
		                                   .ns = 9000};
		st_blow_write_function(&f, text.out);
		assert_int_equal(st_blow_written_add(&w, &f), ST_OK);
	}
	fill_trace(&t);
	assert_int_equal(st_blow_contexts_write(&w, &t, text.out), ST_OK);
	st_blow_written_free(&w);
	free(t.functions.v);
	free(t.pairs.v);
	*b = (struct st_blow){.causal = true};
	read_all(b, st_text_end(&text));
}

/* Pairs of all threads are added up. */
static void
test_list(void **state)
{
	static const struct {
		const char *name, *raw_name;
		uint32_t callee, caller;
		uint64_t calls, offset;
	} rows[] = {{"f from main", "call:main>f", F, MAIN, 5, 0x1000},
	            {"f from g", "call:g>f", F, G, 4, 0x1000},
	            {"main from functions without a probe", "call:?>main", MAIN, ST_BLOW_NONE, 1,
	             0x1020}};
	struct st_blow b;
	(void)state;
	list_program(&b);
	assert_int_equal(b.functions.n, 6);
	assert_int_equal(st_blow_functions(&b), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct st_blow_function *f = &b.functions.v[3 + i];
		assert_string_equal(f->name, rows[i].name);
		assert_string_equal(f->raw_name, rows[i].raw_name);
		assert_string_equal(f->image, "/bin/p");
		assert_int_equal(f->callee, rows[i].callee);
		assert_int_equal(f->caller, rows[i].caller);
		assert_int_equal(f->calls, rows[i].calls);
		assert_int_equal(f->ns, 1000 * rows[i].calls);
		assert_int_equal(f->offset, rows[i].offset);
		assert_int_equal(f->traits, ST_BLOW_IS_CONTEXT);
	}
	assert_string_equal(st_blow_caller_name(&b, &b.functions.v[4]), "g");
	assert_string_equal(st_blow_caller_name(&b, &b.functions.v[5]), ST_BLOW_NO_CALLER);
	st_blow_free(&b);
}

/* The functions of a context are earlier entries, and no contexts themselves. */
static void
test_bad_lines(void **state)
{
	static const char *const functions[] = {"6\t0", "0\t6", "3\t0", "0\t3", "4294967295\t0"};
	struct st_blow b;
	char line[128];
	(void)state;
	list_program(&b);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		snprintf(line, sizeof line, "function\t/bin/p\t1\t1\t1\t0\t%d\t%s\tn\tr\t",
		         ST_BLOW_IS_CONTEXT, functions[i]);
		assert_int_equal(st_blow_read_function(&b, line), ST_FAILED);
		/* Other entries have no functions. */
		snprintf(line, sizeof line, "function\t/bin/p\t1\t1\t1\t0\t0\t%s\tn\tr\t",
		         functions[i]);
		assert_int_equal(st_blow_read_function(&b, line), ST_OK);
		b.functions.n--;
	}
	st_blow_free(&b);
}

static uint32_t
chosen_bits(const struct st_blow *b)
{
	uint32_t bits = 0;
	for (size_t i = 0; i < b->functions.n; i++)
		bits |= (uint32_t)b->functions.v[i].chosen << i;
	return bits;
}

static void
test_choose(void **state)
{
	const uint32_t functions = 1u << ST_BLOW_TARGET_FUNCTION,
	               contexts = 1u << ST_BLOW_TARGET_CONTEXT;
	struct st_blow b;
	struct st_blow_criteria c = {.all = true};
	(void)state;
	list_program(&b);
	assert_int_equal(st_blow_choose(&b, &c), 3);
	assert_int_equal(chosen_bits(&b), 0x07);
	c.by = contexts;
	assert_int_equal(st_blow_choose(&b, &c), 3);
	assert_int_equal(chosen_bits(&b), 0x38);
	c.by = functions | contexts;
	assert_int_equal(st_blow_choose(&b, &c), 6);
	/* A function that is in the list as a caller only. */
	b.functions.v[MAIN].traits |= ST_BLOW_IS_CALLER;
	assert_int_equal(st_blow_choose(&b, &c), 4);
	assert_int_equal(chosen_bits(&b), 0x1b);
	/* A function that takes no probe has no calls, and none of its contexts is chosen. */
	b.functions.v[F].why = "too short";
	assert_int_equal(st_blow_choose(&b, &c), 1);
	assert_int_equal(chosen_bits(&b), 0x02);
	st_blow_free(&b);
}

static void
test_locations(void **state)
{
	static const struct {
		const char *location;
		uint32_t chosen;
	} rows[] = {{"call:g>f", 0x10},    {"call:*>f", 0x18}, {"call:main>*", 0x08},
	            {"call:*>main", 0x20}, {"call:f>g", 0},    {"call:?>f", 0x10},
	            {"p.c:3", 0}};
	struct st_blow b;
	(void)state;
	list_program(&b);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct st_blow_locations l = {0};
		struct st_error e;
		assert_int_equal(st_blow_locations_add(&l, rows[i].location, &e), ST_OK);
		const struct st_blow_criteria c = {.only_inside = true, .called = &l};
		st_blow_choose(&b, &c);
		assert_int_equal(chosen_bits(&b), rows[i].chosen);
		st_blow_locations_free(&l);
	}
	st_blow_free(&b);
}

/* All functions that a caller with * means are callers already. */
static void
test_mention(void **state)
{
	struct st_blow_locations l = {0};
	struct st_error e;
	(void)state;
	assert_int_equal(st_blow_locations_add(&l, "call:*>f", &e), ST_OK);
	assert_int_equal(st_blow_locations_add(&l, "call:h_*>k(int)", &e), ST_OK);
	assert_true(st_blow_locations_mention(&l, &(struct st_function){.name = "f"}));
	assert_true(st_blow_locations_mention(&l, &(struct st_function){.name = "h_1"}));
	assert_true(st_blow_locations_mention(
	        &l, &(struct st_function){.name = "k(int)", .raw_name = "_Z1ki"}));
	assert_false(st_blow_locations_mention(&l, &(struct st_function){.name = "g"}));
	assert_false(st_blow_locations_mention(NULL, &(struct st_function){.name = "f"}));
	st_blow_locations_free(&l);
}

/* A run times all callers of a function, also if one context of it is chosen. */
static void
test_timed(void **state)
{
	struct st_blow b;
	struct st_blow_contexts c;
	(void)state;
	list_program(&b);
	b.functions.v[4].chosen = true; /* f from g */
	assert_int_equal(st_blow_contexts_begin(&c, &b), ST_OK);
	assert_true(c.timed[F] && c.timed[G] && c.timed[MAIN]);
	assert_int_equal(st_blow_context(&c, F, G), 4);
	assert_int_equal(st_blow_context(&c, F, MAIN), ST_BLOW_NONE);
	assert_int_equal(st_blow_context(&c, F, ST_BLOW_NONE), ST_BLOW_NONE);
	st_blow_contexts_end(&c);
	b.functions.v[4].chosen = false;
	b.functions.v[5].chosen = true; /* main from functions without a probe */
	assert_int_equal(st_blow_contexts_begin(&c, &b), ST_OK);
	assert_true(!c.timed[F] && !c.timed[G] && c.timed[MAIN]);
	assert_int_equal(st_blow_context(&c, MAIN, ST_BLOW_NONE), 5);
	st_blow_contexts_end(&c);
	st_blow_free(&b);
}

static void
test_profile(void **state)
{
	struct st_blow b, back;
	struct st_error e;
	struct st_profile *p = st_profile_new();
	(void)state;
	list_program(&b);
	b.functions.v[4].chosen = true;
	p->run.tool = ST_BLOW_TOOL;
	st_profile_add_tool(p, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_int_equal(back.functions.n, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct st_blow_function *x = &b.functions.v[i], *y = &back.functions.v[i];
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->traits, y->traits);
		assert_int_equal(x->callee, y->callee);
		assert_int_equal(x->caller, y->caller);
		assert_int_equal(x->chosen, y->chosen);
	}
	st_blow_free(&back);
	st_profile_free(p);
	st_blow_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_list),    cmocka_unit_test(test_bad_lines),
	        cmocka_unit_test(test_choose),  cmocka_unit_test(test_locations),
	        cmocka_unit_test(test_mention), cmocka_unit_test(test_timed),
	        cmocka_unit_test(test_profile)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
