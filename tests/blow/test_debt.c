/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Virtual speed-up of programs that are simulated, tick by tick: threads work, meet at barriers,
 * and stand still while they owe a debt, as virtual.c has them do it. Each truth is arithmetic.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blow/debt.h"
#include "blow/indicators.h"

enum { MOST = 4, ROUNDS = 50 };
static const double tick = 1e-4;

/* Each thread works for a given time in each round, and then waits for the others: by a barrier, or
 * not at all. The function is the whole work of thread `target` (ALL: of all threads); work may
 * also be a sleep. */
enum { ALL = MOST };
struct program {
	size_t threads, target;
	double work[MOST];
	bool sleeps[MOST];
	bool meets;
};

struct simulation {
	const struct program *p;
	struct st_debts d;
	double left[MOST]; /* of the work of its round */
	int rounds[MOST];
	bool stands[MOST];
	double time;
};

static bool
is_done(const struct simulation *s, size_t i)
{
	return s->rounds[i] == ROUNDS;
}

/* It has come to the barrier, and others have not. */
static bool
is_blocked(const struct simulation *s, size_t i)
{
	return s->p->meets && s->left[i] <= 0 && !is_done(s, i);
}

static void
set_state(struct simulation *s, size_t i)
{
	struct st_debt_thread *t = &s->d.threads.v[i];
	const double owed = st_debt_owed(&s->d, i);
	if (s->stands[i] && owed <= 0)
		s->stands[i] = false;
	else if (!s->stands[i] && owed >= tick && !s->p->sleeps[i] && !is_blocked(s, i))
		s->stands[i] = true;
	t->state = is_done(s, i)      ? ST_DEBT_BLOCKED
	           : s->stands[i]     ? ST_DEBT_STANDS
	           : is_blocked(s, i) ? ST_DEBT_BLOCKED
	           : s->p->sleeps[i]  ? ST_DEBT_WAITS
	                              : ST_DEBT_RUNS;
	t->ran = t->state == ST_DEBT_RUNS ? tick : 0;
	t->in_function = (i == s->p->target || s->p->target == ALL) && t->ran > 0;
}

static void
end_round(struct simulation *s)
{
	size_t waiting = 0, n = s->p->threads;
	for (size_t i = 0; i < n; i++)
		waiting += s->left[i] <= 0 || is_done(s, i);
	for (size_t i = 0; i < n; i++) {
		if (is_done(s, i) || s->left[i] > 0 || (s->p->meets && waiting < n))
			continue;
		s->rounds[i]++;
		s->left[i] = s->p->work[i];
	}
}

static bool
is_over(const struct simulation *s)
{
	for (size_t i = 0; i < s->p->threads; i++)
		if (!is_done(s, i))
			return false;
	return true;
}

/* The run time less the time paid by the first thread, which waits for all others at the end. */
static double
virtual_time(const struct program *p, double speedup)
{
	struct simulation s = {.p = p, .d = {.speedup = speedup}};
	for (size_t i = 0; i < p->threads; i++) {
		assert_int_equal(st_debt_thread(&s.d, (int64_t)i, SIZE_MAX), i);
		s.left[i] = p->work[i];
	}
	while (!is_over(&s)) {
		for (size_t i = 0; i < p->threads; i++)
			set_state(&s, i);
		st_debt_tick(&s.d, tick);
		for (size_t i = 0; i < p->threads; i++)
			if (s.d.threads.v[i].state == ST_DEBT_RUNS ||
			    s.d.threads.v[i].state == ST_DEBT_WAITS)
				s.left[i] -= tick;
		end_round(&s);
		s.time += tick;
	}
	const double time = s.time - s.d.threads.v[0].paid;
	st_debts_free(&s.d);
	return time;
}

static void
assert_time(const struct program *p, double speedup, double wanted)
{
	const double time = virtual_time(p, speedup);
	/* Two ticks in each round. */
	if (fabs(time - wanted) > 2.5 * tick * ROUNDS)
		fail_msg("speed-up %g: %g s, not %g", speedup, time, wanted);
}

static const double speedups[] = {0, 0.25, 0.5, 0.75, 1};
enum { N_SPEEDUPS = sizeof speedups / sizeof *speedups };

/* One thread: the run is shorter by the time that the function saves. */
static void
test_serial(void **state)
{
	const struct program p = {.threads = 1, .work = {0.01}};
	(void)state;
	for (int i = 0; i < N_SPEEDUPS; i++)
		assert_time(&p, speedups[i], ROUNDS * 0.01 * (1 - speedups[i]));
}

