/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Latencies with virtual speed-ups, of pipelines that are simulated, tick by tick: a source sleeps
 * and begins a request, which each stage works on in turn; the last one ends it. What is predicted
 * with a virtual speed-up has to be the latency of the same pipeline whose stage is really faster.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blow/corpus.h"
#include "blow/debt.h"
#include "blow/latency.h"
#include "blow/progress.h"
#include "printed.h"
#include "profile/profile.h"

/* ---- sums ---- */

/* In flight: 0 at first, 2 after a second, 2, 1, 0. Between two moments it is the mean of both. */
static void
test_sums(void **state)
{
	struct st_flight f = {0};
	(void)state;
	st_flight_tick(&f, 0, 0, 1, 0);
	st_flight_tick(&f, 2, 0, 1, 0.5);
	st_flight_tick(&f, 2, 0, 1, 0);
	st_flight_tick(&f, 4, 3, 2, 0);
	st_flight_tick(&f, 4, 4, 1, 0.25);
	assert_true(fabs(f.seconds - (0 + 1 + 2 + 3 + 0.5)) < 1e-12);
	assert_true(fabs(f.saved - (0.5 + 0.125)) < 1e-12);
	st_flight_begin(&f);
	assert_true(f.seconds == 0 && f.saved == 0);
	st_flight_tick(&f, 6, 4, 1, 0);
	assert_true(f.seconds == 2); /* nothing is known of the moment before */
}

/* Three requests had begun before they were counted: the least difference shows it. */
static void
test_begun_before(void **state)
{
	struct st_flight f = {0};
	(void)state;
	st_flight_tick(&f, 0, 1, 1, 0);
	st_flight_tick(&f, 0, 3, 1, 0);
	assert_int_equal(f.least, -3);
	st_flight_begin(&f);
	st_flight_tick(&f, 5, 3, 1, 0);
	assert_true(f.seconds == 5);
}

static void
test_probes(void **state)
{
	struct st_flight_probes p = {0};
	(void)state;
	for (uint32_t i = 0; i < ST_FLIGHT_PROBES; i++)
		assert_true(st_flight_add(&p, i));
	assert_false(st_flight_add(&p, 100));
	assert_int_equal(p.n, ST_FLIGHT_PROBES);
}

/* ---- simulation ---- */

enum { SOURCE, FIRST, MOST = 4, REQUESTS = 100 };
static const double tick = 1e-4;

struct pipeline {
	size_t threads, target;
	double work[MOST]; /* of the source, the sleep before a request; 0: it begins one when one
	                      ends */
	int at_once;       /* if the source does not sleep: requests in flight, a constant */
};

struct simulation {
	const struct pipeline *p;
	struct st_debts d;
	struct st_flight flight;
	double left[MOST];
	bool busy[MOST], stands[MOST];
	int queue[MOST]; /* requests that wait for the stage */
	uint64_t begun, ended;
};

static void
begin_request(struct simulation *s)
{
	s->begun++;
	s->queue[FIRST]++;
}

static enum st_debt_state
state_of(struct simulation *s, size_t i)
{
	const double owed = st_debt_owed(&s->d, i);
	const bool sleeps = i == SOURCE && s->left[i] > 0;
	if (s->stands[i] && owed <= 0)
		s->stands[i] = false;
	else if (!s->stands[i] && owed >= tick && !sleeps && s->busy[i])
		s->stands[i] = true;
	return s->stands[i] ? ST_DEBT_STANDS
	       : sleeps     ? ST_DEBT_WAITS
	       : s->busy[i] ? ST_DEBT_RUNS
	                    : ST_DEBT_BLOCKED;
}

/* The work of a thread that has nothing left to do in its step. */
static void
finish_step(struct simulation *s, size_t i)
{
	if (i == SOURCE) {
		begin_request(s);
		s->left[i] = s->p->work[i];
		return;
	}
	s->busy[i] = false;
	if (i + 1 < s->p->threads) {
		s->queue[i + 1]++;
		return;
	}
	s->ended++;
	if (s->p->at_once)
		begin_request(s);
}

static void
step_thread(struct simulation *s, size_t i)
{
	const enum st_debt_state state = s->d.threads.v[i].state;
	if (state == ST_DEBT_RUNS || state == ST_DEBT_WAITS)
		s->left[i] -= tick;
	if (state == ST_DEBT_RUNS && s->left[i] <= tick / 2)
		finish_step(s, i);
	if (i != SOURCE && !s->busy[i] && s->queue[i]) {
		s->queue[i]--;
		s->busy[i] = true;
		s->left[i] = s->p->work[i];
	}
}

