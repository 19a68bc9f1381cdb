/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which experiment a timeline is of, and timelines as lines and as tables of a profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blow/timeline.h"
#include "profile/profile.h"

/* ---- the choice ---- */

static void
add_run(struct st_blow *b, uint32_t function, uint64_t total, uint64_t in_function,
        struct st_blow_noise noise)
{
	struct st_blow_run *r = ST_PUSH(&b->runs);
	*r = (struct st_blow_run){.function = function, .noise = noise, .total_ns = total};
	for (uint32_t f = 0; f < b->functions.n; f++) {
		if (function != ST_BLOW_NONE && f != function)
			continue;
		struct st_blow_sample *s = ST_PUSH(&r->samples);
		*s = (struct st_blow_sample){.function = f, .calls = 1, .ns = in_function};
	}
}

static void
add_chosen(struct st_blow *b, const char *name)
{
	struct st_blow_function *f = ST_PUSH(&b->functions);
	*f = (struct st_blow_function){
	        .name = name, .raw_name = name, .image = "/bin/x", .calls = 1, .chosen = true};
}

/* Two functions of 100 in runs of 1000, so that an experiment's influence is R/F. */
static struct st_blow
two_functions(void)
{
	struct st_blow b = {0};
	add_chosen(&b, "f");
	add_chosen(&b, "g");
	for (int i = 0; i < 3; i++)
		add_run(&b, ST_BLOW_NONE, 1000, 100, (struct st_blow_noise){0});
	return b;
}

static void
the_highest_influence_is_chosen(void **state)
{
	struct st_blow b = two_functions();
	struct st_blow_run best;
	double indicator;
	(void)state;
	assert_false(st_blow_best(&b, NULL, &best, &indicator));
	add_run(&b, 0, 1100, 200, (struct st_blow_noise){ST_BLOW_BUSY, 5}); /* 1.1 / 2 */
	add_run(&b, 1, 1200, 200, (struct st_blow_noise){ST_BLOW_BUSY, 7}); /* 1.2 / 2 */
	add_run(&b, 1, 2000, 800, (struct st_blow_noise){ST_BLOW_BUSY, 9}); /* 2 / 8 */
	assert_true(st_blow_best(&b, NULL, &best, &indicator));
	assert_int_equal(best.function, 1);
	assert_int_equal(best.noise.strength, 7);
	assert_float_equal(indicator, 0.6, 1e-12);
	assert_true(st_blow_best(&b, "f*", &best, &indicator));
	assert_int_equal(best.function, 0);
	assert_float_equal(indicator, 0.55, 1e-12);
	assert_false(st_blow_best(&b, "h", &best, &indicator));
	/* An experiment with a fault has no indicator. */
	b.runs.v[4].fault = ST_BLOW_CRASH;
	assert_true(st_blow_best(&b, NULL, &best, &indicator));
	assert_int_equal(best.function, 0);
	st_blow_free(&b);
}

static void
the_greatest_gain_is_chosen(void **state)
{
	struct st_blow b = two_functions();
	struct st_blow_run best;
	double indicator;
	(void)state;
	b.causal = true;
	add_run(&b, 0, 900, 100, (struct st_blow_noise){ST_BLOW_VIRTUAL, 50});
	add_run(&b, 1, 700, 100, (struct st_blow_noise){ST_BLOW_VIRTUAL, 100});
	add_run(&b, 1, 800, 100, (struct st_blow_noise){ST_BLOW_VIRTUAL, 25});
	assert_true(st_blow_best(&b, NULL, &best, &indicator));
	assert_int_equal(best.function, 1);
	assert_int_equal(best.noise.type, ST_BLOW_VIRTUAL);
	assert_int_equal(best.noise.strength, 100);
	assert_float_equal(indicator, 0.3, 1e-12);
	st_blow_free(&b);
}

static void
waits_are_known_by_name(void **state)
{
	const char *const waits[] = {
	        "pthread_mutex_lock",   "__pthread_mutex_lock", "pthread_cond_wait@@GLIBC_2.3.2",
	        "pthread_barrier_wait", "pthread_join",         "sem_wait",
	        "pthread_rwlock_wrlock"};
	const char *const others[] = {"pthread_mutex_unlock",
	                              "pthread_mutex_trylock",
	                              "pthread_cond_signal",
	                              "sem_post",
	                              "main",
	                              "wait_for_it",
	                              "clock_gettime"};
	(void)state;
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		assert_true(st_blow_is_wait(waits[i]));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(st_blow_is_wait(others[i]));
}

/* ---- lines ---- */

static const char *const lines[] = {"timeline calls 4 250 1 0\n",
                                    "timeline name 0\t/bin/x\tf(int, int)\n",
                                    "timeline name 1\t/bin/x\tg\n",
                                    "timeline name 2\t/lib/c\tpthread_join\n",
                                    "timeline thread 4711\n",
                                    "timeline slice 0 0 0 0 1000 1\n",
                                    "timeline slice 0 0 4294967295 2000 2250 2\n",
                                    "timeline slice 0 1 2 100 900 1\n",
                                    "timeline thread 4712\n",
                                    "timeline slice 1 0 1 500 1500 1\n"};

