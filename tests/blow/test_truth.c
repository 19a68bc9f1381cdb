/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Planted programs, simulated tick by tick: a virtual speed-up of each of their functions has to
 * predict the run time of the same program with the function really made faster. Threads work,
 * sleep, take locks, wait at barriers, put into queues and take from them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "blow/debt.h"
#include "blow/indicators.h"

enum { MOST_THREADS = 4, MOST_STEPS = 4, MOST_QUEUES = 2, ROUNDS = 60 };
static const double tick = 1e-4, ms = 1e-3;

enum step_kind { END, WORK, SLEEP, LOCK, UNLOCK, BARRIER, PUT, TAKE, STEAL };
struct step {
	enum step_kind kind;
	int of;      /* WORK, SLEEP: the function; PUT, TAKE: the queue */
	double time; /* WORK, SLEEP: seconds */
};
struct program {
	size_t threads;
	struct step steps[MOST_THREADS][MOST_STEPS];
	int room[MOST_QUEUES]; /* of a queue */
	int tasks;             /* that threads STEAL from each other, in place of rounds */
};

enum { NO_FUNCTION = -1 };
/* A change of a function: its time is multiplied by a factor, or it is virtually faster. */
struct change {
	int function;
	double factor, speedup, longer;
	double reports; /* seconds from one report of the CPU time of a thread that works to the
	                   next; that of a thread that stops is reported at once */
};

struct simulated_thread {
	size_t at;                /* the step */
	double left;              /* of its time; 0: it has not begun */
	double unreported, since; /* CPU time, and time, since the last report */
	int rounds;
	bool begun, stands, blocked, done, waits_at_barrier;
};
struct simulation {
	const struct program *p;
	struct change change;
	struct st_debts d;
	struct simulated_thread t[MOST_THREADS];
	int queued[MOST_QUEUES], tasks, owner, at_barrier;
	double time, function_time;
};

static bool
is_changed(const struct simulation *s, const struct step *step)
{
	return step->of == s->change.function;
}

static double
time_of_step(const struct simulation *s, const struct step *step)
{
	return is_changed(s, step) ? step->time * s->change.factor + s->change.longer : step->time;
}

static const struct step *
step_of(const struct simulation *s, size_t i)
{
	return &s->p->steps[i][s->t[i].at];
}

static void
go_on(struct simulation *s, size_t i)
{
	struct simulated_thread *t = &s->t[i];
	t->begun = t->blocked = false;
	if (++t->at < MOST_STEPS && step_of(s, i)->kind != END)
		return;
	t->at = 0;
	t->done = ++t->rounds == ROUNDS && !s->p->tasks;
}

static void
pass_barrier(struct simulation *s)
{
	if (s->at_barrier < (int)s->p->threads)
		return;
	s->at_barrier = 0;
	for (size_t i = 0; i < s->p->threads; i++) {
		s->t[i].waits_at_barrier = false;
		go_on(s, i);
	}
}

/* Whether the step of a thread that neither works nor sleeps could be made. */
static bool
can_step(struct simulation *s, size_t i)
{
	const struct step *step = step_of(s, i);
	switch (step->kind) {
	case LOCK:
		if (s->owner)
			return false;
		s->owner = (int)i + 1;
		return true;
	case UNLOCK:
		s->owner = 0;
		return true;
	case PUT:
		if (s->queued[step->of] == s->p->room[step->of])
			return false;
		s->queued[step->of]++;
		return true;
	case TAKE:
		if (!s->queued[step->of])
			return false;
		s->queued[step->of]--;
		return true;
	case STEAL:
		s->t[i].done = !s->tasks;
		s->tasks -= s->tasks > 0;
		return !s->t[i].done;
	default:
		return false;
	}
}

static bool
take_one_step(struct simulation *s, size_t i)
{
	struct simulated_thread *t = &s->t[i];
	const struct step *step = step_of(s, i);
	if (t->done || t->stands || t->waits_at_barrier)
		return false;
	if (step->kind == WORK || step->kind == SLEEP) {
		if (t->begun && t->left > tick / 2)
			return false;
		/* At the end of a sleep, a thread pays before anything else. */
		t->stands = t->begun && step->kind == SLEEP && st_debt_owed(&s->d, i) >= tick;
		if (t->stands)
			return false;
		if (t->begun) {
			go_on(s, i);
			return true;
		}
		t->begun = true;
		t->left = time_of_step(s, step);
		return t->left <= tick / 2;
	}
	if (step->kind == BARRIER) {
		t->waits_at_barrier = t->blocked = true;
		s->at_barrier++;
		pass_barrier(s);
		return true;
	}
	t->blocked = !can_step(s, i);
	if (!t->blocked)
		go_on(s, i);
	return !t->blocked && !t->done;
}