/* Two threads that meet after 10 and 8 ms: the slow one pays until it is the faster one, the fast
 * one pays nothing. The same with the first thread in the other role. */
static void
test_barrier(void **state)
{
	(void)state;
	for (size_t slow = 0; slow < 2; slow++)
		for (size_t target = 0; target < 2; target++) {
			struct program p = {.threads = 2, .target = target, .meets = true};
			p.work[slow] = 0.010;
			p.work[1 - slow] = 0.008;
			for (int i = 0; i < N_SPEEDUPS; i++) {
				const double faster = p.work[target] * (1 - speedups[i]);
				assert_time(&p, speedups[i],
				            ROUNDS * fmax(faster, p.work[1 - target]));
			}
		}
}

/* A balanced pair: making one of them faster brings nothing. */
static void
test_pair(void **state)
{
	const struct program p = {.threads = 2, .work = {0.01, 0.01}, .meets = true};
	(void)state;
	for (int i = 0; i < N_SPEEDUPS; i++)
		assert_time(&p, speedups[i], ROUNDS * 0.01);
}

/* Three threads, of which the slowest one is not the target, and one of which it is. */
static void
test_three(void **state)
{
	struct program p = {
	        .threads = 3, .target = 2, .work = {0.004, 0.006, 0.010}, .meets = true};
	(void)state;
	for (int i = 0; i < N_SPEEDUPS; i++)
		assert_time(&p, speedups[i], ROUNDS * fmax(0.006, 0.010 * (1 - speedups[i])));
	p.target = 1;
	for (int i = 0; i < N_SPEEDUPS; i++)
		assert_time(&p, speedups[i], ROUNDS * 0.010);
}

/* The first thread sleeps longer than the other one computes: the function brings nothing. */
static void
test_sleep(void **state)
{
	const struct program p = {
	        .threads = 2, .target = 1, .work = {0.010, 0.005}, .sleeps = {true}, .meets = true};
	(void)state;
	for (int i = 0; i < N_SPEEDUPS; i++)
		assert_time(&p, speedups[i], ROUNDS * 0.010);
}

/* Threads that do not meet: the longest one is all that matters. */
static void
test_apart(void **state)
{
	const struct program p = {.threads = 2, .target = 1, .work = {0.004, 0.010}};
	(void)state;
	for (int i = 0; i < N_SPEEDUPS; i++)
		assert_time(&p, speedups[i], ROUNDS * fmax(0.004, 0.010 * (1 - speedups[i])));
}

/* All threads execute the function at the same time, each on a processor of its own: each saves the
 * time of its own calls, no matter whether they meet. */
static void
test_all(void **state)
{
	(void)state;
	for (size_t threads = 1; threads <= MOST; threads++)
		for (int meets = 0; meets < 2; meets++) {
			struct program p = {.threads = threads, .target = ALL, .meets = meets};
			for (size_t i = 0; i < threads; i++)
				p.work[i] = 0.01;
			for (int i = 0; i < N_SPEEDUPS; i++)
				assert_time(&p, speedups[i], ROUNDS * 0.01 * (1 - speedups[i]));
		}
}

/* ---- CPU time that is reported late ---- */

/* A tick of 1 s, with the CPU time that is reported at it. */
static void
report(struct st_debts *d, enum st_debt_state now, bool in_function, double ran)
{
	d->threads.v[0].state = now;
	d->threads.v[0].in_function = in_function;
	d->threads.v[0].ran = ran;
	st_debt_tick(d, 1);
}

/* A thread waits after each call, and its CPU time is only reported then: outside of the function.
 * The time of the calls is charged all the same. */
static void
test_late(void **state)
{
	struct st_debts d = {.speedup = 0.5};
	(void)state;
	assert_int_equal(st_debt_thread(&d, 1, SIZE_MAX), 0);
	for (int i = 0; i < ROUNDS; i++) {
		report(&d, ST_DEBT_RUNS, true, 0);
		report(&d, ST_DEBT_RUNS, true, 0);
		report(&d, ST_DEBT_RUNS, true, 0);
		report(&d, ST_DEBT_RUNS, false, 0);
		report(&d, i % 2 ? ST_DEBT_WAITS : ST_DEBT_STANDS, false, 4);
	}
	assert_true(d.all == 0.5 * 3 * ROUNDS);
	/* The thread has paid as much, and one second more for each that it was paused. */
	assert_true(d.threads.v[0].paid == 0.5 * 3 * ROUNDS + ROUNDS / 2);
	st_debts_free(&d);
}

