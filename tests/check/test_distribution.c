/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes of functions by repeated runs: by hand, and by simulations with a fixed seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "check/distribution.h"

enum { FUNCTIONS = 400, RUNS = 20 };

static void
assert_near(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9 * fmax(1, fabs(wanted))))
		fail_msg("%.15g instead of %.15g", is, wanted);
}

static struct st_distribution
compare_one(const double *from, size_t n_from, const double *to, size_t n_to, double whole,
            bool counts)
{
	const struct st_sample_pair pair = {from, to, n_from, n_to, whole, whole, counts};
	struct st_distribution d;
	assert_int_equal(st_distribution_compare(&pair, 1, &ST_DISTRIBUTION_USUAL, &d), ST_OK);
	return d;
}

static void
assert_kind(const struct st_distribution *d, enum st_finding_kind kind,
            enum st_distribution_evidence evidence)
{
	assert_string_equal(st_finding_name(d->kind), st_finding_name(kind));
	assert_int_equal(d->evidence, evidence);
}

static void
names(void **state)
{
	(void)state;
	for (int i = 0; i < ST_FINDING_COUNT; i++) {
		const enum st_finding_kind kind = (enum st_finding_kind)i;
		assert_int_equal(st_finding_direction(st_finding_mirror(kind)),
		                 -st_finding_direction(kind));
		assert_int_equal(st_finding_mirror(st_finding_mirror(kind)), kind);
	}
	assert_string_equal(st_finding_name(st_finding_mirror(ST_FINDING_NOT_IN_BASELINE)),
	                    "NotInTarget");
	assert_string_equal(st_finding_name(st_finding_mirror(ST_FINDING_MAYBE_DEGRADATION)),
	                    "MaybeOptimization");
	assert_string_equal(st_finding_name(st_finding_mirror(ST_FINDING_NO_CHANGE)), "NoChange");
	assert_true(st_finding_is_alarm(ST_FINDING_NOT_IN_BASELINE));
	assert_true(st_finding_is_alarm(ST_FINDING_DEGRADATION));
	assert_false(st_finding_is_alarm(ST_FINDING_MAYBE_DEGRADATION));
	assert_false(st_finding_is_alarm(ST_FINDING_UNKNOWN));
	assert_false(st_finding_is_alarm(ST_FINDING_SEVERE_OPTIMIZATION));
}

/* Of 252 divisions of ten values, two are as far apart. */
static void
five_and_five(void **state)
{
	static const double low[] = {100, 101, 102, 103, 104}, high[] = {150, 151, 152, 153, 155},
	                    above[] = {105, 106, 107, 108, 110};
	(void)state;
	struct st_distribution d = compare_one(low, 5, high, 5, 102, false);
	assert_kind(&d, ST_FINDING_SEVERE_DEGRADATION, ST_EVIDENCE_TEST);
	assert_near(d.p, 2 / 252.0);
	assert_near(d.q, d.p);
	assert_near(d.least_p, 2 / 252.0);
	assert_near(d.from, 102);
	assert_near(d.to, 152);
	assert_near(d.shift.at, 50);
	d = compare_one(high, 5, low, 5, 152, false);
	assert_kind(&d, ST_FINDING_SEVERE_OPTIMIZATION, ST_EVIDENCE_TEST);
	assert_near(d.shift.at, -50);
	d = compare_one(low, 5, above, 5, 102, false);
	assert_kind(&d, ST_FINDING_DEGRADATION, ST_EVIDENCE_TEST);
	/* 5 of 1000 do not matter; of 390, the interval (2 to 8) reaches the limit of 7.8. */
	d = compare_one(low, 5, above, 5, 1000, false);
	assert_kind(&d, ST_FINDING_NO_CHANGE, ST_EVIDENCE_TEST);
	d = compare_one(low, 5, above, 5, 390, false);
	assert_kind(&d, ST_FINDING_MAYBE_DEGRADATION, ST_EVIDENCE_TEST);
	d = compare_one(above, 5, low, 5, 390, false);
	assert_kind(&d, ST_FINDING_MAYBE_OPTIMIZATION, ST_EVIDENCE_TEST);
}

