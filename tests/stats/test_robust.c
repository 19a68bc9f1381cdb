/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where values lie and how far they spread: by hand, and as R has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "stats/robust.h"

static void
assert_near(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-12 * fmax(1, fabs(wanted))))
		fail_msg("%.15g instead of %.15g", is, wanted);
}

/* R's help page of wilcox.test has these: depression scale factors (Hollander and Wolfe). */
static const double values[9] = {1.83, 0.5, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.3};

static void
as_r_has_it(void **state)
{
	(void)state;
	assert_near(st_quantile(values, 9, 0.1), 1.14);
	assert_near(st_quantile(values, 9, 0.25), 1.55);
	assert_near(st_median(values, 9), 1.68);
	assert_near(st_quantile(values, 9, 0.9), 2.596);
	assert_near(st_mad(values, 9), 0.29652);
	assert_near(st_iqr(values, 9), 0.33);
	assert_near(st_sd(values, 9), 0.715594158724063);
	assert_near(st_mean(values, 9), 15.9 / 9);
	assert_near(values[0], 1.83); /* they are left alone */
}

static void
ends_and_few(void **state)
{
	static const double two[2] = {4, 2};
	(void)state;
	assert_near(st_quantile(values, 9, 0), 0.5);
	assert_near(st_quantile(values, 9, 1), 3.06);
	assert_near(st_median(two, 2), 3);
	assert_near(st_median(two, 1), 4);
	assert_near(st_mad(two, 1), 0);
	assert_true(isnan(st_sd(two, 1)));
	assert_near(st_sd(two, 2), sqrt(2));
	assert_true(isnan(st_median(two, 0)) && isnan(st_mad(two, 0)) && isnan(st_iqr(two, 0)));
}

/* Neither a large constant nor the order matters. */
static void
origin(void **state)
{
	double moved[9];
	(void)state;
	for (int i = 0; i < 9; i++)
		moved[i] = 1e9 + 1024 * values[8 - i];
	assert_true(fabs(st_sd(moved, 9) / 1024 - 0.715594158724063) < 1e-9);
}

static void
hodges_lehmann(void **state)
{
	static const double pairs[3] = {1, 2, 6}; /* means 1, 1.5, 3.5, 2, 4, 6 */
	double centre;
	(void)state;
	assert_int_equal(st_hodges_lehmann(pairs, 3, &centre), 0);
	assert_near(centre, 2.75);
	assert_int_equal(st_hodges_lehmann(values, 9, &centre), 0);
	assert_near(centre, 1.725);
	assert_int_equal(st_hodges_lehmann(values, 0, &centre), -1);
	assert_int_equal(st_hodges_lehmann(values, ST_PAIRS_MOST, &centre), -1);
}

/* Permeability of chorioamnion at term and at 12 to 26 weeks: R's help page of wilcox.test. */
static void
shift_of_two(void **state)
{
	static const double at_term[] = {0.80, 0.83, 1.89, 1.04, 1.45,
	                                 1.38, 1.91, 1.64, 0.73, 1.46},
	                    early[] = {1.15, 0.88, 0.90, 0.74, 1.21};
	struct st_interval shift;
	(void)state;
	assert_int_equal(st_shift(at_term, 10, early, 5, 0.95, &shift), 0);
	assert_near(shift.at, -0.305);
	assert_near(shift.low, -0.76);
	assert_near(shift.high, 0.15);
	assert_int_equal(st_shift(at_term, 2, early, 2, 0.95, &shift), 0); /* all there is */
	assert_near(shift.low, 0.88 - 0.83);
	assert_near(shift.high, 1.15 - 0.80);
	assert_int_equal(st_shift(at_term, 0, early, 5, 0.95, &shift), -1);
	assert_int_equal(st_shift(at_term, ST_PAIRS_MOST, early, 2, 0.95, &shift), -1);
}

/* The values are those of R's binom.test. */
static void
shares(void **state)
{
	static const struct {
		size_t k, n;
		double low, high;
	} cases[] = {{0, 20, 0, 0.168433471},
	             {1, 10, 0.002528579, 0.445016117},
	             {5, 10, 0.187086028, 0.812913972},
	             {10, 10, 0.691502892, 1}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct st_interval share = st_share(cases[i].k, cases[i].n, 0.95);
		assert_true(share.at == (double)cases[i].k / (double)cases[i].n);
		assert_true(fabs(share.low - cases[i].low) < 1e-8);
		assert_true(fabs(share.high - cases[i].high) < 1e-8);
	}
	const struct st_interval none = st_share(0, 0, 0.95);
	assert_true(none.low == 0 && none.high == 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(as_r_has_it),  cmocka_unit_test(ends_and_few),
	        cmocka_unit_test(origin),       cmocka_unit_test(hodges_lehmann),
	        cmocka_unit_test(shift_of_two), cmocka_unit_test(shares),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