static void
step_all(struct simulation *s)
{
	const double all = s->d.all;
	for (size_t i = 0; i < s->p->threads; i++) {
		struct st_debt_thread *t = &s->d.threads.v[i];
		t->state = state_of(s, i);
		t->ran = t->state == ST_DEBT_RUNS ? tick : 0;
		t->in_function = i == s->p->target && t->ran > 0;
	}
	st_debt_tick(&s->d, tick);
	for (size_t i = 0; i < s->p->threads; i++)
		step_thread(s, i);
	st_flight_tick(&s->flight, s->begun, s->ended, tick, s->d.all - all);
}

/* The mean latency in seconds, with what the speed-up saves taken away. */
static double
simulate(const struct pipeline *p, double speedup)
{
	struct simulation s = {.p = p, .d = {.speedup = speedup}};
	for (size_t i = 0; i < p->threads; i++)
		assert_int_equal(st_debt_thread(&s.d, (int64_t)i, SIZE_MAX), i);
	s.left[SOURCE] = p->work[SOURCE];
	s.busy[SOURCE] = !p->at_once;
	for (int i = 0; i < p->at_once; i++)
		begin_request(&s);
	while (s.ended < REQUESTS)
		step_all(&s);
	const double latency = (s.flight.seconds - s.flight.saved) / (double)s.ended;
	st_debts_free(&s.d);
	return latency;
}

static const double speedups[] = {0, 0.25, 0.5, 0.75, 0.9};
enum { N_SPEEDUPS = sizeof speedups / sizeof *speedups };

static void
assert_predicts(const struct pipeline *p, double error)
{
	for (size_t i = 0; i < N_SPEEDUPS; i++) {
		struct pipeline faster = *p;
		faster.work[p->target] *= 1 - speedups[i];
		const double predicted = simulate(p, speedups[i]), real = simulate(&faster, 0);
		if (fabs(predicted - real) > error + 3 * tick * (double)p->threads)
			fail_msg("target %zu, speed-up %g: predicted %g s, not %g s", p->target,
			         speedups[i], predicted, real);
	}
}

/* One stage is never idle for long enough that requests wait: 6 ms every 10 ms. */
static void
test_one_stage(void **state)
{
	const struct pipeline p = {.threads = 2, .target = FIRST, .work = {0.010, 0.006}};
	(void)state;
	assert_true(fabs(simulate(&p, 0) - 0.006) < 3 * tick);
	assert_true(fabs(simulate(&p, 0.5) - 0.003) < 3 * tick);
	assert_predicts(&p, 0);
}

/* Two stages of 3 and 5 ms, a request every 10 ms: each saves its share. */
static void
test_two_stages(void **state)
{
	struct pipeline p = {.threads = 3, .work = {0.010, 0.003, 0.005}};
	(void)state;
	for (p.target = FIRST; p.target < 3; p.target++)
		assert_predicts(&p, 0);
}

/* Four requests are always in flight: the latency is four times that of the slowest stage, and the
 * others bring nothing. */
static void
test_bottleneck(void **state)
{
	struct pipeline p = {.threads = 3, .target = 2, .work = {0, 0.002, 0.010}, .at_once = 4};
	(void)state;
	assert_true(fabs(simulate(&p, 0) - 0.040) < 0.002);
	assert_true(fabs(simulate(&p, 0.5) - 0.020) < 0.002);
	assert_predicts(&p, 0.001);
	p.target = FIRST;
	for (size_t i = 0; i < N_SPEEDUPS; i++)
		assert_true(fabs(simulate(&p, speedups[i]) - 0.040) < 0.002);
	assert_predicts(&p, 0.001);
}

/* ---- samples ---- */

enum { BEGIN, END, F, FROM_TO, OF_END };

static struct st_blow
campaign_with(const struct st_blow_points *points)
{
	static const char *const names[] = {"begin", "end", "f"};
	struct st_blow b = {.causal = true, .cut = true};
	for (int i = 0; i < 3; i++) {
		struct st_blow_function *f = ST_PUSH(&b.functions);
		assert_non_null(f);
		*f = (struct st_blow_function){
		        .name = names[i], .raw_name = names[i], .image = "/bin/p", .calls = 10};
	}
	const struct st_blow_criteria criteria = {.all = true, .points = points};
	assert_int_equal(st_blow_points_list(points, &b), 0);
	assert_int_equal(st_blow_choose(&b, &criteria), 1);
	return b;
}

