/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdicts on the times of functions, on simulated pairs of traced runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/random.h"
#include "gate/functiontime.h"

enum { FUNCTIONS = 10, PAIRS = 30 };

static const char *const names[FUNCTIONS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
static const struct st_gate_rule rule = {.alarm = 0.01, .miss = 0.05, .limit = 0.02};

/* Sum of twelve uniform numbers less 6: as good as normal here. */
static double
noise(uint64_t *random)
{
	double sum = -6;
	for (int i = 0; i < 12; i++)
		sum += (double)(st_random_next(random) >> 11) * 0x1p-53;
	return sum;
}

static bool
near(double a, double b, double most)
{
	return fabs(a - b) <= most;
}

static void
put(struct st_gate_timed_run *run, const char *name, double ns)
{
	struct st_gate_timed *slot = ST_PUSH(&run->v);
	assert_non_null(slot);
	*slot = (struct st_gate_timed){name, "program", ns};
}

static void
empty(struct st_gate_timed_run runs[ST_GATE_SIDES])
{
	for (int side = 0; side < ST_GATE_SIDES; side++) {
		free(runs[side].v.v);
		runs[side] = (struct st_gate_timed_run){0};
	}
}

static void
add(struct st_gate_function_times *t, struct st_gate_timed_run *runs, const char *changed)
{
	struct st_error e;
	assert_int_equal(st_gate_function_times_add(t, runs, &changed, changed != NULL, &e), 0);
	empty(runs);
}

/* A gate of functions that take 1 ms, times the factor in the target, which is judged after every
 * third pair. sd: of the noise of each function; drift: what both runs of a pair have in common. */
static void
simulate(struct st_gate_function_times *t, const double factors[FUNCTIONS], double sd, double drift,
         uint64_t seed)
{
	uint64_t random = seed;
	*t = (struct st_gate_function_times){0};
	for (int pair = 1; pair <= PAIRS && !st_gate_function_times_decided(t); pair++) {
		struct st_gate_timed_run runs[ST_GATE_SIDES] = {0};
		const double common = exp(drift * noise(&random));
		for (int side = 0; side < ST_GATE_SIDES; side++)
			for (int i = 0; i < FUNCTIONS; i++)
				put(&runs[side], names[i],
				    1e6 * common * (side ? factors[i] : 1) *
				            exp(sd * noise(&random)));
		add(t, runs, NULL);
		if (pair % 3 == 0)
			assert_int_equal(st_gate_function_times_judge(t, &rule, 0.002), 0);
	}
}

static const struct st_gate_function_time *
named(const struct st_gate_function_times *t, const char *name)
{
	for (size_t i = 0; i < t->v.n; i++)
		if (!strcmp(t->v.v[i].name, name))
			return &t->v.v[i];
	return NULL;
}

static size_t
regressions(const struct st_gate_function_times *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->v.n; i++)
		n += t->v.v[i].time.verdict == ST_GATE_REGRESSION;
	return n;
}

/* Gates of ten equal functions each; the argument of the program is their number, 30 without one.
 * At most 1 % of the gates raise an alarm for any of their functions. */
static void
equal_sides_raise_no_alarm(void **state)
{
	const uint64_t gates = *(const uint64_t *)*state;
	double factors[FUNCTIONS];
	size_t alarms = 0;
	for (int i = 0; i < FUNCTIONS; i++)
		factors[i] = 1;
	for (uint64_t gate = 0; gate < gates; gate++) {
		struct st_gate_function_times t;
		simulate(&t, factors, gate % 2 ? 0.02 : 0.3, 0.5, gate);
		alarms += t.verdict == ST_GATE_REGRESSION;
		st_gate_function_times_free(&t);
	}
	print_message("%zu alarms in %zu gates\n", alarms, (size_t)gates);
	assert_true(alarms <= gates / 100);
}

/* One function of ten, each 10 % of the time, is 5 % slower: it is found, and no other. */
static void
the_slower_function_is_found(void **state)
{
	(void)state;
	size_t found = 0, others = 0;
	double factors[FUNCTIONS];
	for (int i = 0; i < FUNCTIONS; i++)
		factors[i] = i == 3 ? 1.05 : 1;
	for (uint64_t gate = 0; gate < 12; gate++) {
		struct st_gate_function_times t;
		simulate(&t, factors, 0.01, 0.3, gate);
		const bool is_found = named(&t, "d")->time.verdict == ST_GATE_REGRESSION;
		found += is_found;
		others += regressions(&t) - is_found;
		assert_int_equal(t.verdict, is_found ? ST_GATE_REGRESSION : ST_GATE_PASS);
		st_gate_function_times_free(&t);
	}
	assert_true(found >= 11);
	assert_int_equal(others, 0);
}

static void
quiet_functions_pass(void **state)
{
	(void)state;
	struct st_gate_function_times t;
	double factors[FUNCTIONS];
	for (int i = 0; i < FUNCTIONS; i++)
		factors[i] = i ? 1 : 0.9;
	simulate(&t, factors, 0.002, 0.3, 1);
	assert_true(st_gate_function_times_decided(&t));
	assert_true(t.pairs < PAIRS);
	for (size_t i = 0; i < FUNCTIONS; i++)
		assert_int_equal(t.v.v[i].time.verdict, ST_GATE_PASS);
	st_gate_function_times_free(&t);
}

