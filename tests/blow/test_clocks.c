/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On-CPU and waiting time from known runs: blow/clocks.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "blow/clocks.h"
#include "profile/profile.h"

static bool
is_about(double a, double b)
{
	return fabs(a - b) < 1e-9 * fmax(1, fabs(b));
}

/* A run that measures the two functions; open: of the first one. */
static void
add_clock_run(struct st_blow *b, uint64_t ns, uint64_t cpu_ns, bool open, bool fails)
{
	struct st_blow_run run = {.function = ST_BLOW_NONE,
	                          .fault = fails ? ST_BLOW_CRASH : ST_BLOW_NO_FAULT};
	struct st_blow_sample *s = st_blow_sample_of(&run, 0, 0);
	s->ns = ns;
	s->noise_ns = cpu_ns;
	s->noises = open;
	assert_int_equal(st_blow_clocks_add(b, &run), ST_OK);
	st_blow_run_clear(&run);
}

static void
test_share(void **state)
{
	struct st_blow b = {0};
	(void)state;
	assert_int_equal(st_blow_waiting_of(&b, 0).runs, 0);
	assert_true(isnan(st_blow_waiting_of(&b, 0).share));
	add_clock_run(&b, 1000, 250, false, false);
	struct st_blow_waiting w = st_blow_waiting_of(&b, 0);
	assert_true(w.runs == 1 && is_about(w.share, 0.75) && isnan(w.low) && isnan(w.high));
	add_clock_run(&b, 99, 1, false, true); /* a run with a fault is not part of it */
	add_clock_run(&b, 2000, 700, false, false);
	add_clock_run(&b, 1000, 300, false, false);
	w = st_blow_waiting_of(&b, 0);
	assert_int_equal(b.clock_runs, 4);
	assert_int_equal(w.runs, 3);
	/* Shares 0.75, 0.65 and 0.7: standard deviation 0.05, Student's t with two degrees of
	 * freedom 4.30265. */
	assert_true(is_about(w.share, 0.7));
	assert_true(fabs(w.high - w.share - 4.30265 * 0.05 / sqrt(3)) < 1e-6);
	assert_true(is_about(w.wait_ns, (750 + 1300 + 700) / 3.0));
	assert_true(is_about(w.cpu_ns, (250 + 700 + 300) / 3.0));
	assert_int_equal(st_blow_waiting_of(&b, 1).runs, 0);
	st_blow_free(&b);
}

/* A share is never beyond 0 and 1, and clocks that differ a little make no negative time. */
static void
test_bounds(void **state)
{
	struct st_blow b = {0};
	(void)state;
	add_clock_run(&b, 1000, 1001, false, false);
	add_clock_run(&b, 1000, 900, false, false);
	const struct st_blow_waiting w = st_blow_waiting_of(&b, 0);
	assert_true(is_about(w.share, 0.05));
	assert_true(w.low == 0 && w.high <= 1 && w.high > 0.5);
	st_blow_free(&b);
}

/* A call that was open at the end makes the time unknown. */
static void
test_open(void **state)
{
	struct st_blow b = {0};
	(void)state;
	add_clock_run(&b, 1000, 500, false, false);
	add_clock_run(&b, 1000, 500, true, false);
	const struct st_blow_waiting w = st_blow_waiting_of(&b, 0);
	assert_true(w.open && !w.runs && isnan(w.share) && isnan(w.cpu_ns));
	st_blow_free(&b);
}

static void
test_parts_of_slope(void **state)
{
	const struct st_blow_slope slope = {ST_BLOW_MEASURED, 0.8, 0.7, 0.9, 5, 5},
	                           lost = {ST_BLOW_NOISE_LOST, NAN, NAN, NAN, 5, 5};
	const struct st_blow_waiting w = {3, false, 250, 750, 0.75, 0.71, 0.79};
	(void)state;
	const struct st_blow_slope cpu = st_blow_slope_part(&slope, &w, true),
	                           waits = st_blow_slope_part(&slope, &w, false);
	assert_true(is_about(cpu.at, 0.2) && is_about(waits.at, 0.6));
	assert_true(is_about(cpu.high - cpu.at, hypot(0.25 * 0.1, 0.8 * 0.04)));
	assert_true(is_about(waits.at - waits.low, hypot(0.75 * 0.1, 0.8 * 0.04)));
	assert_int_equal(st_blow_slope_part(&lost, &w, true).state, ST_BLOW_NOISE_LOST);
}