/* The report comes in the function, with time that was spent elsewhere; a short run between two
 * ticks is divided as the one before; time in which the thread does not run says nothing. */
static void
test_late_share(void **state)
{
	struct st_debts d = {.speedup = 1};
	(void)state;
	assert_int_equal(st_debt_thread(&d, 1, SIZE_MAX), 0);
	report(&d, ST_DEBT_WAITS, false, 8); /* nothing is known of it */
	assert_true(d.all == 0);
	report(&d, ST_DEBT_RUNS, false, 0);
	report(&d, ST_DEBT_RUNS, false, 0);
	report(&d, ST_DEBT_RUNS, false, 0);
	report(&d, ST_DEBT_RUNS, true, 4);
	assert_true(d.all == 1);
	report(&d, ST_DEBT_WAITS, false, 2);
	assert_true(d.all == 1.5);
	report(&d, ST_DEBT_BLOCKED, true, 0);
	report(&d, ST_DEBT_STANDS, true, 0);
	report(&d, ST_DEBT_RUNS, false, 1);
	assert_true(d.all == 1.5);
	report(&d, ST_DEBT_GONE, true, 1);
	assert_true(d.all == 1.5);
	st_debts_free(&d);
}

/* The debt of a thread made by another one, and thread IDs that are reused. */
static void
test_threads(void **state)
{
	struct st_debts d = {.speedup = 1};
	(void)state;
	assert_int_equal(st_debt_thread(&d, 7, SIZE_MAX), 0);
	d.threads.v[0].in_function = true;
	d.threads.v[0].ran = 2;
	st_debt_tick(&d, 2);
	assert_true(d.all == 2 && st_debt_owed(&d, 0) == 0);
	assert_int_equal(st_debt_thread(&d, 8, SIZE_MAX), 1);
	assert_true(st_debt_owed(&d, 1) == 0); /* it was not there */
	st_debt_tick(&d, 2);
	assert_true(st_debt_owed(&d, 1) == 2);
	assert_int_equal(st_debt_thread(&d, 9, 1), 2);
	assert_true(st_debt_owed(&d, 2) == 2); /* as much as the one that has made it */
	d.threads.v[0].in_function = false;
	d.threads.v[1].state = ST_DEBT_STANDS;
	d.threads.v[2].state = ST_DEBT_WAITS;
	st_debt_tick(&d, 1.5);
	assert_true(st_debt_owed(&d, 1) == 0.5);
	assert_true(st_debt_owed(&d, 2) == 2);
	d.threads.v[2].state = ST_DEBT_BLOCKED; /* woken by the one that has paid least */
	st_debt_tick(&d, 0);
	assert_true(st_debt_owed(&d, 2) == 0.5);
	assert_int_equal(st_debt_find(&d, 9), 2);
	d.threads.v[2].state = ST_DEBT_GONE;
	assert_true(st_debt_find(&d, 9) == SIZE_MAX);
	assert_int_equal(st_debt_thread(&d, 9, SIZE_MAX), 3);
	assert_int_equal(st_debt_find(&d, 9), 3);
	st_debts_free(&d);
}

/* ---- gains ---- */

static void
test_gain(void **state)
{
	static const double without[] = {10, 10.1, 9.9, 10}, with[] = {7.5, 7.6, 7.4};
	struct st_blow_gain g = st_blow_gain_of(without, 4, with, 3);
	(void)state;
	assert_int_equal(g.runs, 3);
	assert_true(fabs(g.at - 0.25) < 1e-12);
	/* Variance (0.02 + 0.02) / 5; Student's 2.5706 at 5; 1/3 + 0.75^2/4. */
	const double half = 2.570582 * sqrt(0.008 * (1 / 3.0 + 0.140625)) / 10;
	assert_true(fabs(g.high - g.at - half) < 1e-7);
	assert_true(fabs(g.at - g.low - half) < 1e-7);
	assert_true(isnan(st_blow_gain_of(without, 1, with, 3).at));
	assert_true(isnan(st_blow_gain_of(without, 4, with, 0).at));
	g = st_blow_gain_of(without, 4, with, 1);
	assert_true(fabs(g.at - 0.25) < 1e-12 && g.low < g.at);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_serial),     cmocka_unit_test(test_barrier),
	        cmocka_unit_test(test_pair),       cmocka_unit_test(test_three),
	        cmocka_unit_test(test_sleep),      cmocka_unit_test(test_apart),
	        cmocka_unit_test(test_all),        cmocka_unit_test(test_late),
	        cmocka_unit_test(test_late_share), cmocka_unit_test(test_threads),
	        cmocka_unit_test(test_gain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