static void
too_few(void **state)
{
	static const double low[] = {1, 2, 3}, high[] = {10, 20, 30};
	(void)state;
	struct st_distribution d = compare_one(low, 3, high, 3, 2, false);
	assert_kind(&d, ST_FINDING_UNKNOWN, ST_EVIDENCE_FEW);
	assert_near(d.least_p, 0.1);
	assert_true(isnan(d.p) && isnan(d.q) && isnan(d.shift.low) && isnan(d.shift.high));
	assert_near(d.shift.at, 18);
	d = compare_one(low, 3, high, 0, 2, false);
	assert_kind(&d, ST_FINDING_UNKNOWN, ST_EVIDENCE_FEW);
	assert_true(isnan(d.to) && isnan(d.shift.at));
	d = compare_one(low, 0, high, 0, 2, false);
	assert_kind(&d, ST_FINDING_UNKNOWN, ST_EVIDENCE_FEW);
	d = compare_one(low, 1, low, 1, 2, false);
	assert_kind(&d, ST_FINDING_UNKNOWN, ST_EVIDENCE_FEW);
	assert_near(st_distribution_least_p(4, 4), 2 / 70.0);
	assert_near(st_distribution_least_p(1, 1), 1);
	assert_int_equal(st_distribution_runs_needed(1, 0.05), 4);
	assert_int_equal(st_distribution_runs_needed(400, 0.05), 9);
	assert_int_equal(st_distribution_runs_needed(1, 0.01), 5);
}

/* Equal counts need no test, even with one run; other counts are tested. */
static void
counts(void **state)
{
	static const double v[] = {1000, 1000, 1000, 1000}, more[] = {1100, 1100, 1100, 1100},
	                    other[] = {1000, 1000, 1000, 1001};
	(void)state;
	struct st_distribution d = compare_one(v, 1, more, 1, 1000, true);
	assert_kind(&d, ST_FINDING_SEVERE_DEGRADATION, ST_EVIDENCE_COUNT);
	assert_true(isnan(d.p));
	assert_near(d.shift.low, 100);
	d = compare_one(v, 4, more, 4, 2000, true);
	assert_kind(&d, ST_FINDING_DEGRADATION, ST_EVIDENCE_COUNT);
	d = compare_one(v, 4, more, 4, 10000, true);
	assert_kind(&d, ST_FINDING_NO_CHANGE, ST_EVIDENCE_COUNT);
	d = compare_one(v, 4, v, 4, 0, true);
	assert_kind(&d, ST_FINDING_NO_CHANGE, ST_EVIDENCE_COUNT);
	d = compare_one(more, 1, v, 1, 2000, true);
	assert_kind(&d, ST_FINDING_OPTIMIZATION, ST_EVIDENCE_COUNT);
	d = compare_one(other, 4, more, 4, 2000, true);
	assert_kind(&d, ST_FINDING_DEGRADATION, ST_EVIDENCE_TEST);
	assert_near(d.p, 2 / 70.0);
	d = compare_one(v, 1, more, 1, 1000, false);
	assert_kind(&d, ST_FINDING_UNKNOWN, ST_EVIDENCE_FEW);
}

/* Mean ranks 1.5 1.5 3 4 | 5.5 5.5 7.5 7.5: two of the 70 divisions are as far apart. */
static void
ties(void **state)
{
	static const double a[] = {1, 1, 2, 3}, b[] = {4, 4, 5, 5}, c[] = {1, 2, 2, 3};
	(void)state;
	struct st_distribution d = compare_one(a, 4, b, 4, 2, false);
	assert_near(d.p, 2 / 70.0);
	d = compare_one(a, 4, a, 4, 2, false);
	assert_near(d.p, 1);
	assert_true(d.kind == ST_FINDING_UNKNOWN);
	d = compare_one(a, 4, c, 4, 200, false);
	assert_kind(&d, ST_FINDING_NO_CHANGE, ST_EVIDENCE_SMALL);
}

static double
lognormal_value(uint64_t *random, double median, double sd)
{
	const double u = ((double)(st_random_next(random) >> 11) + 0.5) * 0x1p-53;
	return median * exp(sd * gsl_cdf_ugaussian_Pinv(u));
}

/* A program of 400 functions, the i-th of which costs 1 / i; `planted` costs `factor` times as much
 * in the target. Every tenth value is an outlier. */