static void
take_all_steps(struct simulation *s)
{
	for (bool any = true; any;) {
		any = false;
		for (size_t i = 0; i < s->p->threads; i++)
			any |= take_one_step(s, i);
	}
}

static void
set_debt_state(struct simulation *s, size_t i)
{
	struct simulated_thread *t = &s->t[i];
	struct st_debt_thread *d = &s->d.threads.v[i];
	const struct step *step = step_of(s, i);
	const double owed = st_debt_owed(&s->d, i);
	const bool runs = !t->done && !t->blocked && step->kind == WORK;
	if (t->stands && owed <= 0)
		t->stands = false;
	else if (!t->stands && owed >= tick && runs)
		t->stands = true;
	d->state = t->done || t->blocked ? ST_DEBT_BLOCKED
	           : t->stands           ? ST_DEBT_STANDS
	           : runs                ? ST_DEBT_RUNS
	                                 : ST_DEBT_WAITS;
	d->in_function = d->state == ST_DEBT_RUNS && is_changed(s, step);
	t->unreported += d->state == ST_DEBT_RUNS ? tick : 0;
	t->since += tick;
	d->ran = 0;
	if (d->state == ST_DEBT_RUNS && t->since < s->change.reports)
		return;
	d->ran = t->unreported;
	t->unreported = t->since = 0;
}

static bool
is_over(const struct simulation *s)
{
	for (size_t i = 0; i < s->p->threads; i++)
		if (!s->t[i].done)
			return false;
	return true;
}

/* The run time, less what the first thread has paid, which waits for all others at the end. */
static double
simulate(const struct program *p, struct change change, double *function_time)
{
	struct simulation s = {
	        .p = p, .change = change, .d = {.speedup = change.speedup}, .tasks = p->tasks};
	for (size_t i = 0; i < p->threads; i++)
		assert_int_equal(st_debt_thread(&s.d, (int64_t)i, SIZE_MAX), i);
	take_all_steps(&s);
	while (!is_over(&s)) {
		for (size_t i = 0; i < p->threads; i++)
			set_debt_state(&s, i);
		st_debt_tick(&s.d, tick);
		for (size_t i = 0; i < p->threads; i++) {
			if (!s.t[i].begun || s.t[i].stands || s.t[i].done)
				continue;
			s.t[i].left -= tick;
			s.function_time += is_changed(&s, step_of(&s, i)) ? tick : 0;
		}
		take_all_steps(&s);
		s.time += tick;
		assert_true(s.time < 100);
	}
	if (function_time)
		*function_time = s.function_time;
	const double paid = s.d.threads.v[0].paid;
	st_debts_free(&s.d);
	return s.time - paid;
}

static double
run_time(const struct program *p)
{
	return simulate(p, (struct change){NO_FUNCTION, 1, 0, 0, 0}, NULL);
}

/* Predicts the gain of a function that is faster by a part, and then makes it faster. Both are to
 * be within three percentage points of each other, and of `wanted`, also if the kernel reports CPU
 * time late. */
static void
assert_gain(const struct program *p, int function, double part, double wanted)
{
	static const double reports[] = {0, 1e-3, 4e-3};
	const double before = run_time(p),
	             real = 1 - simulate(p, (struct change){function, 1 - part, 0, 0, 0}, NULL) /
	                                before;
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
		const struct change change = {function, 1, part, 0, reports[i]};
		const double predicted = 1 - simulate(p, change, NULL) / before;
		if (fabs(real - wanted) > 0.03 || fabs(predicted - real) > 0.03)
			fail_msg("function %d faster by %g, reports every %g s: predicted %.4f, "
			         "real %.4f, wanted %.4f",
			         function, part, reports[i], predicted, real, wanted);
	}
}

/* The slope of the run time over the function's, by noise in each call. */
static void
assert_slope(const struct program *p, int function, double noise, double wanted)
{
	double without, with;
	const double before = simulate(p, (struct change){function, 1, 0, 0, 0}, &without),
	             after = simulate(p, (struct change){function, 1, 0, noise, 0}, &with),
	             slope = (after / before - 1) / (with / without - 1);
	if (fabs(slope - wanted) > 0.02)
		fail_msg("function %d with noise of %g s: slope %.4f, wanted %.4f", function, noise,
		         slope, wanted);
}

enum { F, G, H };

/* A quarter of the time is in F: slope and gain are its share. */
static void
test_serial_share(void **state)
{
	static const struct program p = {1, {{{WORK, F, 3e-3}, {WORK, G, 9e-3}}}, {0}, 0};
	(void)state;
	for (double noise = ms; noise < 50 * ms; noise *= 3)
		assert_slope(&p, F, noise, 0.25);
	assert_gain(&p, F, 0.5, 0.125);
	assert_gain(&p, F, 1, 0.25);
	assert_gain(&p, G, 0.5, 0.375);
}

