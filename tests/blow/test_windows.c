/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experiments in windows of one process: counts of probes with invented values, and windows in
 * which the work varies, so that each result is known exactly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "blow/campaign.h"
#include "blow/live.h"
#include "blow/live_counts.h"
#include "blow/pick.h"
#include "blow/progress.h"
#include "profile/profile.h"

enum { F, POINT, FUNCTIONS };

static struct st_blow
windows_of(void)
{
	static const char *const names[] = {"f", "point"};
	struct st_blow b = {.live = true, .cut = true};
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct st_blow_function *f = ST_PUSH(&b.functions);
		*f = (struct st_blow_function){.name = names[i],
		                               .raw_name = names[i],
		                               .image = "/bin/p",
		                               .offset = 0x1000 + i,
		                               .calls = 100,
		                               .ns = 100000000,
		                               .chosen = i == F,
		                               .progress = i == POINT ? ST_BLOW_CALLS
		                                                      : ST_BLOW_NO_POINT};
	}
	return b;
}

static void
put_sample(struct st_blow_run *r, uint32_t function, uint64_t calls, uint64_t ns)
{
	struct st_blow_sample *s = ST_PUSH(&r->samples);
	assert_non_null(s);
	*s = (struct st_blow_sample){.function = function, .calls = calls, .ns = ns};
	st_blow_sort_samples(r);
}

/* A window in which the point was called `work` times; each call takes `each` ns, of which `in` are
 * in the function. */
static void
add_window(struct st_blow *b, uint32_t function, uint64_t work, uint64_t each, uint64_t in)
{
	struct st_blow_run *r = ST_PUSH(&b->runs);
	assert_non_null(r);
	*r = (struct st_blow_run){
	        .function = function, .noise = {ST_BLOW_NANOSLEEP, 1}, .total_ns = work * each};
	put_sample(r, F, 2 * work, work * in);
	put_sample(r, POINT, work, work * each);
}

/* A quarter of the time of a call is in the function, whatever the window's length: 4 us, and with
 * noise 3 + F. */
static void
test_slope(void **state)
{
	struct st_blow b = windows_of();
	struct st_blow_finding finding;
	(void)state;
	add_window(&b, ST_BLOW_NONE, 10, 4000, 1000);
	add_window(&b, ST_BLOW_NONE, 25, 4004, 1001);
	add_window(&b, F, 7, 5000, 2000);
	add_window(&b, ST_BLOW_NONE, 40, 3996, 999);
	add_window(&b, F, 3, 9000, 6000);
	add_window(&b, ST_BLOW_NONE, 0, 4000, 1000); /* no call: it says nothing */
	assert_int_equal(st_blow_find(&b, F, &finding), 0);
	assert_int_equal(finding.slope.state, ST_BLOW_MEASURED);
	assert_int_equal(finding.slope.runs_before, 3);
	assert_int_equal(finding.experiments, 2);
	assert_true(fabs(finding.slope.at - 0.25) < 1e-6);
	assert_true(finding.slope.low <= 0.25 && finding.slope.high >= 0.25);
	assert_true(fabs(finding.share - 0.25) < 1e-6);
	assert_true(fabs(finding.calls - 50) < 1e-9);
	assert_true(fabs(finding.mean_ns - 500) < 1);
	st_blow_free(&b);
}

/* Without a progress point, nothing can be measured. */
static void
test_no_point(void **state)
{
	struct st_blow b = windows_of();
	struct st_blow_finding finding;
	(void)state;
	b.functions.v[POINT].progress = ST_BLOW_NO_POINT;
	for (int i = 0; i < 4; i++)
		add_window(&b, ST_BLOW_NONE, 10, 4000, 1000);
	add_window(&b, F, 7, 5000, 2000);
	assert_int_equal(st_blow_points(&b), 0);
	assert_int_equal(st_blow_find(&b, F, &finding), 0);
	assert_int_equal(finding.slope.state, ST_BLOW_TOO_FEW);
	st_blow_free(&b);
}

