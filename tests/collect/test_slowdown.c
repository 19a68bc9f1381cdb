/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collect/slowdown.h"
#include "fake.h"

static const char *const no_counters[] = {NULL};

static void
assert_near(double is, double wanted, double by)
{
	assert_true(is >= wanted - by && is <= wanted + by);
}

static double
about(const struct st_run *run, size_t rows)
{
	struct st_slowdown is = st_slowdown_estimate(run, rows);
	assert_true(is.least > 0 && is.least <= is.about && is.about <= is.most);
	return is.about;
}

static void
assert_unknown(const struct st_run *run)
{
	struct st_slowdown is = st_slowdown_estimate(run, 0);
	assert_true(is.least == 0 && is.about == 0 && is.most == 0);
}

static struct st_run
run_of(struct st_process *process, double cpu)
{
	return (struct st_run){
	        .processes = process, .n_processes = 1, .cpu_user = cpu, .tsc_hz = 1e9};
}

static void
add_samples(struct fake *f, unsigned n, uint8_t where, uint8_t end, uint8_t insns)
{
	struct st_results_header *h = fake_header(f);
	uint64_t first = h->samples.n;
	fake_samples(f, 0, where, n);
	struct st_sample *samples = (struct st_sample *)((char *)h + h->layout.off_samples);
	for (uint64_t i = first; i < h->samples.n; i++) {
		samples[i].end = end;
		samples[i].insns = insns;
	}
}

/* Start and translation are known without samples. */
static void
short_runs_are_translation(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = run_of(&process, 0.083);
	fake_header(f)->stats[ST_STAT_insns] = 75000; /* 30 ms, and 3 ms of start */
	assert_near(about(&run, 0), 0.083 / 0.05, 1e-6);
	run.cpu_controller = 0.02;
	assert_near(about(&run, 0), 0.103 / 0.05, 1e-6);
	assert_true(about(&run, 10000) > 0.11 / 0.05);
	/* Of a run that is shorter still, nothing can be told. */
	run.cpu_user = 0.019;
	fake_header(f)->stats[ST_STAT_insns] = 7500;
	assert_unknown(&run);
	fake_free(f);
}

/* A budget's account says what measuring has cost. */
static void
budgets_say_it(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = run_of(&process, 1.103);
	fake_header(f)->stats[ST_STAT_insns] = 125000;
	fake_header(f)->plan.budget =
	        (struct st_budget_plan){.period_ns = 1, .ticks_per_second = 1000};
	fake_header(f)->budget.charged = 100 * ST_BUDGET_UNITS;
	assert_near(about(&run, 0), 1.103 / 1.0, 1e-6);
	struct st_slowdown is = st_slowdown_estimate(&run, 0);
	assert_near(is.least, 1.103 / (1.103 - 0.0015 - 0.075), 1e-6);
	assert_near(is.most, 1.103 / (1.103 - 0.006 - 0.175), 1e-6);
	/* In plain code, half of a second that was not measured: nobody charges what that costs. */
	fake_header(f)->budget.cpu_ns = 1100000000;
	fake_header(f)->budget.measured_ns = 100000000;
	fake_header(f)->budget.ticks[ST_TICK_PLAIN] = fake_header(f)->budget.ticks[ST_TICK_NATIVE] =
	        1;
	assert_near(about(&run, 0), 1.103 / 0.9, 1e-6);
	fake_free(f);
}

/* What is left would be nothing: cold code and system calls take their time natively, too. */
static void
native_time_has_a_floor(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = run_of(&process, 0.05);
	fake_header(f)->stats[ST_STAT_insns] = 200000;
	fake_header(f)->stats[ST_STAT_syscalls] = 300;
	assert_near(about(&run, 0), 0.05 / (0.007 + 0.0027), 1e-6);
	fake_free(f);
}