/* A slow-down of either thread hurts, a speed-up of one brings nothing, of both all. */
static void
test_balanced_pair(void **state)
{
	static const struct program p = {2,
	                                 {{{WORK, F, 10e-3}, {BARRIER, 0, 0}},
	                                  {{WORK, G, 10e-3}, {BARRIER, 0, 0}}},
	                                 {0},
	                                 0},
	                            both = {2,
	                                    {{{WORK, F, 10e-3}, {BARRIER, 0, 0}},
	                                     {{WORK, F, 10e-3}, {BARRIER, 0, 0}}},
	                                    {0},
	                                    0};
	(void)state;
	assert_slope(&p, F, 5 * ms, 1);
	assert_slope(&p, G, 5 * ms, 1);
	for (int i = 1; i <= 4; i++) {
		assert_gain(&p, F, i / 4.0, 0);
		assert_gain(&p, G, i / 4.0, 0);
		assert_gain(&both, F, i / 4.0, i / 4.0);
	}
}

/* One of two threads has 80 % of the work of the other one. */
static void
test_unequal_pair(void **state)
{
	static const struct program p = {
	        2,
	        {{{WORK, F, 10e-3}, {BARRIER, 0, 0}}, {{WORK, G, 8e-3}, {BARRIER, 0, 0}}},
	        {0},
	        0};
	(void)state;
	assert_gain(&p, F, 0.1, 0.1);
	assert_gain(&p, F, 0.2, 0.2);
	assert_gain(&p, F, 0.5, 0.2);
	assert_gain(&p, G, 0.5, 0);
}

/* Three stages, of which the first one is the slowest, and one in the middle is. */
static void
test_pipeline(void **state)
{
	static const struct program p = {3,
	                                 {{{WORK, F, 10e-3}, {PUT, 0, 0}},
	                                  {{TAKE, 0, 0}, {WORK, G, 6e-3}, {PUT, 1, 0}},
	                                  {{TAKE, 1, 0}, {WORK, H, 3e-3}}},
	                                 {4, 4},
	                                 0},
	                            middle = {3,
	                                      {{{WORK, F, 5e-3}, {PUT, 0, 0}},
	                                       {{TAKE, 0, 0}, {WORK, G, 10e-3}, {PUT, 1, 0}},
	                                       {{TAKE, 1, 0}, {WORK, H, 3e-3}}},
	                                      {4, 4},
	                                      0};
	(void)state;
	assert_gain(&p, F, 0.25, 0.25);
	assert_gain(&p, F, 0.75, 0.4);
	assert_gain(&p, G, 0.5, 0);
	assert_gain(&p, H, 0.5, 0);
	assert_gain(&middle, G, 0.25, 0.25);
	assert_gain(&middle, G, 0.75, 0.5);
	assert_gain(&middle, F, 0.5, 0);
	assert_gain(&middle, H, 1, 0);
}

static void
test_producer_consumer(void **state)
{
	static const struct program p = {
	        2, {{{WORK, F, 4e-3}, {PUT, 0, 0}}, {{TAKE, 0, 0}, {WORK, G, 9e-3}}}, {2, 0}, 0};
	(void)state;
	assert_gain(&p, G, 0.25, 0.25);
	assert_gain(&p, G, 0.75, 5 / 9.0);
	assert_gain(&p, F, 0.5, 0);
}

/* Three threads spend most of their time with the same lock: only the work under it matters. */
static void
test_lock_convoy(void **state)
{
	static const struct program p = {
	        3,
	        {{{LOCK, 0, 0}, {WORK, F, 5e-3}, {UNLOCK, 0, 0}, {WORK, G, 2e-3}},
	         {{LOCK, 0, 0}, {WORK, F, 5e-3}, {UNLOCK, 0, 0}, {WORK, G, 2e-3}},
	         {{LOCK, 0, 0}, {WORK, F, 5e-3}, {UNLOCK, 0, 0}, {WORK, G, 2e-3}}},
	        {0},
	        0};
	(void)state;
	assert_gain(&p, F, 0.25, 0.25);
	assert_gain(&p, F, 0.5, 0.5);
	assert_gain(&p, G, 0.5, 0);
}

/* Two threads that both execute F, at the same time or not, and meet or do not. */
static void
test_function_in_both(void **state)
{
	struct program p = {2,
	                    {{{WORK, F, 2e-3}, {WORK, G, 1e-3}, {BARRIER, 0, 0}},
	                     {{WORK, F, 2e-3}, {WORK, G, 1e-3}, {BARRIER, 0, 0}}},
	                    {0},
	                    0};
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 1; i <= 4; i++) {
			assert_gain(&p, F, i / 4.0, i / 6.0);
			assert_gain(&p, G, i / 4.0, i / 12.0);
		}
		p.steps[0][2] = p.steps[1][2] = (struct step){END, 0, 0};
	}
}