static void
simulate(uint64_t seed, size_t planted, double factor, double *v, struct st_sample_pair *pairs,
         struct st_distribution *out)
{
	double whole = 0;
	for (size_t i = 0; i < FUNCTIONS; i++)
		whole += 1 / (double)(i + 1);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		double *from = v + i * 2 * RUNS, *to = from + RUNS;
		for (size_t k = 0; k < 2 * RUNS; k++) {
			const double mean = 1 / (double)(i + 1);
			from[k] = lognormal_value(
			        &seed, k >= RUNS && i == planted ? factor * mean : mean, 0.01);
			if (!st_random_below(&seed, 10))
				from[k] *= 1.5;
		}
		pairs[i] = (struct st_sample_pair){from, to, RUNS, RUNS, whole, whole, false};
	}
	assert_int_equal(st_distribution_compare(pairs, FUNCTIONS, &ST_DISTRIBUTION_USUAL, out),
	                 ST_OK);
}

static size_t
count_alarms(const struct st_distribution *d)
{
	size_t n = 0;
	for (size_t i = 0; i < FUNCTIONS; i++)
		n += d[i].kind != ST_FINDING_NO_CHANGE && d[i].kind != ST_FINDING_UNKNOWN;
	return n;
}

/* A change of one of 400 functions by factors of 0.2 to 5 is found, and nothing else. */
static void
planted(void **state)
{
	static const double factors[] = {1.2, 1.5, 2, 5, 1 / 1.2, 0.2};
	double *v = malloc(sizeof *v * FUNCTIONS * RUNS * 2);
	struct st_sample_pair pairs[FUNCTIONS];
	struct st_distribution d[FUNCTIONS];
	(void)state;
	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
		const size_t at = 0;
		simulate(i + 1, at, factors[i], v, pairs, d);
		assert_int_equal(count_alarms(d), 1);
		assert_int_equal(st_finding_direction(d[at].kind), factors[i] > 1 ? 1 : -1);
		const double shift = factors[i] - 1;
		assert_true(d[at].shift.low < shift && shift < d[at].shift.high);
		assert_true(d[at].q <= 0.01);
	}
	free(v);
}

/* 100 comparisons of equal programs: nothing is reported, although one value in ten is an outlier.
 */
static void
nothing_planted(void **state)
{
	double *v = malloc(sizeof *v * FUNCTIONS * RUNS * 2);
	struct st_sample_pair pairs[FUNCTIONS];
	struct st_distribution d[FUNCTIONS];
	size_t alarms = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		simulate(1000 * seed, 0, 1, v, pairs, d);
		alarms += count_alarms(d) > 0;
		assert_int_equal(d[FUNCTIONS - 1].evidence, ST_EVIDENCE_SMALL);
		assert_int_equal(d[FUNCTIONS - 1].kind, ST_FINDING_NO_CHANGE);
		assert_int_equal(d[0].evidence, ST_EVIDENCE_TEST);
	}
	assert_int_equal(alarms, 0);
	free(v);
}

/* With equal samples, the share of P up to 5 % agrees with the level. */
static void
level_holds(void **state)
{
	enum { TIMES = 1000 };
	size_t below = 0;
	uint64_t random = 7;
	double v[2 * RUNS];
	(void)state;
	for (size_t i = 0; i < TIMES; i++) {
		for (size_t k = 0; k < 2 * RUNS; k++)
			v[k] = lognormal_value(&random, 100, 1);
		const struct st_distribution d = compare_one(v, RUNS, v + RUNS, RUNS, 100, false);
		below += d.p <= 0.05;
		assert_true(d.p > 0.05 || st_finding_direction(d.kind));
		assert_true(d.p <= 0.05 || d.kind == ST_FINDING_UNKNOWN);
	}
	/* The 99.9 % interval of a binomial distribution with 1000 trials of 5 %. */
	assert_in_range(below, 29, 75);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(names),
	        cmocka_unit_test(five_and_five),
	        cmocka_unit_test(too_few),
	        cmocka_unit_test(counts),
	        cmocka_unit_test(ties),
	        cmocka_unit_test(planted),
	        cmocka_unit_test(nothing_planted),
	        cmocka_unit_test(level_holds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
