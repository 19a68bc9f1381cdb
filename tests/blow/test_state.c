/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a campaign that goes on, what is said of its gains, and where these bend: on runs
 * with invented times. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "printed.h"

enum { F, G, FUNCTIONS };

static void
add_run(struct st_blow *b, uint32_t function, uint64_t percent, uint64_t total, uint64_t paid)
{
	struct st_blow_run *r = ST_PUSH(&b->runs);
	assert_non_null(r);
	*r = (struct st_blow_run){
	        .function = function, .noise = {ST_BLOW_VIRTUAL, percent}, .total_ns = total};
	if (function == ST_BLOW_NONE)
		return;
	struct st_blow_sample *s = ST_PUSH(&r->samples);
	assert_non_null(s);
	*s = (struct st_blow_sample){.function = function, .calls = 1, .noise_ns = paid};
}

/* The run takes 1 ms, and runs differ by `differs` ns. f brings the whole time up to 25 %, and
 * nothing more; g brings nothing. */
static struct st_blow
bent_campaign(uint64_t differs)
{
	static const char *const names[] = {"f", "g"};
	struct st_blow b = {.causal = true};
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct st_blow_function *f = ST_PUSH(&b.functions);
		*f = (struct st_blow_function){.name = names[i],
		                               .raw_name = names[i],
		                               .image = "/bin/p",
		                               .chosen = true,
		                               .calls = 10};
	}
	for (uint64_t i = 0; i < 6; i++) {
		const uint64_t off = differs * (i % 2);
		add_run(&b, ST_BLOW_NONE, 0, 1000000 + off, 0);
		for (uint64_t percent = 25; percent <= 100; percent += 25) {
			add_run(&b, F, percent, 1000000 + off, 250000);
			add_run(&b, G, percent, 1000000 + off, 0);
		}
	}
	return b;
}

static char *
state_of(const struct st_blow *b, const struct st_blow_state *s)
{
	struct st_blow_best best[ST_BLOW_BEST];
	struct st_text text;
	const size_t n = st_blow_best_rows(b, best);
	assert_true(st_text_begin(&text));
	st_blow_state_print(b, s, best, n, text.out);
	return st_text_end(&text);
}

static void
assert_text(char *text, const char *wanted)
{
	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
}

static void
test_line(void **state)
{
	struct st_blow b = bent_campaign(0);
	const struct st_blow_state s = {12, 1234, 34.4, F, false},
	                           quiet = {1, 0, NAN, ST_BLOW_NONE, false};
	(void)state;
	assert_text(state_of(&b, &s), "12 experiments, 1,234 left, 34 s left: f; best: f 25.0 % "
	                              "(25.0 to 25.0), g 0.0 % (0.0 to 0.0)");
	const struct st_blow none = {.causal = true};
	assert_text(state_of(&none, &quiet), "1 experiment, 0 left: without noise");
	st_blow_free(&b);
}

static void
test_json(void **state)
{
	struct st_blow b = bent_campaign(0);
	struct st_blow_best best[ST_BLOW_BEST];
	const struct st_blow_state s = {12, 3, NAN, G, true};
	const size_t n = st_blow_best_rows(&b, best);
	(void)state;
	json_t *out = st_blow_state_json(&b, &s, best, n), *first;
	assert_non_null(out);
	assert_int_equal(json_integer_value(json_object_get(out, "done")), 12);
	assert_int_equal(json_integer_value(json_object_get(out, "left")), 3);
	assert_true(json_is_null(json_object_get(out, "seconds_left")));
	assert_true(json_is_true(json_object_get(out, "ended")));
	assert_string_equal(json_string_value(json_object_get(out, "next")), "g");
	assert_string_equal(json_string_value(json_object_get(out, "mode")), "causal");
	assert_int_equal(json_array_size(json_object_get(out, "best")), 2);
	first = json_array_get(json_object_get(out, "best"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "function")), "f");
	assert_true(fabs(json_real_value(json_object_get(first, "value")) - 0.25) < 1e-9);
	json_decref(out);
	st_blow_free(&b);
}

/* What the best function brings, where its gain bends, and how runs without a speed-up differ. */
static void
test_sentences(void **state)
{
	struct st_blow b = bent_campaign(2000);
	const struct st_blow_view view = {0};
	char *text = print_campaign(&b, &view);
	(void)state;
	assert_non_null(strstr(text, "\nmaking f 25 % faster makes the run 25.0 % (24.9 to 25.0) "
	                             "shorter\n"));
	assert_non_null(strstr(text,
	                       "\nthe gain of f bends at about 25 %: until there, each percent "
	                       "by which it is faster saves 1.00 % of the time, from there on "
	                       "0.00 %\n"));
	assert_null(strstr(text, "the gain of g"));
	assert_null(strstr(text, "making g"));
	assert_non_null(strstr(text, "\ncontrol: one half of these runs took "));
	assert_null(strstr(text, "differ much from each other"));
	free(text);
	st_blow_free(&b);
}

/* Runs without a speed-up that differ by 19 % make a gain of 25 % doubtful, which is said once. */
static void
test_doubtful_control(void **state)
{
	static const struct {
		uint64_t differs;
		const char *said, *not_said;
	} cases[] = {{190000, " less time than the other\nthey differ much from each other",
	              "the runs without noise differ much"},
	             {300000, "the runs without noise differ much", "they differ much"}};
	const struct st_blow_view view = {0};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct st_blow b = bent_campaign(cases[i].differs);
		char *text = print_campaign(&b, &view);
		assert_non_null(strstr(text, cases[i].said));
		assert_null(strstr(text, cases[i].not_said));
		free(text);
		st_blow_free(&b);
	}
}

static struct st_blow_tried_gain
gain(uint64_t percent, double at, double half)
{
	return (struct st_blow_tried_gain){percent, {5, at, at - half, at + half, false}};
}

static void
test_bends(void **state)
{
	/* Half of the time up to 50 %, then nothing. */
	const struct st_blow_tried_gain bent[] = {gain(25, 0.125, 0.01), gain(50, 0.25, 0.01),
	                                          gain(75, 0.25, 0.01), gain(100, 0.25, 0.01)},
	                                straight[] = {gain(25, 0.1, 0.02), gain(50, 0.2, 0.02),
	                                              gain(75, 0.31, 0.02), gain(100, 0.4, 0.02)},
	                                vague[] = {gain(25, 0.125, 0.2), gain(50, 0.25, 0.2),
	                                           gain(75, 0.25, 0.2), gain(100, 0.25, 0.2)};
	(void)state;
	const struct st_blow_bend b = st_blow_bend_of(bent, 4);
	assert_int_equal(b.percent, 50);
	assert_true(fabs(b.before - 0.5) < 1e-12 && fabs(b.after) < 1e-12);
	assert_int_equal(st_blow_bend_of(straight, 4).percent, 0);
	assert_int_equal(st_blow_bend_of(vague, 4).percent, 0);
	assert_int_equal(st_blow_bend_of(bent, 1).percent, 0);
	assert_int_equal(st_blow_bend_of(NULL, 0).percent, 0);
	/* Without the experiments with 75 and 100 %, nothing bends. */
	assert_int_equal(st_blow_bend_of(bent, 2).percent, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_line),      cmocka_unit_test(test_json),
	        cmocka_unit_test(test_sentences), cmocka_unit_test(test_doubtful_control),
	        cmocka_unit_test(test_bends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
