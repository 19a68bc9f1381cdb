/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes of runs as text, as JSON, and in a profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "profile/profile.h"
#include "report/blow.h"

static const char note[] = "cause\tthread 1 waits\n"
                           "thread\tthread 1 (p) waits for a wake-up\n"
                           "frame\tpthread_cond_wait\t/lib/libc.so.6\t1f\n"
                           "missing\tthe stack is deeper\n"
                           "thread\tthread 2 (p) has ended\n";

static void
expect_text(const char *from, bool stacks, bool left_out, const char *expected)
{
	struct st_text text;
	assert_true(st_text_begin(&text));
	assert_int_equal(st_blow_note_print(from, stacks, text.out), left_out);
	char *written = st_text_end(&text);
	assert_string_equal(written, expected);
	free(written);
}

static void
test_text(void **state)
{
	(void)state;
	expect_text(note, false, true, "    thread 1 waits\n");
	expect_text(note, true, false,
	            "    thread 1 waits\n"
	            "    thread 1 (p) waits for a wake-up\n"
	            "      pthread_cond_wait (libc.so.6+0x1f)\n"
	            "      (the stack is deeper)\n"
	            "    thread 2 (p) has ended\n");
	expect_text(NULL, true, false, "");
	expect_text("cause\tonly this", false, false, "    only this\n");
	expect_text("frame\tf\nframe\n", true, false, "      f (+0x)\n       (+0x)\n");
}

static void
test_json(void **state)
{
	json_t *fault = json_object();
	(void)state;
	assert_int_equal(st_blow_note_json(note, fault), 0);
	assert_string_equal(json_string_value(json_object_get(fault, "cause")), "thread 1 waits");
	const json_t *stacks = json_object_get(fault, "stacks");
	assert_int_equal(json_array_size(stacks), 2);
	const json_t *first = json_array_get(stacks, 0), *second = json_array_get(stacks, 1);
	assert_string_equal(json_string_value(json_object_get(first, "thread")),
	                    "thread 1 (p) waits for a wake-up");
	assert_string_equal(json_string_value(json_object_get(first, "missing")),
	                    "the stack is deeper");
	assert_int_equal(json_array_size(json_object_get(first, "frames")), 1);
	const json_t *frame = json_array_get(json_object_get(first, "frames"), 0);
	assert_string_equal(json_string_value(json_object_get(frame, "function")),
	                    "pthread_cond_wait");
	assert_string_equal(json_string_value(json_object_get(frame, "image")), "/lib/libc.so.6");
	assert_int_equal(json_integer_value(json_object_get(frame, "offset")), 0x1f);
	assert_int_equal(json_array_size(json_object_get(second, "frames")), 0);
	assert_true(json_is_null(json_object_get(second, "missing")));
	json_decref(fault);
	fault = json_object();
	assert_int_equal(st_blow_note_json(NULL, fault), 0);
	assert_true(json_is_null(json_object_get(fault, "cause")));
	assert_int_equal(json_array_size(json_object_get(fault, "stacks")), 0);
	json_decref(fault);
}

/* Damaged notes are printed as far as they make sense. */
static void
test_damaged(void **state)
{
	uint64_t random = 1;
	(void)state;
	for (int i = 0; i < 3000; i++) {
		char damaged[sizeof note];
		memcpy(damaged, note, sizeof note);
		for (int k = 0; k < 8; k++)
			damaged[st_random_below(&random, sizeof note - 1)] =
			        "\t\n/\0 afmt"[st_random_below(&random, 9)];
		struct st_text text;
		json_t *fault = json_object();
		assert_true(st_text_begin(&text));
		(void)st_blow_note_print(damaged, true, text.out);
		char *written = st_text_end(&text);
		assert_non_null(written);
		assert_int_equal(st_blow_note_json(damaged, fault), 0);
		assert_true(json_is_array(json_object_get(fault, "stacks")));
		json_decref(fault);
		free(written);
	}
}

/* The profile keeps the notes of all runs, in their order. */
static void
test_profile(void **state)
{
	struct st_profile *p = st_profile_new();
	struct st_blow b = {0}, back;
	struct st_error e;
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct st_blow_run *r = ST_PUSH(&b.runs);
		*r = (struct st_blow_run){.function = ST_BLOW_NONE,
		                          .fault = i ? ST_BLOW_LIVELOCK : ST_BLOW_NO_FAULT,
		                          .note = i == 1   ? strdup(note)
		                                  : i == 2 ? strdup("cause\tother\n")
		                                           : NULL};
	}
	st_profile_add_tool(p, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_null(back.runs.v[0].note);
	assert_string_equal(back.runs.v[1].note, note);
	assert_string_equal(back.runs.v[2].note, "cause\tother\n");
	assert_int_equal(back.runs.v[2].fault, ST_BLOW_LIVELOCK);
	st_blow_free(&back);
	st_blow_free(&b);
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_text),
	        cmocka_unit_test(test_json),
	        cmocka_unit_test(test_damaged),
	        cmocka_unit_test(test_profile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