static void
test_control(void **state)
{
	struct st_blow b = windows_of();
	struct st_blow_gain g;
	(void)state;
	add_window(&b, ST_BLOW_NONE, 10, 4000, 1000);
	assert_int_equal(st_blow_find_control(&b, POINT, &g), 0);
	assert_true(isnan(g.at));
	for (int i = 0; i < 5; i++) {
		add_window(&b, ST_BLOW_NONE, 10 + (uint64_t)i, i % 2 ? 4100 : 3900, 1000);
		add_window(&b, F, 10, 8000, 5000); /* does not count */
	}
	/* 4000, 4100, 4100 against 3900, 3900, 3900. */
	assert_int_equal(st_blow_find_control(&b, POINT, &g), 0);
	assert_int_equal(g.runs, 3);
	assert_true(fabs(g.at - (1 - 3900 / ((4000 + 4100 + 4100) / 3.0))) < 1e-9);
	assert_true(g.low < g.at && g.at < g.high);
	st_blow_free(&b);
}

/* A profile keeps that runs are windows. */
static void
test_profile(void **state)
{
	struct st_blow b = windows_of(), copy;
	struct st_profile *p = st_profile_new();
	struct st_error e;
	(void)state;
	add_window(&b, ST_BLOW_NONE, 10, 4000, 1000);
	st_profile_add_tool(p, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(&b, p), 0);
	assert_int_equal(st_blow_read(&copy, p, &e), 0);
	assert_true(copy.live && copy.cut && !copy.causal);
	assert_true(copy.functions.v[POINT].progress);
	st_blow_free(&copy);
	st_blow_free(&b);
	st_profile_free(p);
}

/* ---- the choice of noise ---- */

