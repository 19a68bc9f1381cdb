/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Campaigns on a simulated program that has faults in some runs without noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blow/again.h"
#include "blow/campaign.h"
#include "profile/profile.h"
#include "report/blow.h"

#include "printed.h"

enum { QUIET_RUNS = 5, EXPERIMENTS = 20 };

struct faulty {
	size_t quiet;          /* runs without noise so far */
	uint64_t faults;       /* the n-th of these has a fault: bits */
	enum st_blow_fault is; /* of this kind */
};

static st_status
select_one(void *arg, struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	struct st_blow_function *f = ST_PUSH(&b->functions);
	(void)arg;
	(void)e;
	*f = (struct st_blow_function){.name = "f",
	                               .raw_name = "f",
	                               .image = "/bin/simulated",
	                               .calls = 2,
	                               .ns = 10000000};
	*run = (struct st_blow_run){.function = ST_BLOW_NONE};
	return ST_OK;
}

static st_status
run_faulty(void *arg, const struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	struct faulty *s = arg;
	(void)b;
	(void)e;
	const bool quiet = run->function == ST_BLOW_NONE;
	const uint64_t noise = quiet ? 0 : 2 * st_blow_noise_ns(run->noise);
	run->total_ns = 100000000 + noise;
	if (quiet && s->faults >> s->quiet++ & 1) {
		run->fault = s->is;
		run->exit = 137;
		run->total_ns = 1;
		run->note = strdup("cause\ta lost wake-up\n");
	}
	struct st_blow_sample *sample = ST_PUSH(&run->samples);
	*sample = (struct st_blow_sample){
	        .calls = 2, .ns = 10000000 + noise, .noises = quiet ? 0 : 2, .noise_ns = noise};
	return ST_OK;
}

static struct st_blow_options
faulty_options(struct faulty *s)
{
	return (struct st_blow_options){
	        .criteria = {.which = 1 << ST_BLOW_BY_CRITERION_CALLS, .calls = 2},
	        .noise = {.types = {true}, .timed = {100, 100000}, .growth = 1.2},
	        .quiet_runs = QUIET_RUNS,
	        .most_runs = EXPERIMENTS,
	        .most_slower = 2,
	        .seed = 1,
	        .select = select_one,
	        .run = run_faulty,
	        .arg = s};
}

static st_status
campaign_of(struct faulty *s, struct st_blow *b, struct st_error *e)
{
	const struct st_blow_options o = faulty_options(s);
	enum st_blow_end end;
	*b = (struct st_blow){0};
	struct st_blow_campaign *c = st_blow_open(&o, b, e);
	assert_non_null(c);
	const st_status status = st_blow_run(c, &end, e);
	st_blow_close(c);
	return status;
}

/* The runs with a fault are kept, and others are made in their place. */
static void
test_rare(void **state)
{
	struct faulty s = {.faults = 1 << 0 | 1 << 3, .is = ST_BLOW_LOST_WAKEUP};
	struct st_blow b;
	struct st_error e;
	size_t faults = 0, quiet = 0;
	(void)state;
	assert_int_equal(campaign_of(&s, &b, &e), ST_OK);
	for (size_t i = 0; i < b.runs.n; i++) {
		faults += b.runs.v[i].fault == ST_BLOW_LOST_WAKEUP;
		quiet += st_blow_is_quiet(&b.runs.v[i]);
	}
	assert_int_equal(faults, 2);
	assert_int_equal(quiet, QUIET_RUNS + EXPERIMENTS / 8);
	assert_int_equal(b.runs.n, faults + quiet + EXPERIMENTS);
	const struct st_blow_baseline base = st_blow_baseline_of(&b);
	assert_int_equal(base.n, quiet);
	assert_true(base.total_ns == 100000000 && base.total_sd == 0);
	st_blow_free(&b);
}

