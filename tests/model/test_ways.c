/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways in which points are taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "model/ways.h"

enum { N = 60 };
static double x[N], line[N], step[N], bend[N];
static const struct st_points lines = {.x = x, .y = line, .n = N},
                              steps = {.x = x, .y = step, .n = N},
                              bends = {.x = x, .y = bend, .n = N};

/* In an order that is not that of x. */
static int
make_data(void **state)
{
	uint64_t seed = 3;
	(void)state;
	for (int i = 0; i < N; i++) {
		const double noise = (double)st_random_below(&seed, 1000) / 1000 - 0.5;
		x[i] = i * 7 % N + 1;
		line[i] = 100 + 5 * x[i] + noise;
		step[i] = (x[i] <= N / 2 ? 100 : 300) + noise;
		bend[i] = (x[i] <= N / 2 ? 100 : 100 + 9 * (x[i] - N / 2)) + noise;
	}
	return 0;
}

static void
model(enum st_way way, const struct st_points *points, struct st_segments *s)
{
	const struct st_way_choice w = {.way = way,
	                                .parts = 3,
	                                .kinds = ST_GROWTHS_ALL,
	                                .noise = ST_NOISE_ADDITIVE,
	                                .level = 0.95,
	                                .seed = 1};
	struct st_error e;
	if (st_ways_model(&w, points, s, &e))
		fail_msg("%s", e.text);
}

static void
all_points(void **state)
{
	static const enum st_way ways[] = {ST_WAY_FULL, ST_WAY_ITERATIVE, ST_WAY_INITIAL_GUESS};
	struct st_segments s;
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		model(ways[i], &lines, &s);
		assert_int_equal(s.list.n, 1);
		assert_int_equal(s.list.v[0].best, ST_GROWTH_LINEAR);
		assert_int_equal(s.list.v[0].models[ST_GROWTH_LINEAR].n, N);
		assert_true(ways[i] == ST_WAY_FULL || s.list.v[0].fitted == 1u << ST_GROWTH_LINEAR);
		st_segments_free(&s);
	}
}

static void
intervals(void **state)
{
	struct st_segments s;
	(void)state;
	model(ST_WAY_INTERVAL, &lines, &s);
	assert_int_equal(s.list.n, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct st_regression *m = &s.list.v[i].models[ST_GROWTH_LINEAR];
		assert_int_equal(m->n, N / 3);
		assert_true(m->x_start == 1 + 20.0 * (double)i &&
		            m->x_end == 20 + 20.0 * (double)i);
		assert_true(fabs(m->b[1] - 5) < 0.1);
	}
	st_segments_free(&s);
}

/* A step is split at the step, a bend at the bend; a line is not. */
static void
bisections(void **state)
{
	struct st_segments s;
	(void)state;
	model(ST_WAY_BISECTION, &steps, &s);
	assert_int_equal(s.list.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(s.list.v[i].best, ST_GROWTH_CONSTANT);
		assert_true(fabs(s.list.v[i].models[ST_GROWTH_CONSTANT].b[0] - (i ? 300 : 100)) <
		            1);
	}
	assert_true(s.list.v[0].models[0].x_end == N / 2);
	assert_true(s.list.v[1].models[0].x_start == N / 2 + 1);
	st_segments_free(&s);
	model(ST_WAY_BISECTION, &bends, &s);
	assert_int_equal(s.list.n, 2);
	assert_int_equal(s.list.v[0].best, ST_GROWTH_CONSTANT);
	assert_int_equal(s.list.v[1].best, ST_GROWTH_LINEAR);
	st_segments_free(&s);
	model(ST_WAY_BISECTION, &lines, &s);
	assert_int_equal(s.list.n, 1);
	st_segments_free(&s);
}

/* Points of one x stay together. */
static void
equal_x(void **state)
{
	double two[12], y[12];
	const struct st_points points = {.x = two, .y = y, .n = 12};
	struct st_segments s;
	(void)state;
	for (int i = 0; i < 12; i++) {
		two[i] = i < 7 ? 1 + i / 3 * 0.5 : 9 + i;
		y[i] = i < 7 ? 5 : 2 * two[i];
	}
	model(ST_WAY_BISECTION, &points, &s);
	for (size_t i = 1; i < s.list.n; i++)
		assert_true(s.list.v[i].models[0].x_start > s.list.v[i - 1].models[0].x_end);
	st_segments_free(&s);
}

static void
same_seed_same_result(void **state)
{
	struct st_segments a, b;
	(void)state;
	model(ST_WAY_ITERATIVE, &bends, &a);
	model(ST_WAY_ITERATIVE, &bends, &b);
	assert_int_equal(a.list.v[0].fitted, b.list.v[0].fitted);
	st_segments_free(&a);
	st_segments_free(&b);
}

static void
too_few(void **state)
{
	const struct st_way_choice w = {
	        .way = ST_WAY_INTERVAL, .parts = 3, .kinds = ST_GROWTHS_ALL, .level = 0.95};
	const struct st_points few = {.x = x, .y = line, .n = 6};
	struct st_segments s;
	struct st_error e;
	(void)state;
	assert_int_equal(st_ways_model(&w, &few, &s, &e), -1);
	assert_string_equal(e.text, "a model needs at least 3 points, and there are 2");
	st_segments_free(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_points),
	        cmocka_unit_test(intervals),
	        cmocka_unit_test(bisections),
	        cmocka_unit_test(equal_x),
	        cmocka_unit_test(same_seed_same_result),
	        cmocka_unit_test(too_few),
	};
	return cmocka_run_group_tests(tests, make_data, NULL);
}
