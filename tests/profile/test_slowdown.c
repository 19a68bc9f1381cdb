/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fake.h"
#include "profile/profile.h"

static const char *const no_counters[] = {NULL};

static void
time_in_the_runtime_is_not_native(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = {.processes = &process,
	                     .n_processes = 1,
	                     .cpu_user = 0.75,
	                     .cpu_system = 0.25,
	                     .tsc_hz = 2e9};
	fake_header(f)->stats[ST_STAT_runtime_ticks] =
	        995000000; /* half of the second, with 2.5 ms of start */
	fake_header(f)->stats[ST_STAT_insns] = 10000000;
	assert_float_equal(st_slowdown_estimate(&run), 2.0, 1e-9);
	/* Half a second for one instruction: the thread waited for a CPU. */
	fake_header(f)->stats[ST_STAT_insns] = 1;
	assert_true(st_slowdown_estimate(&run) < 1.01);
	fake_header(f)->stats[ST_STAT_runtime_ticks] = 0;
	assert_true(fabs(st_slowdown_estimate(&run) * (1 - 0.0025) - 1) < 1e-9);
	fake_free(f);
}

static void
counted_blocks_cost_something(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = {
	        .processes = &process, .n_processes = 1, .cpu_user = 0.1, .tsc_hz = 1e9};
	fake_header(f)->n_samples = 0; /* the model, not the samples */
	double few = st_slowdown_estimate(&run);
	fake_count(f, 0, 1, 10000000);
	double many = st_slowdown_estimate(&run);
	assert_true(few >= 1 && many > few);
	fake_free(f);
}

/* 80 samples in the program, 30 in system calls, 10 in the engine. */
static void
samples_say_it_better(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = {
	        .processes = &process, .n_processes = 1, .cpu_user = 0.1, .tsc_hz = 1e9};
	assert_float_equal(st_slowdown_estimate(&run), 120.0 / 110, 1e-9);
	fake_free(f);
}

/* A model that explains more than the whole run is wrong: the answer stays finite. */
static void
nonsense_stays_finite(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = {
	        .processes = &process, .n_processes = 1, .cpu_user = 0.1, .tsc_hz = 1e9};
	fake_header(f)->stats[ST_STAT_runtime_ticks] = UINT64_MAX;
	fake_header(f)->stats[ST_STAT_insns] = UINT64_MAX;
	assert_float_equal(st_slowdown_estimate(&run), 50, 1e-9);
	run.cpu_user = 0.006; /* nothing of it is left, but starting alone takes 0.6 ms */
	assert_true(fabs(st_slowdown_estimate(&run) - 10) < 1e-9);
	run.tsc_hz = 0;
	assert_float_equal(st_slowdown_estimate(&run), 1, 1e-9);
	run.tsc_hz = 1e9;
	run.cpu_user = 0;
	assert_float_equal(st_slowdown_estimate(&run), 1, 1e-9);
	process.results = NULL;
	run.cpu_user = 1;
	assert_float_equal(st_slowdown_estimate(&run), 1, 1e-9);
	fake_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(time_in_the_runtime_is_not_native),
	        cmocka_unit_test(counted_blocks_cost_something),
	        cmocka_unit_test(samples_say_it_better),
	        cmocka_unit_test(nonsense_stays_finite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
