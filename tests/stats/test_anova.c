/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "stats/anova.h"

/* To nine digits, or absolutely to 1e-9 where the number is small. */
static void
assert_near(double is, double wanted)
{
	assert_true(fabs(is - wanted) <= 1e-9 * fmax(1, fabs(wanted)));
}

static void
assert_row(const struct st_anova_row *row, size_t df, double ss, double f, double p)
{
	assert_int_equal(row->df, df);
	assert_near(row->ss, ss);
	assert_near(row->ms, ss / (double)df);
	assert_near(row->f, f);
	assert_near(row->p, p);
}

/*
 * The life of batteries by material and temperature, four each: table 5.1 of Montgomery, Design and
 * Analysis of Experiments. Sums of squares are rational; with two or four degrees of freedom over
 * 27, P has a closed form: x^13.5 or x^13.5 (1 + 13.5 (1 - x)), x = 27 / (27 + df F).
 */
static void
two_factors(void **state)
{
	static const double life[3][3][4] = {
	        {{130, 155, 74, 180}, {34, 40, 80, 75}, {20, 70, 82, 58}},
	        {{150, 188, 159, 126}, {136, 122, 106, 115}, {25, 70, 58, 45}},
	        {{138, 110, 168, 160}, {174, 120, 150, 139}, {96, 104, 82, 60}}};
	static const size_t levels[3] = {3, 3, 1};
	struct st_anova_point points[36];
	struct st_anova a;
	struct st_error e;
	(void)state;
	for (size_t i = 0; i < 36; i++)
		points[i] = (struct st_anova_point){i / 12, i / 4 % 3, 0,
		                                    life[i / 12][i / 4 % 3][i % 4]};
	assert_int_equal(st_anova(points, 36, levels, &a, &e), 0);
	const double residual = 72923.0 / 4 / 27;
	const double ss[3] = {192307.0 / 18, 704137.0 / 18, 86524.0 / 9};
	double f[3], p[3];
	for (int i = 0; i < 3; i++) {
		double df = i == 2 ? 4 : 2;
		f[i] = ss[i] / df / residual;
		double x = 27 / (27 + df * f[i]);
		p[i] = pow(x, 13.5) * (i == 2 ? 1 + 13.5 * (1 - x) : 1);
	}
	assert_row(&a.rows[ST_ANOVA_FIRST], 2, ss[0], f[0], p[0]);
	assert_row(&a.rows[ST_ANOVA_SECOND], 2, ss[1], f[1], p[1]);
	assert_row(&a.rows[ST_ANOVA_INTERACTION], 4, ss[2], f[2], p[2]);
	assert_near(p[0], 0.0019760825909075257); /* 0.0020, 0.0000002 and 0.0186 in the book */
	assert_near(p[2], 0.018611168188941724);
	assert_int_equal(a.rows[ST_ANOVA_BLOCK].df, 0);
	assert_int_equal(a.rows[ST_ANOVA_RESIDUALS].df, 27);
	assert_near(a.rows[ST_ANOVA_RESIDUALS].ss, 18230.75);
	assert_near(a.total, 2795291.0 / 36);
}

/* Targets on a screen, by clutter and filter, the operators as blocks: example 5.6 there. */
static struct st_anova_point radar[24];
static const size_t radar_levels[3] = {3, 2, 4};

static int
make_radar(void **state)
{
	static const double seen[3][8] = {{90, 86, 96, 84, 100, 92, 92, 81},
	                                  {102, 87, 106, 90, 105, 97, 96, 80},
	                                  {114, 93, 112, 91, 108, 95, 98, 83}};
	(void)state;
	for (size_t i = 0; i < 24; i++)
		radar[i] = (struct st_anova_point){i / 8, i % 2, i % 8 / 2, seen[i / 8][i % 8]};
	return 0;
}

static void
blocks(void **state)
{
	struct st_anova a;
	struct st_error e;
	(void)state;
	assert_int_equal(st_anova(radar, 24, radar_levels, &a, &e), 0);
	const double residual = 499.0 / 3 / 15, clutter = 4027.0 / 12 / 2 / residual,
	             both = 925.0 / 12 / 2 / residual;
	assert_row(&a.rows[ST_ANOVA_FIRST], 2, 4027.0 / 12, clutter,
	           pow(15 / (15 + 2 * clutter), 7.5));
	assert_row(&a.rows[ST_ANOVA_INTERACTION], 2, 925.0 / 12, both,
	           pow(15 / (15 + 2 * both), 7.5));
	/* P by the closed form of Student's distribution with 15 degrees of freedom. */
	assert_row(&a.rows[ST_ANOVA_SECOND], 1, 3200.0 / 3, 3200.0 / 3 / residual,
	           6.446792666370271e-08);
	assert_true(fabs(a.rows[ST_ANOVA_SECOND].p / 6.446792666370271e-08 - 1) < 1e-6);
	assert_int_equal(a.rows[ST_ANOVA_BLOCK].df, 3);
	assert_near(a.rows[ST_ANOVA_BLOCK].ss, 2413.0 / 6);
	assert_near(a.rows[ST_ANOVA_BLOCK].f, 2413.0 / 6 / 3 / residual);
	assert_int_equal(a.rows[ST_ANOVA_RESIDUALS].df, 15);
	assert_near(a.rows[ST_ANOVA_RESIDUALS].ss, 499.0 / 3);
	assert_near(a.total, 12287.0 / 6);
}