static void
add_latencies(struct st_blow_points *p)
{
	struct st_error e;
	assert_int_equal(st_blow_latency_add(p, "begin,end", &e), 0);
	assert_int_equal(st_blow_latency_add(p, "e?d", &e), 0);
}

/* A run of a second in which ten requests ended, after 200 ms each in flight, of which a speed-up
 * has saved `saved` seconds over all of them. */
static void
add_run_of(struct st_blow *b, const struct st_blow_points *p, uint32_t function, double saved)
{
	struct st_flight *flights = st_blow_flights_new(p);
	assert_non_null(flights);
	flights[0].seconds = 2;
	flights[0].saved = flights[1].saved = saved;
	struct st_blow_run *r = ST_PUSH(&b->runs);
	assert_non_null(r);
	*r = (struct st_blow_run){
	        .function = function, .noise = {ST_BLOW_VIRTUAL, 50}, .total_ns = 1000000000};
	for (uint32_t thread = 2; thread--;) {
		struct st_blow_sample *s = ST_PUSH(&r->samples);
		assert_non_null(s);
		*s = (struct st_blow_sample){
		        .function = END, .thread = thread, .calls = 5, .ns = 400000000};
	}
	assert_int_equal(st_blow_flights_end(flights, p, b, r), 0);
	free(flights);
}

static void
test_samples(void **state)
{
	struct st_blow_points p = {0};
	(void)state;
	add_latencies(&p);
	struct st_blow b = campaign_with(&p);
	assert_int_equal(b.functions.v[BEGIN].progress, ST_BLOW_BEGINS);
	assert_int_equal(b.functions.v[END].progress, ST_BLOW_CALLS);
	assert_int_equal(b.functions.v[F].progress, ST_BLOW_NO_POINT);
	assert_int_equal(b.functions.v[FROM_TO].progress, ST_BLOW_LATENCY);
	assert_int_equal(st_blow_points(&b), 3); /* END, and both latencies */
	assert_int_equal(st_blow_point_at(&b, 0), END);
	assert_int_equal(st_blow_point_at(&b, 1), FROM_TO);
	assert_int_equal(st_blow_point_at(&b, 2), OF_END);
	assert_string_equal(st_blow_point_name(&b, FROM_TO), "latency from begin to end");
	assert_string_equal(st_blow_point_name(&b, OF_END), "latency of e?d");
	add_run_of(&b, &p, ST_BLOW_NONE, 0);
	add_run_of(&b, &p, ST_BLOW_NONE, 0);
	add_run_of(&b, &p, F, 0.4);
	/* Little's law: two in flight, ten per second, 200 ms. */
	struct st_blow_mean_latency l = st_blow_latency_of(&b, FROM_TO);
	assert_int_equal(l.runs, 2);
	assert_true(fabs(l.ns - 200e6) < 1 && fabs(l.in_flight - 2) < 1e-9);
	assert_true(fabs(l.rate - 10) < 1e-9 && fabs(l.sd) < 1e-6);
	/* The calls themselves took 80 ms each. */
	l = st_blow_latency_of(&b, OF_END);
	assert_true(fabs(l.ns - 80e6) < 1 && fabs(l.in_flight - 0.8) < 1e-9);
	struct st_blow_gain g;
	assert_int_equal(st_blow_find_gain(&b, FROM_TO, F, 50, &g), 0);
	assert_true(fabs(g.at - 0.2) < 1e-9); /* 0.4 of 2 s */
	assert_int_equal(st_blow_find_gain(&b, OF_END, F, 50, &g), 0);
	assert_true(fabs(g.at - 0.5) < 1e-9); /* 0.4 of 0.8 s */
	g = st_blow_point_gain(&b, OF_END, g);
	assert_true(fabs(g.at - 0.5) < 1e-9); /* a time, no throughput */
	st_blow_free(&b);
	st_blow_points_free(&p);
}