static void
read_lines(struct st_blow *b)
{
	b->timeline = calloc(1, sizeof *b->timeline);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		assert_true(st_blow_is_timeline_line(lines[i]));
		assert_int_equal(st_blow_read_timeline_line(b, b->timeline, lines[i]), 0);
	}
}

static void
check_timeline(const struct st_blow_timeline *t)
{
	assert_int_equal(t->calls, 4);
	assert_int_equal(t->width_ns, 250);
	assert_int_equal(t->too_deep, 1);
	assert_int_equal(t->lost, 0);
	assert_int_equal(t->threads.n, 2);
	assert_int_equal(t->threads.v[1], 4712);
	assert_int_equal(t->slices.n, 4);
	assert_int_equal(t->slices.v[1].function, ST_LANE_SEVERAL);
	assert_int_equal(t->slices.v[1].calls, 2);
	const struct st_blow_slice *s = &t->slices.v[3];
	assert_int_equal(s->thread, 1);
	assert_int_equal(s->begin_ns, 500);
	assert_int_equal(s->end_ns, 1500);
	assert_string_equal(t->functions.v[s->function].name, "g");
	assert_int_equal(t->functions.v[s->function].kind, ST_BLOW_BLOWN);
	s = &t->slices.v[2];
	assert_int_equal(s->level, 1);
	assert_int_equal(t->functions.v[s->function].kind, ST_BLOW_WAITS);
	assert_string_equal(t->functions.v[s->function].image, "/lib/c");
	assert_string_equal(t->functions.v[t->slices.v[0].function].name, "f(int, int)");
}

static void
lines_are_read(void **state)
{
	struct st_blow b = {0};
	(void)state;
	read_lines(&b);
	check_timeline(b.timeline);
	st_blow_free(&b);
	assert_false(st_blow_is_timeline_line("run 0 0"));
}

static void
damaged_lines_are_refused(void **state)
{
	const char *const bad[] = {"timeline slice 2 0 0 0 1 1\n", /* there is no such thread */
	                           "timeline slice 0 0 9 0 1 1\n", /* nor such a function */
	                           "timeline slice 0 0 0 5 1 1\n", /* it ends before it begins */
	                           "timeline slice 0 0 0 5\n",     "timeline name 3\tx\ty\n",
	                           "timeline name 0\tx\n",         "timeline name \n",
	                           "timeline calls 1\n",           "timeline x\n"};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct st_blow b = {0};
		read_lines(&b);
		assert_int_not_equal(st_blow_read_timeline_line(&b, b.timeline, bad[i]), 0);
		st_blow_free(&b);
	}
}

/* ---- tables ---- */

/* The campaign as the profile has it, which the caller frees after it. */
static struct st_profile *
put_and_read(const struct st_blow *b, struct st_blow *again)
{
	struct st_profile *p = st_profile_new();
	struct st_error e;
	p->run.tool = ST_BLOW_TOOL;
	st_profile_add_tool(p, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(b, p), 0);
	assert_int_equal(st_blow_read(again, p, &e), 0);
	return p;
}

static void
a_profile_keeps_the_timeline(void **state)
{
	struct st_blow b = two_functions(), again;
	(void)state;
	read_lines(&b);
	b.timeline->function = 1;
	b.timeline->noise = (struct st_blow_noise){ST_BLOW_NANOSLEEP, 42};
	b.timeline->indicator = 0.1;
	b.timeline->fault = ST_BLOW_SLOW;
	b.timeline->total_ns = 12345;
	struct st_profile *p = put_and_read(&b, &again);
	check_timeline(again.timeline);
	assert_int_equal(again.timeline->function, 1);
	assert_int_equal(again.timeline->noise.type, ST_BLOW_NANOSLEEP);
	assert_int_equal(again.timeline->noise.strength, 42);
	assert_true(again.timeline->indicator == 0.1);
	assert_int_equal(again.timeline->fault, ST_BLOW_SLOW);
	assert_int_equal(again.timeline->total_ns, 12345);
	st_blow_free(&again);
	st_blow_free(&b);
	st_profile_free(p);
}

static void
a_profile_without_a_timeline_has_none(void **state)
{
	struct st_blow b = two_functions(), again;
	(void)state;
	struct st_profile *p = put_and_read(&b, &again);
	assert_null(again.timeline);
	st_blow_free(&again);
	st_blow_free(&b);
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_highest_influence_is_chosen),
	        cmocka_unit_test(the_greatest_gain_is_chosen),
	        cmocka_unit_test(waits_are_known_by_name),
	        cmocka_unit_test(lines_are_read),
	        cmocka_unit_test(damaged_lines_are_refused),
	        cmocka_unit_test(a_profile_keeps_the_timeline),
	        cmocka_unit_test(a_profile_without_a_timeline_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
