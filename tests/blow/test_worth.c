/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which virtual speed-ups a campaign tries: those that decide most about the order of the
 * functions. The program is simulated: a function brings its share of the run time, and each run
 * differs by up to 2 %.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "blow/campaign.h"
#include "blow/pick.h"

/* Of the functions, two bring something. */
enum { FUNCTIONS = 6, GREAT = 1, SMALL = 4, RUN_NS = 100000000, SPEEDUPS = 4, REPEAT = 10 };

struct simulated {
	uint32_t endless; /* with this function at 100 %, the program does not end */
};

static double
share_of(uint32_t function)
{
	return function == GREAT ? 0.4 : function == SMALL ? 0.1 : 0;
}

static st_status
select_simulated(void *arg, struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	(void)arg;
	(void)e;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[16];
		struct st_blow_function *f = ST_PUSH(&b->functions);
		snprintf(name, sizeof name, "f%u", i);
		*f = (struct st_blow_function){.name = st_blow_text(b, name),
		                               .raw_name = st_blow_text(b, name),
		                               .image = st_blow_text(b, "/bin/simulated"),
		                               .offset = 0x1000 + i,
		                               .calls = 2,
		                               .ns = RUN_NS};
	}
	*run = (struct st_blow_run){.function = ST_BLOW_NONE};
	return ST_OK;
}

static st_status
run_simulated(void *arg, const struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	const struct simulated *s = arg;
	(void)e;
	uint64_t random = b->runs.n;
	const double machine = 0.99 + (double)st_random_below(&random, 1001) * 2e-5,
	             saved = run->function == ST_BLOW_NONE
	                             ? 0
	                             : share_of(run->function) * (double)run->noise.strength / 100;
	run->total_ns = (uint64_t)(machine * RUN_NS);
	if (run->function == ST_BLOW_NONE)
		return ST_OK;
	if (run->function == s->endless && run->noise.strength == 100)
		run->fault = ST_BLOW_SLOW;
	struct st_blow_sample *sample = ST_PUSH(&run->samples);
	*sample = (struct st_blow_sample){.function = run->function,
	                                  .calls = 2,
	                                  .noise_ns = (uint64_t)(saved * machine * RUN_NS)};
	return ST_OK;
}

static struct st_blow
causal_campaign(struct simulated *s, size_t most_runs)
{
	struct st_blow_options o = {
	        .criteria = {.which = 1 << ST_BLOW_BY_CRITERION_CALLS, .calls = 2},
	        .noise = {.growth = 2, .repeat = REPEAT},
	        .quiet_runs = 5,
	        .most_slower = 2,
	        .most_runs = most_runs,
	        .seed = 1,
	        .select = select_simulated,
	        .run = run_simulated,
	        .arg = s};
	struct st_error e = {0};
	enum st_blow_end end;
	struct st_blow b = {0};
	o.noise.types[ST_BLOW_VIRTUAL] = o.how.causal = true;
	struct st_blow_campaign *c = st_blow_open(&o, &b, &e);
	if (!c || st_blow_run(c, &end, &e))
		fail_msg("%s", e.text);
	st_blow_close(c);
	return b;
}

/* The experiments with the function, with a speed-up (0: any). */
static size_t
experiments_of(const struct st_blow *b, uint32_t function, uint64_t percent)
{
	size_t n = 0;
	for (size_t i = 0; i < b->runs.n; i++)
		n += b->runs.v[i].function == function &&
		     (!percent || b->runs.v[i].noise.strength == percent);
	return n;
}

/* Each function is tried at 100 % first; then the one that brings most gets most experiments, and
 * one that brings nothing few. */
static void
test_allocation(void **state)
{
	enum { EXPERIMENTS = 60 };
	struct simulated s = {ST_BLOW_NONE};
	(void)state;
	struct st_blow b = causal_campaign(&s, EXPERIMENTS);
	bool seen[FUNCTIONS] = {false};
	size_t n = 0, most_null = 0;
	for (size_t i = 0; i < b.runs.n && n < FUNCTIONS; i++) {
		const struct st_blow_run *r = &b.runs.v[i];
		if (r->function == ST_BLOW_NONE)
			continue;
		assert_false(seen[r->function]);
		assert_int_equal(r->noise.strength, 100);
		seen[r->function] = true;
		n++;
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		if (i != GREAT && i != SMALL && experiments_of(&b, i, 0) > most_null)
			most_null = experiments_of(&b, i, 0);
	assert_true(experiments_of(&b, GREAT, 0) > 2 * most_null);
	assert_true(experiments_of(&b, SMALL, 0) > most_null);
	for (uint64_t percent = 25; percent <= 100; percent += 25)
		assert_true(experiments_of(&b, GREAT, percent) >= 2);
	st_blow_free(&b);
}

/* Without a limit, each speed-up of each function is tried --repeat times. */
static void
test_completeness(void **state)
{
	struct simulated s = {ST_BLOW_NONE};
	(void)state;
	struct st_blow b = causal_campaign(&s, 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		for (uint64_t percent = 25; percent <= 100; percent += 25)
			assert_int_equal(experiments_of(&b, i, percent), REPEAT);
	st_blow_free(&b);
}

/* A speed-up that only has faults comes last: each of its experiments takes the limit of a run. */
static void
test_faults_come_last(void **state)
{
	struct simulated s = {GREAT};
	(void)state;
	struct st_blow b = causal_campaign(&s, FUNCTIONS * SPEEDUPS * REPEAT - REPEAT);
	assert_int_equal(experiments_of(&b, GREAT, 100), 1);
	assert_int_equal(experiments_of(&b, GREAT, 50), REPEAT);
	st_blow_free(&b);
}

static void
assert_worth(double worth, double wanted)
{
	if (!(fabs(worth - wanted) < 1e-12))
		fail_msg("%g, wanted %g", worth, wanted);
}

static void
test_worths(void **state)
{
	static const struct st_blow_tried_gain tried[] = {
	        {25, {3, 0.05, 0.01, 0.09, false}},
	        {50, {0, NAN, NAN, NAN, false}},
	        {100, {3, 0.3, 0.1, 0.5, false}},
	};
	static const struct st_blow_tried_gain null = {100, {3, -0.2, -0.3, -0.1, false}};
	(void)state;
	/* The width times the upper bound. */
	assert_worth(st_blow_speedup_worth(tried, 3, 25), 0.08 * 0.09);
	assert_worth(st_blow_speedup_worth(tried, 3, 100), 0.4 * 0.5);
	assert_worth(st_blow_speedup_worth(tried, 3, 50), 0);
	/* Not tried: the bound of the next greater one. */
	assert_worth(st_blow_speedup_worth(tried, 3, 75), 0.5 * 0.5);
	assert_true(isinf(st_blow_speedup_worth(tried, 1, 75)));
	assert_true(isinf(st_blow_speedup_worth(NULL, 0, 100)));
	/* Below 0 nothing can be gained, also by a smaller speed-up. */
	assert_worth(st_blow_speedup_worth(&null, 1, 100), 0);
	assert_worth(st_blow_speedup_worth(&null, 1, 25), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_allocation),
	        cmocka_unit_test(test_completeness),
	        cmocka_unit_test(test_faults_come_last),
	        cmocka_unit_test(test_worths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