/* Work that moves from one function to another is no regression; the same growth without it is. */
static void
moved_work_passes(void **state)
{
	(void)state;
	for (int moved = 0; moved < 2; moved++) {
		struct st_gate_function_times t;
		double factors[FUNCTIONS];
		for (int i = 0; i < FUNCTIONS; i++)
			factors[i] = 1;
		factors[0] = 1.5;
		if (moved)
			factors[1] = 0.5;
		simulate(&t, factors, 0.005, 0.3, 1);
		assert_int_equal(named(&t, "a")->offset, moved);
		assert_int_equal(t.verdict, moved ? ST_GATE_PASS : ST_GATE_REGRESSION);
		st_gate_function_times_free(&t);
	}
}

/* P is that of Holm: of the most certain of n functions, n times 1 / evidence. */
static void
p_is_adjusted(void **state)
{
	(void)state;
	struct st_gate_function_times t;
	double factors[FUNCTIONS];
	for (int i = 0; i < FUNCTIONS; i++)
		factors[i] = i == 3 ? 1.2 : 1;
	simulate(&t, factors, 0.01, 0.3, 7);
	const struct st_gate_function_time *d = named(&t, "d");
	assert_true(near(d->p * d->time.evidence, FUNCTIONS, 1e-9));
	assert_true(d->p <= 0.01);
	for (size_t i = 0; i < t.v.n; i++)
		assert_true(t.v.v[i].p * t.v.v[i].time.evidence >= 1 - 1e-12 || t.v.v[i].p == 1);
	/* The slower one comes first for the reader. */
	st_gate_function_times_order(&t);
	assert_string_equal(t.v.v[0].name, "d");
	st_gate_function_times_free(&t);
}

/* Functions with 1 % of the time of both sides, and changed ones, are judged, with the sides
 * exchanged as well; those that one side alone has are not. */
static void
the_choice_favours_no_side(void **state)
{
	(void)state;
	for (int exchanged = 0; exchanged < 2; exchanged++) {
		struct st_gate_function_times t = {0};
		struct st_gate_timed_run runs[ST_GATE_SIDES] = {0};
		struct st_gate_timed_run *base = &runs[exchanged], *target = &runs[!exchanged];
		put(base, "main", 1e9);
		put(target, "main", 1e9);
		put(base, "small", 1e6);
		put(target, "small", 1e6);
		put(base, "changed", 1e6);
		put(target, "changed", 2e6);
		put(base, "grown", 1e6);
		put(target, "grown", 3e7);
		put(base, "gone", 3e8);
		put(base, "main", 1e6); /* of another thread */
		add(&t, runs, "changed");
		assert_int_equal(t.v.n, 3);
		assert_non_null(named(&t, "main"));
		assert_non_null(named(&t, "changed"));
		assert_non_null(named(&t, "grown"));
		assert_true(near(named(&t, "main")->ns[exchanged].v[0], 1.001e9, 1));
		st_gate_function_times_free(&t);
	}
}

static void
a_pair_without_the_function_has_no_value(void **state)
{
	(void)state;
	struct st_gate_function_times t = {0};
	for (int pair = 0; pair < 3; pair++) {
		struct st_gate_timed_run runs[ST_GATE_SIDES] = {0};
		put(&runs[0], "f", 100);
		put(&runs[1], "f", 100);
		if (pair != 1)
			put(&runs[0], "g", 100);
		put(&runs[1], "g", 150);
		add(&t, runs, NULL);
	}
	assert_int_equal(st_gate_function_times_judge(&t, &rule, 0.002), 0);
	assert_int_equal(t.pairs, 3);
	assert_int_equal(named(&t, "f")->time.ratios.n, 3);
	assert_int_equal(named(&t, "g")->time.ratios.n, 2);
	assert_true(near(named(&t, "g")->time.change.at, 0.5, 1e-12));
	assert_int_equal(named(&t, "g")->time.verdict, ST_GATE_INCONCLUSIVE);
	st_gate_function_times_free(&t);
}

static void
nothing_measured_is_an_error(void **state)
{
	(void)state;
	struct st_gate_function_times t = {0};
	struct st_gate_timed_run runs[ST_GATE_SIDES] = {0};
	struct st_error e;
	put(&runs[ST_GATE_BASE], "f", 100);
	assert_int_not_equal(st_gate_function_times_add(&t, runs, NULL, 0, &e), 0);
	assert_string_equal(e.text, "the gate measured no time of a function of the target: strobe "
	                            "trace says which functions it can trace, and --functions 0 "
	                            "measures the program alone");
	put(&runs[ST_GATE_TARGET], "g", 100);
	assert_int_not_equal(st_gate_function_times_add(&t, runs, NULL, 0, &e), 0);
	assert_string_equal(e.text, "the gate measured nothing: the base and the target have no "
	                            "function with time in common; --functions 0 measures the "
	                            "program alone");
	empty(runs);
	st_gate_function_times_free(&t);
}

int
main(int argc, char **argv)
{
	uint64_t gates = argc > 1 ? strtoull(argv[1], NULL, 10) : 30;
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_prestate(equal_sides_raise_no_alarm, &gates),
	        cmocka_unit_test(the_slower_function_is_found),
	        cmocka_unit_test(quiet_functions_pass),
	        cmocka_unit_test(moved_work_passes),
	        cmocka_unit_test(p_is_adjusted),
	        cmocka_unit_test(the_choice_favours_no_side),
	        cmocka_unit_test(a_pair_without_the_function_has_no_value),
	        cmocka_unit_test(nothing_measured_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
