/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of several runs are matched by their origins; also those of damaged lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "blow/origins.h"
#include "profile/profile.h"

static struct st_blow_place
place(const char *function, uint64_t offset)
{
	return (struct st_blow_place){strdup(*function ? "/bin/p" : ""), strdup(function), offset};
}

/* A thread that begins with the function, whose name decides where it lies. */
static void
add_thread(struct st_blow_run *r, uint32_t thread, uint32_t creator, uint32_t nth,
           const char *start)
{
	struct st_blow_origin *o = ST_PUSH(&r->origins);
	*o = (struct st_blow_origin){.thread = thread,
	                             .creator = creator,
	                             .nth = nth,
	                             .start = place(start, (unsigned char)*start),
	                             .call = place(*start ? "make" : "", *start ? 7 : 0)};
	struct st_blow_sample *s = ST_PUSH(&r->samples);
	*s = (struct st_blow_sample){.thread = thread, .calls = thread};
	struct st_blow_span *span = ST_PUSH(&r->spans);
	*span = (struct st_blow_span){thread, thread};
}

/* The number of the thread that was `thread` in the run. */
static uint32_t
matched(const struct st_blow_run *r, uint32_t thread)
{
	uint32_t at = UINT32_MAX;
	for (size_t i = 0; i < r->samples.n; i++)
		if (r->samples.v[i].calls == thread)
			at = r->samples.v[i].thread;
	for (size_t i = 0; i < r->spans.n; i++)
		if (r->spans.v[i].ns == thread)
			assert_int_equal(r->spans.v[i].thread, at);
	return at;
}

static void
assert_name(const struct st_blow *b, uint32_t thread, const char *name)
{
	struct st_text text;
	assert_true(st_text_begin(&text));
	st_blow_print_thread(b, thread, text.out);
	char *printed = st_text_end(&text);
	assert_string_equal(printed, name);
	free(printed);
}

static void
test_order(void **state)
{
	struct st_blow b = {0};
	struct st_blow_run first = {0}, second = {0};
	(void)state;
	add_thread(&first, 1, 0, 0, "reader");
	add_thread(&first, 2, 0, 1, "reader");
	add_thread(&first, 3, 2, 0, "writer");
	add_thread(&first, 4, 1, 0, "writer");
	assert_int_equal(st_blow_match_threads(&b, &first), ST_OK);
	assert_int_equal(first.origins.n, 0);
	assert_int_equal(b.threads.n, 4);
	assert_name(&b, 0, "main");
	assert_name(&b, matched(&first, 2), "reader 2 (created by main in make)");
	assert_name(&b, matched(&first, 3), "writer (created by reader 2 in make)");
	assert_name(&b, 77, "thread 77");
	/* The same in another order; a creator after what it has created; and a new one. */
	add_thread(&second, 11, 13, 0, "writer");
	add_thread(&second, 12, 14, 0, "writer");
	add_thread(&second, 13, 0, 1, "reader");
	add_thread(&second, 14, 0, 0, "reader");
	add_thread(&second, 15, 13, 1, "writer");
	assert_int_equal(st_blow_match_threads(&b, &second), ST_OK);
	assert_int_equal(matched(&second, 11), matched(&first, 3));
	assert_int_equal(matched(&second, 12), matched(&first, 4));
	assert_int_equal(matched(&second, 13), matched(&first, 2));
	assert_int_equal(matched(&second, 14), matched(&first, 1));
	assert_int_equal(matched(&second, 15), 5);
	assert_name(&b, 5, "writer 2 (created by reader 2 in make)");
	/* Samples are in order again. */
	for (size_t i = 1; i < second.samples.n; i++)
		assert_true(second.samples.v[i - 1].thread < second.samples.v[i].thread);
	st_blow_run_clear(&first);
	st_blow_run_clear(&second);
	st_blow_free(&b);
}

/* Without origins, threads are matched by their order, as far as that is possible. */
static void
test_not_known(void **state)
{
	struct st_blow b = {0};
	struct st_blow_run runs[2] = {0};
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		add_thread(&runs[i], 1 + 10 * i, ST_BLOW_NONE, 0, "");
		add_thread(&runs[i], 2 + 10 * i, 0, 0, "reader");
		add_thread(&runs[i], 3 + 10 * i, ST_BLOW_NONE, 0, "");
		assert_int_equal(st_blow_match_threads(&b, &runs[i]), ST_OK);
		for (uint32_t k = 1; k <= 3; k++)
			assert_int_equal(matched(&runs[i], k + 10 * i), k);
		st_blow_run_clear(&runs[i]);
	}
	assert_name(&b, 3, "thread 3");
	assert_int_equal(b.threads.n, 3);
	st_blow_free(&b);
}

/* Threads that have created each other, or whose creator is not there. */
static void
test_damaged(void **state)
{
	struct st_blow b = {0};
	struct st_blow_run r = {0};
	(void)state;
	add_thread(&r, 1, 2, 0, "reader");
	add_thread(&r, 2, 1, 0, "reader");
	add_thread(&r, 3, 99, 0, "reader");
	add_thread(&r, 4, 4, 0, "writer");
	assert_int_equal(st_blow_match_threads(&b, &r), ST_OK);
	for (uint32_t i = 1; i <= 4; i++)
		assert_in_range(matched(&r, i), 1, b.threads.n);
	st_blow_run_clear(&r);
	st_blow_free(&b);
}

/* As a line, and in a profile. */
static void
test_kept(void **state)
{
	struct st_blow b = {0}, back;
	struct st_blow_run r = {0}, read;
	struct st_profile *p = st_profile_new();
	struct st_error e;
	struct st_text text;
	(void)state;
	struct st_blow_function *f = ST_PUSH(&b.functions);
	*f = (struct st_blow_function){.name = "f", .raw_name = "f", .image = "i"};
	add_thread(&r, 1, 0, 3, "a worker\x1f\twith signs");
	add_thread(&r, 2, 1, 0, "");
	r.note = strdup("cause\ttext\n");
	assert_true(st_text_begin(&text));
	st_blow_write_line(&r, text.out);
	char *line = st_text_end(&text);
	assert_int_equal(st_blow_read_line(&read, line, 1), ST_OK);
	assert_string_equal(read.note, "cause\ttext\n");
	assert_int_equal(read.origins.n, 2);
	assert_int_equal(read.origins.v[0].nth, 3);
	assert_string_equal(read.origins.v[0].start.function, "a worker  with signs");
	assert_string_equal(read.origins.v[1].call.function, "");
	/* A line that ends early is refused. */
	const size_t n = strlen(line);
	for (size_t i = n - strlen("\tcause\ttext\n") - 2; strchr(line, '\x1f') < line + i; i--) {
		struct st_blow_run none;
		line[i] = '\0';
		assert_int_equal(st_blow_read_line(&none, line, 1), ST_FAILED);
	}
	free(line);
	assert_int_equal(st_blow_match_threads(&b, &read), ST_OK);
	struct st_blow_run *slot = ST_PUSH(&b.runs);
	*slot = read;
	p->run.tool = ST_BLOW_TOOL;
	st_profile_add_tool(p, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_int_equal(back.threads.n, 2);
	assert_name(&back, 1, "a worker  with signs 4 (created by main in make)");
	assert_int_equal(back.threads.v[1].creator, 1);
	st_blow_free(&back);
	st_blow_free(&b);
	st_blow_run_clear(&r);
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_order),
	        cmocka_unit_test(test_not_known),
	        cmocka_unit_test(test_damaged),
	        cmocka_unit_test(test_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
