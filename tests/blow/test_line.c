/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs and functions are written as lines and read again; damaged lines are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "blow/blow.h"

static char *
line_of(const struct st_blow_run *r)
{
	struct st_text text;
	assert_non_null(st_text_begin(&text));
	st_blow_write_line(r, text.out);
	return st_text_end(&text);
}

static char *
line_of_function(const struct st_blow_function *f)
{
	struct st_text text;
	assert_non_null(st_text_begin(&text));
	st_blow_write_function(f, text.out);
	return st_text_end(&text);
}

static void
add(struct st_blow_run *r, struct st_blow_sample s)
{
	struct st_blow_sample *slot = ST_PUSH(&r->samples);
	*slot = s;
}

static struct st_blow_run
example(void)
{
	struct st_blow_run r = {.function = 3,
	                        .noise = {ST_BLOW_YIELD, 12345},
	                        .fault = ST_BLOW_HANG,
	                        .exit = 137,
	                        .output = UINT64_MAX,
	                        .total_ns = 1,
	                        .cpu_ns = 2,
	                        .note = strdup("cause\twhy\x01 not\nframe\tf\t/bin/p\t1f\n")};
	add(&r, (struct st_blow_sample){3, 1, 4, 5, 6, 7});
	add(&r, (struct st_blow_sample){3, 0, 40, 50, 60, 70});
	add(&r, (struct st_blow_sample){0, 7, 1, 2, 3, 4});
	struct st_blow_span *span = ST_PUSH(&r.spans);
	*span = (struct st_blow_span){6, 99};
	return r;
}

static void
test_round_trip(void **state)
{
	struct st_blow_run r = example(), back;
	char *line = line_of(&r);
	(void)state;
	assert_int_equal(st_blow_read_line(&back, line, 4), ST_OK);
	assert_int_equal(back.function, 3);
	assert_int_equal(back.noise.type, ST_BLOW_YIELD);
	assert_int_equal(back.noise.strength, 12345);
	assert_int_equal(back.fault, ST_BLOW_HANG);
	assert_int_equal(back.exit, 137);
	assert_true(back.output == UINT64_MAX);
	assert_int_equal(back.samples.n, 3);
	/* They are in order then, and add up. */
	assert_int_equal(back.samples.v[0].function, 0);
	assert_int_equal(back.samples.v[1].thread, 0);
	const struct st_blow_sample sum = st_blow_sum(&back, 3);
	assert_int_equal(sum.calls, 44);
	assert_int_equal(sum.ns, 55);
	assert_int_equal(sum.noises, 66);
	assert_int_equal(sum.noise_ns, 77);
	assert_int_equal(st_blow_sum(&back, 2).calls, 0);
	assert_int_equal(st_blow_noise_of(&back).noise_ns, 81);
	assert_int_equal(back.spans.n, 1);
	assert_int_equal(back.spans.v[0].thread, 6);
	assert_int_equal(back.spans.v[0].ns, 99);
	/* Other control characters than the ends of lines and fields become spaces. */
	assert_string_equal(back.note, "cause\twhy  not\nframe\tf\t/bin/p\t1f\n");
	st_blow_run_clear(&back);
	assert_null(back.note);
	/* A function that there is not. */
	assert_int_equal(st_blow_read_line(&back, line, 3), ST_FAILED);
	st_blow_run_clear(&r);
	free(line);
	r = (struct st_blow_run){.function = ST_BLOW_NONE, .total_ns = 9};
	line = line_of(&r);
	assert_int_equal(st_blow_read_line(&back, line, 0), ST_OK);
	assert_int_equal(back.function, ST_BLOW_NONE);
	free(line);
}