/* Where they are the rule, there is no baseline. */
static void
test_often(void **state)
{
	struct st_error e = {0};
	struct st_blow b;
	(void)state;
	for (int i = 0; i < 2; i++) {
		/* In the first two runs; in three of the first five. */
		struct faulty s = {.faults = i ? 0x1a : 0x3, .is = ST_BLOW_HANG};
		assert_int_equal(campaign_of(&s, &b, &e), ST_FAILED);
		assert_non_null(
		        strstr(e.text, "in more than half of the runs without noise (hang)"));
		assert_int_equal(b.runs.n, i ? 5 : 2);
		st_blow_free(&b);
	}
	struct faulty s = {.faults = 3, .is = ST_BLOW_CRASH};
	assert_int_equal(campaign_of(&s, &b, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "ended by signal 9 in more than half of the runs"));
	st_blow_free(&b);
}

/* It is listed, in text and in JSON, and can be made again, as a run without noise. */
static void
test_listed(void **state)
{
	struct faulty s = {.faults = 1 << 2, .is = ST_BLOW_LOST_WAKEUP};
	struct st_profile *p = st_profile_new();
	struct st_blow b;
	struct st_error e;
	(void)state;
	assert_int_equal(campaign_of(&s, &b, &e), ST_OK);
	char *text = print_campaign(&b, &(struct st_blow_view){.full = true});
	assert_non_null(strstr(text, "\nfaults, which are not in the numbers above:\n"
	                             "  experiment 2: lost wake-up (exit code 137): without noise\n"
	                             "    a lost wake-up\n"));
	free(text);
	json_t *json = st_blow_object(&b, p, &(struct st_blow_view){0});
	const json_t *faults = json_object_get(json, "faults"), *fault = json_array_get(faults, 0);
	assert_int_equal(json_array_size(faults), 1);
	assert_true(json_is_null(json_object_get(fault, "function")));
	assert_true(json_is_null(json_object_get(fault, "noise")));
	assert_int_equal(json_integer_value(json_object_get(fault, "experiment")), 2);
	json_decref(json);
	assert_int_equal(st_blow_again_check(&b, 2, &e), ST_OK);
	assert_int_equal(st_blow_again_check(&b, 0, &e), ST_FAILED);
	assert_non_null(strstr(e.text, "run 0 is one without noise and without a fault"));
	st_blow_free(&b);
	st_profile_free(p);
}

/* The JSON of an experiment that is made again names a calling context as that of the campaign
 * does.
 */
static void
test_again_context(void **state)
{
	static const struct st_blow_function functions[] = {
	        {.name = "f", .raw_name = "f", .image = "i"},
	        {.name = "g", .raw_name = "g", .image = "i"},
	        {.name = "f from g",
	         .raw_name = "call:g>f",
	         .image = "i",
	         .traits = ST_BLOW_IS_CONTEXT,
	         .callee = 0,
	         .caller = 1}};
	struct st_blow b = {.causal = true};
	struct st_blow_again_runs again = {0};
	(void)state;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		struct st_blow_function *f = ST_PUSH(&b.functions);
		*f = functions[i];
	}
	for (int i = 0; i < 2; i++) {
		struct st_blow_run *r = i ? ST_PUSH(&again.list) : ST_PUSH(&b.runs);
		*r = (struct st_blow_run){.function = 2, .noise = {ST_BLOW_VIRTUAL, 50}};
	}
	json_t *json = st_blow_again_json(&b, &again);
	const json_t *run = json_array_get(json_object_get(json, "runs"), 0);
	assert_string_equal(json_string_value(json_object_get(run, "function")), "f");
	assert_string_equal(json_string_value(json_object_get(run, "context")), "g");
	assert_int_equal(
	        json_integer_value(json_object_get(json_object_get(run, "noise"), "strength")), 50);
	json_decref(json);
	free(again.list.v);
	st_blow_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_rare),
	        cmocka_unit_test(test_often),
	        cmocka_unit_test(test_listed),
	        cmocka_unit_test(test_again_context),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