static void
blocks_cost_by_their_end_and_length(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = run_of(&process, 100);
	add_samples(f, 250, ST_SAMPLE_CODE, ST_END_JUMP, 10);
	assert_true(about(&run, 0) < 1.001); /* nothing is added to a jump */
	add_samples(f, 250, ST_SAMPLE_CODE, ST_END_RETURN, 20);
	double few = about(&run, 0);
	add_samples(f, 250, ST_SAMPLE_CODE, ST_END_RETURN, 2);
	double many = about(&run, 0);
	assert_true(few > 1.02 && many > few);
	add_samples(f, 250, ST_SAMPLE_RUNTIME, ST_END_NONE, 0);
	assert_true(about(&run, 0) > 1.4 * few);
	fake_free(f);
}

/* What tools have put into a block takes a share of its time by its number of instructions. */
static void
actions_cost_by_their_length(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = run_of(&process, 100);
	struct st_results_header *h = fake_header(f);
	struct st_sample *samples = (struct st_sample *)((char *)h + h->layout.off_samples);
	add_samples(f, 90, ST_SAMPLE_CODE, ST_END_JUMP, 10);
	add_samples(f, 10, ST_SAMPLE_CODE, ST_END_SYSCALL, 10);
	for (unsigned i = 90; i < 100; i++)
		samples[i].added = i < 95 ? 64 : 96; /* ten for each of the program's */
	assert_near(about(&run, 0), 1 / (1 - 0.1 * 1.4 / (1.4 + 0.124)), 0.001);
	/* Where they are most of the time, nothing can be told. */
	for (unsigned i = 0; i < 90; i++)
		samples[i].added = 80;
	assert_unknown(&run);
	fake_free(f);
}

/* Samples would put it higher; so few executions cannot have cost so much. */
static void
counts_bound_the_estimate(void **state)
{
	(void)state;
	struct fake *f = fixture_results();
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = run_of(&process, 1);
	fake_header(f)->samples.n = 0;
	add_samples(f, 100, ST_SAMPLE_CODE, ST_END_RETURN, 1);
	assert_true(about(&run, 0) < 1.01);
	fake_count(f, 0, ST_FIRST_ID, 60000000);
	assert_true(about(&run, 0) > 1.02);
	fake_count(f, 0, ST_FIRST_ID, 500000000);
	assert_unknown(&run);
	fake_free(f);
}

/* What ran natively was not slowed down. */
static void
native_execution_is_not_slower(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = run_of(&process, 10);
	add_samples(f, 60, ST_SAMPLE_CODE, ST_END_JUMP, 5);
	add_samples(f, 60, ST_SAMPLE_RUNTIME, ST_END_NONE, 0);
	assert_near(about(&run, 0), 2, 0.01);
	fake_header(f)->run.left_ns = 2000000000;
	assert_near(about(&run, 0), 10.0 / 9, 0.01);
	fake_free(f);
}

/* A model that explains more than the whole run is wrong: nothing is said. */
static void
nonsense_says_nothing(void **state)
{
	(void)state;
	struct fake *f = fake_new(no_counters);
	struct st_process process = fake_process(f, 1, 0, "x");
	struct st_run run = run_of(&process, 0.1);
	fake_header(f)->stats[ST_STAT_insns] = UINT64_MAX;
	assert_unknown(&run);
	fake_header(f)->stats[ST_STAT_insns] = 0;
	run.cpu_user = 1e-9;
	assert_unknown(&run);
	run.cpu_user = 1;
	run.tsc_hz = 0;
	assert_unknown(&run);
	run.tsc_hz = 1e9;
	run.cpu_user = 0;
	assert_unknown(&run);
	/* Of strobe mem, whose probes nothing times: it was 1. */
	run.cpu_user = 1;
	run.n_processes = 0;
	assert_unknown(&run);
	run.n_processes = 1;
	process.results = NULL;
	run.cpu_user = 1;
	assert_true(about(&run, 0) < 1.01);
	fake_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(short_runs_are_translation),
	        cmocka_unit_test(budgets_say_it),
	        cmocka_unit_test(native_time_has_a_floor),
	        cmocka_unit_test(blocks_cost_by_their_end_and_length),
	        cmocka_unit_test(actions_cost_by_their_length),
	        cmocka_unit_test(counts_bound_the_estimate),
	        cmocka_unit_test(native_execution_is_not_slower),
	        cmocka_unit_test(nonsense_says_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