static void
test_longest(void **state)
{
	struct st_blow b = windows_of();
	struct st_blow_choice choice = {.timed = {1000, 1000000}, .growth = 2};
	struct st_blow_noises database = {0};
	struct st_blow_tries tries;
	(void)state;
	choice.types[ST_BLOW_NANOSLEEP] = true;
	assert_int_equal(st_blow_database(&choice, &database), 0);
	struct st_blow_plan plan = {.b = &b,
	                            .database = &database,
	                            .run_ns = 1e9,
	                            .most_slower = 2,
	                            .longest_ns = 10e6,
	                            .repeat = 3};
	/* 100 calls allow 20 ms each, and the window 10 ms: 1, 2, 4 and 8 ms. */
	assert_int_equal(st_blow_tries_begin(&tries, &plan), 0);
	assert_int_equal(tries.list.n, 1);
	assert_int_equal(tries.left, 3 * 4);
	assert_int_equal(tries.list.v[0].noises.list.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(tries.list.v[0].noises.list.v[i].strength, 1000000 << i);
	st_blow_tries_free(&tries);
	/* Each of them is tried as often. */
	size_t tried[4] = {0};
	assert_int_equal(st_blow_tries_begin(&tries, &plan), 0);
	bool left = true;
	for (;;) {
		struct st_blow_run next = {0};
		assert_int_equal(st_blow_tries_next(&tries, &next, &left), 0);
		if (!left)
			break;
		assert_int_equal(next.function, F);
		tried[__builtin_ctzll(next.noise.strength / 1000000)]++;
	}
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(tried[i], 3);
	st_blow_tries_free(&tries);
	/* Many repetitions take no more memory. */
	plan.repeat = 1000000;
	assert_int_equal(st_blow_tries_begin(&tries, &plan), 0);
	assert_int_equal(tries.list.v[0].noises.list.n, 4);
	assert_int_equal(tries.left, 4000000);
	st_blow_tries_free(&tries);
	plan.longest_ns = 0; /* 1, 2, 4, 8 and 16 ms */
	plan.repeat = 1;
	assert_int_equal(st_blow_tries_begin(&tries, &plan), 0);
	assert_int_equal(tries.left, 5);
	st_blow_tries_free(&tries);
	free(database.list.v);
	st_blow_free(&b);
}

/* ---- counts ---- */

/* Two probes of f, whose file is mapped twice, and one of the point; the second thread is new. */
static void
test_counts(void **state)
{
	struct st_blow b = windows_of();
	struct st_blow_kept kept = {0};
	static const struct st_blow_kept_probe probes[] = {{4, F, 4}, {9, F, 9}, {7, POINT, 7}};
	struct st_blow_count before[] = {{10, 1000, 1, 50}, {1, 100, 0, 0}, {20, 5000, 0, 0}},
	                     after[] = {{15, 3000, 4, 350}, {3, 90, 0, 0},  {24, 9000, 0, 0},
	                                {0, 0, 0, 0},       {2, 500, 2, 8}, {1, -7, 0, 0}};
	struct st_blow_run run = {.function = F};
	(void)state;
	for (size_t i = 0; i < 3; i++)
		*ST_PUSH(&kept.list) = probes[i];
	const struct st_blow_counts from = {.v = before, .threads = 1},
	                            to = {.v = after, .threads = 2};
	/* A tick is half a nanosecond; what would be less than nothing is nothing. */
	assert_int_equal(st_blow_count_samples(&from, &to, &kept, &b, 2e9, &run), 0);
	static const struct st_blow_sample expected[] = {{F, 0, 7, 1000, 3, 150},
	                                                 {F, 1, 2, 250, 2, 4},
	                                                 {POINT, 0, 4, 2000, 0, 0},
	                                                 {POINT, 1, 1, 0, 0, 0}};
	assert_int_equal(run.samples.n, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct st_blow_sample *s = &run.samples.v[i], *x = &expected[i];
		assert_int_equal(s->function, x->function);
		assert_int_equal(s->thread, x->thread);
		assert_int_equal(s->calls, x->calls);
		assert_int_equal(s->ns, x->ns);
		assert_int_equal(s->noises, x->noises);
		assert_int_equal(s->noise_ns, x->noise_ns);
	}
	st_blow_run_clear(&run);
	/* Of a speed-up of another function, only the point is kept; without one, all are. */
	run = (struct st_blow_run){.function = 77};
	assert_int_equal(st_blow_count_samples(&from, &to, &kept, &b, 2e9, &run), 0);
	assert_int_equal(run.samples.n, 2);
	st_blow_run_clear(&run);
	run = (struct st_blow_run){.function = ST_BLOW_NONE};
	assert_int_equal(st_blow_count_samples(&from, &to, &kept, &b, 2e9, &run), 0);
	assert_int_equal(run.samples.n, 4);
	st_blow_run_clear(&run);
	st_blow_keep_free(&kept);
	st_blow_free(&b);
}

/* ---- a program that is started ---- */

static void
test_program(void **state)
{
	char *const missing[] = {"/nowhere/program", NULL}, *const sleeps[] = {"sleep", "1000",
	                                                                       NULL};
	struct st_error e = {0};
	(void)state;
	assert_int_equal(st_blow_live_start(missing, "/dev/null", &e), -1);
	assert_non_null(strstr(e.text, "/nowhere/program"));
	assert_int_equal(st_blow_live_start(sleeps, "/nowhere/input", &e), -1);
	assert_non_null(strstr(e.text, "/nowhere/input"));
	const pid_t pid = st_blow_live_start(sleeps, "/dev/null", &e);
	assert_true(pid > 0);
	assert_int_equal(getpgid(pid), pid);
	st_blow_live_stop(pid);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_slope),   cmocka_unit_test(test_no_point),
	        cmocka_unit_test(test_control), cmocka_unit_test(test_profile),
	        cmocka_unit_test(test_longest), cmocka_unit_test(test_counts),
	        cmocka_unit_test(test_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
