/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of the noise by the information that is expected from it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "blow/campaign.h"
#include "blow/pick.h"

enum { CALLS = 2, EXPERIMENTS = 6 };
static const double base_ns = 1e8, function_ns = 4e7;

static bool
is_near(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

/* By hand: x = 4 is 2 from the mean of six points, whose squares sum up to 10. */
static void
test_by_hand(void **state)
{
	struct st_blow_finding f = {
	        .mean_ns = 1000, .points = 6, .x_mean = 2, .x_squares = 10, .slope = {.at = 0.5}};
	(void)state;
	const double nats = log(1 + 4 * 6 / 7.0 / 10) / 2;
	assert_true(is_near(st_blow_information(&f, 3000, true), nats));
	assert_true(is_near(st_blow_information(&f, 3000, false), nats / 2.5));
	/* A run that does not depend on the function takes no longer with more noise. */
	f.slope.at = -0.01;
	assert_true(is_near(st_blow_information(&f, 3000, false), nats));
	f.slope.state = ST_BLOW_NOISE_LOST;
	assert_true(isinf(st_blow_information(&f, 3000, false)));
	f.slope.state = ST_BLOW_MEASURED;
	f.x_squares = 0;
	assert_true(isinf(st_blow_information(&f, 3000, false)));
}

/* ---- a campaign ---- */

static st_status
select_function(void *arg, struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	(void)arg;
	(void)e;
	struct st_blow_function *f = ST_PUSH(&b->functions);
	*f = (struct st_blow_function){.name = "f",
	                               .raw_name = "f",
	                               .image = "i",
	                               .calls = CALLS,
	                               .ns = (uint64_t)function_ns};
	*run = (struct st_blow_run){.function = ST_BLOW_NONE};
	return ST_OK;
}

static st_status
run_with_noise(void *arg, const struct st_blow *b, struct st_blow_run *run, struct st_error *e)
{
	const double slope = *(const double *)arg;
	const bool quiet = run->function == ST_BLOW_NONE;
	const double added = quiet ? 0 : CALLS * (double)st_blow_noise_ns(run->noise),
	             /* Deterministic differences of the machine. */
	        machine = 1 + 1e-3 * (double)(b->runs.n % 3);
	(void)e;
	run->total_ns = (uint64_t)(machine * base_ns * (1 + slope * added / function_ns));
	struct st_blow_sample *s = ST_PUSH(&run->samples);
	*s = (struct st_blow_sample){.calls = CALLS,
	                             .ns = (uint64_t)(machine * (function_ns + added)),
	                             .noises = quiet ? 0 : CALLS,
	                             .noise_ns = (uint64_t)added};
	return ST_OK;
}

static void
run_campaign(double *slope, enum st_blow_pick pick, struct st_blow *b)
{
	const struct st_blow_options o = {
	        .criteria = {.which = 1 << ST_BLOW_BY_CRITERION_CALLS, .calls = 2},
	        .noise = {.types = {true}, .timed = {500, 60000}, .growth = 1.5},
	        .pick = pick,
	        .quiet_runs = 5,
	        .most_runs = EXPERIMENTS,
	        .most_slower = 2,
	        .seed = 7,
	        .select = select_function,
	        .run = run_with_noise,
	        .arg = slope};
	struct st_error e;
	enum st_blow_end end;
	*b = (struct st_blow){0};
	struct st_blow_campaign *c = st_blow_open(&o, b, &e);
	assert_non_null(c);
	assert_int_equal(st_blow_run(c, &end, &e), ST_OK);
	st_blow_close(c);
}

static bool
was_tried(const struct st_blow *b, size_t before, uint64_t ns)
{
	for (size_t i = 0; i < before; i++)
		if (b->runs.v[i].function == 0 && st_blow_noise_ns(b->runs.v[i].noise) == ns)
			return true;
	return false;
}

/* The experiment had the noise with the most information, given the runs before it. */
static void
assert_best(struct st_blow *b, size_t at)
{
	struct st_blow_finding f;
	const size_t all = b->runs.n;
	const double chosen_ns = (double)st_blow_noise_ns(b->runs.v[at].noise);
	b->runs.n = at;
	assert_int_equal(st_blow_find(b, 0, &f), ST_OK);
	b->runs.n = all;
	for (double us = 500; us <= 60000; us *= 1.5) {
		const uint64_t ns = (uint64_t)(us * 1000 + 0.5);
		if (!was_tried(b, at, ns))
			assert_true(st_blow_information(&f, (double)ns, false) <=
			            st_blow_information(&f, chosen_ns, false));
	}
}

/* The first noise is the longest one; where the run's time depends on the function, shorter ones
 * tell more for their time. */
static void
test_campaigns(void **state)
{
	double slopes[] = {0, 0.4, 1}, first = 0;
	(void)state;
	for (size_t k = 0; k < sizeof slopes / sizeof *slopes; k++) {
		struct st_blow b;
		size_t experiments = 0;
		run_campaign(&slopes[k], ST_BLOW_PICK_BEST, &b);
		for (size_t i = 0; i < b.runs.n; i++) {
			if (b.runs.v[i].function == ST_BLOW_NONE)
				continue;
			const double ns = (double)st_blow_noise_ns(b.runs.v[i].noise);
			first = experiments ? first : ns;
			assert_true(ns <= first);
			if (experiments++)
				assert_best(&b, i);
		}
		assert_int_equal(experiments, EXPERIMENTS);
		assert_true(first > 40e6 && first <= 60e6);
		st_blow_free(&b);
	}
}

/* The document's choice is left to chance. */
static void
test_at_random(void **state)
{
	double slope = 0.4;
	struct st_blow b;
	size_t not_best = 0;
	uint64_t last = UINT64_MAX;
	(void)state;
	run_campaign(&slope, ST_BLOW_PICK_WEIGHTED, &b);
	for (size_t i = 0; i < b.runs.n; i++) {
		if (b.runs.v[i].function == ST_BLOW_NONE)
			continue;
		const uint64_t ns = st_blow_noise_ns(b.runs.v[i].noise);
		not_best += ns > last;
		last = ns;
	}
	assert_true(not_best > 0);
	st_blow_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_by_hand),
	        cmocka_unit_test(test_campaigns),
	        cmocka_unit_test(test_at_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