/* Of a function that two threads execute in turn, and short calls, what the other thread has saved
 * is inherited even before the kernel has reported it. */
static void
test_short_convoy(void **state)
{
	static const struct program p = {
	        2,
	        {{{LOCK, 0, 0}, {WORK, F, 2e-3}, {UNLOCK, 0, 0}, {WORK, G, 8e-4}},
	         {{LOCK, 0, 0}, {WORK, F, 2e-3}, {UNLOCK, 0, 0}, {WORK, G, 8e-4}}},
	        {0},
	        0};
	(void)state;
	assert_gain(&p, F, 0.25, 0.25);
	assert_gain(&p, F, 0.5, 0.5);
	assert_gain(&p, F, 0.75, 0.675);
	assert_gain(&p, F, 1, 0.8);
	assert_gain(&p, G, 0.5, 0);
	assert_gain(&p, G, 1, 0);
}

/* Only what is on the critical path pays, and a wait has no CPU time that could be saved. The
 * thread that waits pays its debt when it works on what it has read. */
static void
test_io_against_compute(void **state)
{
	static const struct program p = {2,
	                                 {{{SLEEP, F, 6e-3}, {WORK, H, 2e-3}, {BARRIER, 0, 0}},
	                                  {{WORK, G, 10e-3}, {BARRIER, 0, 0}}},
	                                 {0},
	                                 0},
	                            slow = {2,
	                                    {{{SLEEP, F, 20e-3}, {WORK, H, 5e-3}, {BARRIER, 0, 0}},
	                                     {{WORK, G, 10e-3}, {BARRIER, 0, 0}}},
	                                    {0},
	                                    0};
	(void)state;
	assert_gain(&p, G, 0.1, 0.1);
	assert_gain(&p, G, 0.5, 0.2);
	assert_gain(&slow, G, 0.5, 0);
	assert_gain(&slow, H, 0.8, 0.16);
}

/* A thread that waits for others as soon as its sleep ends, which is the longer part, or the
 * shorter one. Which thread the program ends with makes no difference. */
static void
test_sleep_before_barrier(void **state)
{
	struct program p = {
	        2,
	        {{{SLEEP, F, 10e-3}, {BARRIER, 0, 0}}, {{WORK, G, 8e-3}, {BARRIER, 0, 0}}},
	        {0},
	        0};
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		p.steps[turn][0] = (struct step){SLEEP, F, 10e-3};
		p.steps[1 - turn][0] = (struct step){WORK, G, 8e-3};
		assert_gain(&p, G, 0.5, 0);
		assert_gain(&p, G, 1, 0);
		p.steps[1 - turn][0].time = 16e-3;
		assert_gain(&p, G, 0.25, 0.25);
		assert_gain(&p, G, 1, 0.375);
	}
}

/* A thread that only sleeps ends before the one that works. */
static void
test_sleeping_thread(void **state)
{
	static const struct program p = {
	        3,
	        {{{WORK, F, 6e-3}, {WORK, G, 4e-3}}, {{SLEEP, H, 5e-3}}, {{SLEEP, H, 1e-3}}},
	        {0},
	        0};
	(void)state;
	assert_gain(&p, F, 0.5, 0.3);
	assert_gain(&p, G, 0.5, 0.2);
}

/* Threads that take tasks from a common pool: each function pays by its share of all work. */
static void
test_work_stealing(void **state)
{
	static const struct program p = {3,
	                                 {{{STEAL, 0, 0}, {WORK, F, 6e-3}, {WORK, G, 2e-3}},
	                                  {{STEAL, 0, 0}, {WORK, F, 6e-3}, {WORK, G, 2e-3}},
	                                  {{STEAL, 0, 0}, {WORK, F, 6e-3}, {WORK, G, 2e-3}}},
	                                 {0},
	                                 300};
	(void)state;
	assert_gain(&p, F, 0.5, 0.375);
	assert_gain(&p, F, 1, 0.75);
	assert_gain(&p, G, 0.5, 0.125);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_serial_share),
	        cmocka_unit_test(test_balanced_pair),
	        cmocka_unit_test(test_unequal_pair),
	        cmocka_unit_test(test_pipeline),
	        cmocka_unit_test(test_producer_consumer),
	        cmocka_unit_test(test_lock_convoy),
	        cmocka_unit_test(test_io_against_compute),
	        cmocka_unit_test(test_sleeping_thread),
	        cmocka_unit_test(test_sleep_before_barrier),
	        cmocka_unit_test(test_function_in_both),
	        cmocka_unit_test(test_short_convoy),
	        cmocka_unit_test(test_work_stealing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