static void
add_experiment(struct st_blow *b, uint32_t function, uint64_t ns, uint64_t total, uint64_t cpu)
{
	struct st_blow_run *run = ST_PUSH(&b->runs);
	*run = (struct st_blow_run){.function = function, .total_ns = total, .cpu_ns = cpu};
	st_blow_sample_of(run, 0, 0)->ns = ns;
}

/* The function has 200 of 1000; noise of 100 and 200 adds a quarter of that as CPU time. */
static void
test_effects(void **state)
{
	struct st_blow b = {0};
	struct st_blow_effects e;
	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		add_experiment(&b, ST_BLOW_NONE, 200 + i % 2, 1000 + i % 2, 400);
	add_experiment(&b, 0, 300, 1100, 425);
	add_experiment(&b, 0, 400, 1200, 450);
	assert_int_equal(st_blow_find_effects(&b, 0, &e), ST_OK);
	assert_int_equal(e.cpu.state, ST_BLOW_MEASURED);
	assert_true(fabs(e.cpu.at - 0.05) < 0.001);
	assert_true(fabs(e.waiting.at - 0.15) < 0.001);
	struct st_blow_finding f;
	assert_int_equal(st_blow_find(&b, 0, &f), ST_OK);
	assert_true(is_about(e.cpu.at + e.waiting.at, f.slope.at));
	st_blow_free(&b);
}

/* ---- campaigns ---- */

struct clock_calls {
	int quiet, clocks;
};

static st_status
select_nothing(void *arg, struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	(void)arg, (void)run, (void)e;
	*ST_PUSH(&b->functions) =
	        (struct st_blow_function){.name = "f", .raw_name = "f", .image = "a", .offset = 1};
	return ST_OK;
}

static st_status
run_without_noise(void *arg, const struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	(void)b, (void)e;
	run->total_ns = 1000;
	((struct clock_calls *)arg)->quiet++;
	return ST_OK;
}

static st_status
run_with_clocks(void *arg, struct st_blow_run *run, struct st_error *e)
{
	(void)e;
	((struct clock_calls *)arg)->clocks++;
	run->total_ns = 1000;
	struct st_blow_sample *s = st_blow_sample_of(run, 0, 0);
	s->ns = 800;
	s->noise_ns = 200;
	return ST_OK;
}

/* A resumed campaign makes none of these runs again, and a profile keeps them. */
static void
test_kept(void **state)
{
	char journal[] = "/tmp/strobe-clocks-XXXXXX";
	struct clock_calls calls = {0};
	const struct st_blow_options o = {.quiet_runs = 3,
	                                  .clock_runs = 2,
	                                  .journal = journal,
	                                  .identity = "test",
	                                  .select = select_nothing,
	                                  .run = run_without_noise,
	                                  .run_clocks = run_with_clocks,
	                                  .arg = &calls};
	struct st_profile *p = st_profile_new();
	struct st_blow b, back;
	struct st_error e;
	enum st_blow_end end;
	(void)state;
	const int fd = mkstemp(journal);
	assert_true(fd >= 0);
	close(fd);
	for (int i = 0; i < 2; i++) {
		b = (struct st_blow){0};
		struct st_blow_campaign *c = st_blow_open(&o, &b, &e);
		assert_non_null(c);
		assert_int_equal(st_blow_run(c, &end, &e), ST_OK);
		st_blow_close(c);
		assert_int_equal(calls.clocks, 2);
		assert_int_equal(st_blow_waiting_of(&b, 0).runs, 2);
		if (!i)
			st_blow_free(&b);
	}
	unlink(journal);
	p->run.tool = ST_BLOW_TOOL;
	st_profile_add_tool(p, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(&b, p), ST_OK);
	assert_int_equal(st_blow_read(&back, p, &e), ST_OK);
	assert_int_equal(back.clock_runs, 2);
	assert_true(is_about(st_blow_waiting_of(&back, 0).share, 0.75));
	st_blow_free(&b);
	st_blow_free(&back);
	st_profile_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_share),   cmocka_unit_test(test_bounds),
	        cmocka_unit_test(test_open),    cmocka_unit_test(test_parts_of_slope),
	        cmocka_unit_test(test_effects), cmocka_unit_test(test_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