/* A latency cannot be below 0, and a run without requests has none. */
static void
test_limits(void **state)
{
	struct st_blow_points p = {0};
	struct st_blow_gain g;
	(void)state;
	add_latencies(&p);
	struct st_blow b = campaign_with(&p);
	add_run_of(&b, &p, ST_BLOW_NONE, 0);
	add_run_of(&b, &p, ST_BLOW_NONE, 0);
	add_run_of(&b, &p, F, 3);
	assert_int_equal(st_blow_find_gain(&b, FROM_TO, F, 50, &g), 0);
	assert_true(fabs(g.at - 1) < 1e-9);
	struct st_flight *flights = st_blow_flights_new(&p);
	struct st_blow_run r = {.function = F, .total_ns = 1000};
	assert_non_null(flights);
	assert_int_equal(st_blow_flights_end(flights, &p, &b, &r), 0);
	assert_int_equal(r.samples.n, 0);
	free(flights);
	st_blow_free(&b);
	st_blow_points_free(&p);
}

/* The report, as text and from a profile. */
static void
test_report(void **state)
{
	const struct st_blow_view view = {0};
	struct st_blow_points p = {0};
	struct st_blow back;
	struct st_error e;
	(void)state;
	add_latencies(&p);
	struct st_blow b = campaign_with(&p);
	add_run_of(&b, &p, ST_BLOW_NONE, 0);
	add_run_of(&b, &p, ST_BLOW_NONE, 0);
	add_run_of(&b, &p, F, 0.4);
	struct st_profile *profile = st_profile_new();
	assert_non_null(profile);
	st_profile_add_tool(profile, ST_BLOW_TOOL);
	assert_int_equal(st_blow_put(&b, profile), 0);
	assert_int_equal(st_blow_read(&back, profile, &e), 0);
	for (size_t i = 0; i < b.functions.n; i++)
		assert_int_equal(back.functions.v[i].progress, b.functions.v[i].progress);
	char *printed = print_campaign(&back, &view);
	assert_non_null(strstr(printed,
	                       "\nlatency from begin to end: 200 ms without a speed-up, "
	                       "standard deviation 0.0 %; 10 per second, 2 in flight (2 runs)\n"));
	assert_non_null(strstr(printed, "\ndecrease of the latency from begin to end in %, with"));
	assert_non_null(strstr(printed, "20.0 (20.0 to 20.0)"));
	assert_null(strstr(printed, "progress by begin"));
	free(printed);
	st_blow_free(&back);
	st_profile_free(profile);
	st_blow_free(&b);
	st_blow_points_free(&p);
}

static void
assert_refused(const char *value, const char *message)
{
	struct st_blow_points p = {0};
	struct st_error e = {0};
	assert_int_equal(st_blow_latency_add(&p, value, &e), -1);
	assert_int_equal(e.code, ST_EXIT_USAGE);
	if (strncmp(e.text, message, strlen(message)) != 0)
		fail_msg("'%s' does not begin with '%s'", e.text, message);
	assert_true(st_blow_points_empty(&p));
	st_blow_points_free(&p);
}

static void
test_names(void **state)
{
	struct st_blow_points p = {0};
	struct st_error e;
	(void)state;
	assert_refused("a,b,c", "--latency takes a function, or the functions BEGIN,END");
	assert_refused("", "--latency needs a name");
	assert_refused("a,", "--latency needs a name");
	assert_int_equal(st_blow_latency_add(&p, "f(int, int)", &e), 0);
	assert_true(p.latencies.v[0].same && !p.latencies.v[0].end.n);
	assert_false(st_blow_points_empty(&p));
	assert_int_equal(st_blow_points_function(&p, "f(int, int)", "_Z1fii"), ST_BLOW_CALLS);
	/* A function may be a progress point and the begin of a latency at the same time. */
	assert_int_equal(st_blow_points_add(&p, "g", &e), 0);
	assert_int_equal(st_blow_latency_add(&p, "g,h", &e), 0);
	assert_int_equal(st_blow_points_function(&p, "g", "g"), ST_BLOW_CALLS);
	assert_int_equal(st_blow_points_function(&p, "h", "h"), ST_BLOW_CALLS);
	st_blow_points_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_sums),       cmocka_unit_test(test_begun_before),
	        cmocka_unit_test(test_probes),     cmocka_unit_test(test_one_stage),
	        cmocka_unit_test(test_two_stages), cmocka_unit_test(test_bottleneck),
	        cmocka_unit_test(test_samples),    cmocka_unit_test(test_limits),
	        cmocka_unit_test(test_report),     cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