/* Neither the order of the points nor a constant added to all of them makes a difference. */
static void
order_and_origin(void **state)
{
	struct st_anova a, b;
	struct st_anova_point moved[24];
	struct st_error e;
	(void)state;
	for (size_t i = 0; i < 24; i++) {
		moved[i] = radar[i * 7 % 24];
		moved[i].y += 1e6;
	}
	assert_int_equal(st_anova(radar, 24, radar_levels, &a, &e), 0);
	assert_int_equal(st_anova(moved, 24, radar_levels, &b, &e), 0);
	for (int i = 0; i < ST_ANOVA_SOURCES; i++) {
		assert_int_equal(a.rows[i].df, b.rows[i].df);
		assert_near(b.rows[i].ss, a.rows[i].ss);
		assert_near(b.rows[i].p, a.rows[i].p);
	}
}

/*
 * By hand: 2 x 2, two each: 1 3 | 5 7 / 2 4 | 10 12. Means of the rows 4 and 7, of the columns 2.5
 * and 8.5, of all 5.5; of the cells 2, 6, 3, 11.
 */
static void
by_hand(void **state)
{
	static const size_t levels[3] = {2, 2, 1};
	static const double y[8] = {1, 3, 5, 7, 2, 4, 10, 12};
	struct st_anova_point points[8];
	struct st_anova a;
	struct st_error e;
	(void)state;
	for (size_t i = 0; i < 8; i++)
		points[i] = (struct st_anova_point){i / 4, i / 2 % 2, 0, y[i]};
	assert_int_equal(st_anova(points, 8, levels, &a, &e), 0);
	assert_near(a.rows[ST_ANOVA_FIRST].ss, 18);
	assert_near(a.rows[ST_ANOVA_FIRST].f, 9);
	assert_near(a.rows[ST_ANOVA_SECOND].ss, 72);
	assert_near(a.rows[ST_ANOVA_INTERACTION].ss, 8);
	assert_near(a.rows[ST_ANOVA_INTERACTION].f, 4);
	assert_near(a.rows[ST_ANOVA_RESIDUALS].ss, 8);
	/* F with 1 and 4 degrees of freedom: 1 - u (3 - u^2) / 2, u = sqrt(F / (F + 4)). */
	double u = sqrt(9.0 / 13);
	assert_near(a.rows[ST_ANOVA_FIRST].p, 1 - u * (3 - u * u) / 2);
}

static void
nothing_varies(void **state)
{
	struct st_anova_point same[24];
	struct st_anova a;
	struct st_error e;
	(void)state;
	memcpy(same, radar, sizeof same);
	for (size_t i = 0; i < 24; i++)
		same[i].y = 0.1;
	assert_int_equal(st_anova(same, 24, radar_levels, &a, &e), 0);
	for (int i = 0; i < ST_ANOVA_RESIDUALS; i++) {
		assert_true(a.rows[i].ss == 0 && a.rows[i].f == 0);
		assert_true(a.rows[i].p == 1);
	}
}

/* What the one factor explains whole leaves nothing to compare it with. */
static void
all_is_explained(void **state)
{
	struct st_anova_point points[24];
	struct st_anova a;
	struct st_error e;
	(void)state;
	memcpy(points, radar, sizeof points);
	for (size_t i = 0; i < 24; i++)
		points[i].y = 0.1 + 0.7 * (double)points[i].first;
	assert_int_equal(st_anova(points, 24, radar_levels, &a, &e), 0);
	assert_true(isinf(a.rows[ST_ANOVA_FIRST].f) && a.rows[ST_ANOVA_FIRST].p == 0);
	assert_true(a.rows[ST_ANOVA_SECOND].f == 0 && a.rows[ST_ANOVA_SECOND].p == 1);
	assert_true(a.rows[ST_ANOVA_RESIDUALS].ss == 0);
}

static void
refused(void **state)
{
	static const size_t small[3] = {2, 2, 1}, none[3] = {2, 0, 1};
	struct st_anova_point points[24];
	struct st_anova a;
	struct st_error e;
	(void)state;
	memcpy(points, radar, sizeof points);
	assert_int_equal(st_anova(points, 23, radar_levels, &a, &e), -1);
	assert_string_equal(e.text, "the combinations of the factors' levels have not been "
	                            "measured equally often");
	points[3] = points[4];
	assert_int_equal(st_anova(points, 24, radar_levels, &a, &e), -1);
	points[0].y = NAN;
	assert_int_equal(st_anova(points, 24, radar_levels, &a, &e), -1);
	points[0] = (struct st_anova_point){.first = 3, .y = 1};
	assert_int_equal(st_anova(points, 24, radar_levels, &a, &e), -1);
	assert_string_equal(e.text, "a point of the experiment is no number, or at no level");
	assert_int_equal(st_anova(points, 4, small, &a, &e), -1);
	assert_string_equal(e.text, "too few runs for an analysis of variance: measure with more "
	                            "repetitions");
	assert_int_equal(st_anova(points, 0, small, &a, &e), -1);
	assert_int_equal(st_anova(points, 4, none, &a, &e), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(two_factors),      cmocka_unit_test(blocks),
	        cmocka_unit_test(order_and_origin), cmocka_unit_test(by_hand),
	        cmocka_unit_test(nothing_varies),   cmocka_unit_test(all_is_explained),
	        cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests(tests, make_radar, NULL);
}