static void
test_function(void **state)
{
	const struct st_blow_function f = {.name = "a::b(int, char const*)",
	                                   .raw_name = "_Z\tx\n",
	                                   .image = "/a b/c",
	                                   .offset = 0xdeadbeef,
	                                   .calls = 7,
	                                   .ns = 8,
	                                   .sites = 9,
	                                   .traits = ST_BLOW_DOES_IO | ST_BLOW_USES_LOCKS,
	                                   .why = "too short"};
	struct st_blow b = {0};
	char *line = line_of_function(&f);
	(void)state;
	assert_int_equal(st_blow_read_function(&b, line), ST_OK);
	const struct st_blow_function *back = &b.functions.v[0];
	assert_string_equal(back->name, f.name);
	assert_string_equal(back->raw_name, "_Z x ");
	assert_string_equal(back->image, f.image);
	assert_string_equal(back->why, f.why);
	assert_int_equal(back->offset, f.offset);
	assert_int_equal(back->calls, 7);
	assert_int_equal(back->ns, 8);
	assert_int_equal(back->sites, 9);
	assert_int_equal(back->traits, ST_BLOW_DOES_IO | ST_BLOW_USES_LOCKS);
	free(line);
	static const char *const bad[] = {"",
	                                  "function",
	                                  "function\ta\tx\t1\t1\t0\t0\t0\t0\tn\tr\t",
	                                  "function\ta\t1\t-1\t1\t0\t0\t0\t0\tn\tr\t",
	                                  "function\ta\t1\t1\t\t0\t0\t0\t0\tn\tr\t",
	                                  "function\ta\t1\t1\t1\t0\t65536\t0\t0\tn\tr\t",
	                                  "function\ta\t1\t1\t1\t4294967296\t0\t0\t0\tn\tr\t",
	                                  "function\ta\t1\t1\t1\t0\t0\t0\t0\tn\tr",
	                                  "function\ta\t1\t1\t1\t0\t0\t0\t0\tn\tr\t\t",
	                                  "run\ta\t1\t1\t1\t0\t0\t0\t0\tn\tr\t",
	                                  "function\ta\t1\t1\t1\t0\t0\tx\t0\tn\tr\t",
	                                  "function\ta\t1\t1\t1\t0\t0\t0\t4294967296\tn\tr\t",
	                                  "function\ta\t1\t1\t1\t0\t0\tn\tr\t"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(st_blow_read_function(&b, bad[i]), ST_FAILED);
	assert_int_equal(b.functions.n, 1);
	st_blow_free(&b);
}

static void
test_bad_lines(void **state)
{
	static const char *const bad[] = {
	        "",
	        "run",
	        "run 0",
	        "run 0 0 0 0 0 0 0 0",
	        "run 0 9 0 0 0 0 0 0 0 0",   /* no such noise */
	        "run 0 0 0 9 0 0 0 0 0 0",   /* no such fault */
	        "run 0 0 0 0 256 0 0 0 0 0", /* no such exit code */
	        "run 0 0 0 0 0 0 0 0 0",     /* no number of spans */
	        "run 0 0 0 0 0 0 0 0 1",
	        "run 0 0 0 0 0 0 0 0 1 5 0 1 1 1 1 0", /* no such function */
	        "run 0 0 0 0 0 0 0 0 0 0 1",
	        "run 0 0 0 0 0 0 0 0 0 1 5",
	        "run 0 0 0 0 0 0 0 0 0 1 5 -1",
	        "run 0 0 0 0 0 0 -1 0 0 0",
	        "run 0 0 0 0 0 0 99999999999999999999 0 0 0",
	        "run 5 0 0 0 0 0 0 0 0 0",
	};
	struct st_blow_run r;
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(st_blow_read_line(&r, bad[i], 5), ST_FAILED);
		assert_null(r.samples.v);
	}
}

/* A changed line is refused, or its values are within bounds. */
static void
test_mutations(void **state)
{
	enum { ROUNDS = 20000 };
	static const char some[] = "0123456789 -\t\nrx";
	struct st_blow_run r = example(), back;
	const struct st_blow_function f = {.name = "n", .raw_name = "r", .image = "i"};
	struct st_blow b = {0};
	uint64_t random = 1;
	char *run = line_of(&r), *function = line_of_function(&f);
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		char *copy = strdup(i % 2 ? run : function);
		const size_t n = strlen(copy);
		for (size_t k = st_random_below(&random, 4) + 1; k--;)
			copy[st_random_below(&random, n)] =
			        some[st_random_below(&random, sizeof some)];
		if (i % 2 && !st_blow_read_line(&back, copy, 4)) {
			assert_true(back.function < 4 || back.function == ST_BLOW_NONE);
			assert_true(back.noise.type < ST_BLOW_NOISE_COUNT);
			assert_true(back.fault < ST_BLOW_FAULT_COUNT);
			for (size_t k = 0; k < back.samples.n; k++)
				assert_true(back.samples.v[k].function < 4);
			st_blow_run_clear(&back);
		} else if (i % 2 == 0) {
			(void)!st_blow_read_function(&b, copy);
		}
		free(copy);
	}
	for (size_t i = 0; i < b.functions.n; i++)
		assert_non_null(b.functions.v[i].name);
	st_blow_free(&b);
	st_blow_run_clear(&r);
	free(run);
	free(function);
}

/* The lines of a selection: its functions, and the program that was executed last. */
static void
test_selection(void **state)
{
	struct st_blow b = {.executed = "/a b/c\n\td"}, back = {0};
	struct st_text text;
	(void)state;
	*ST_PUSH(&b.functions) =
	        (struct st_blow_function){.name = "f", .raw_name = "f", .image = "/i", .offset = 1};
	assert_non_null(st_text_begin(&text));
	st_blow_write_selection(&b, text.out);
	char *lines = st_text_end(&text), *rest = lines;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line)
			assert_int_equal(st_blow_read_function(&back, line), ST_OK);
	assert_int_equal(back.functions.n, 1);
	assert_string_equal(back.executed, "/a b/c  d");
	assert_int_equal(st_blow_read_function(&back, "executed"), ST_FAILED);
	free(lines);
	st_blow_free(&b);
	st_blow_free(&back);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_function),
	        cmocka_unit_test(test_selection),  cmocka_unit_test(test_bad_lines),
	        cmocka_unit_test(test_mutations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
