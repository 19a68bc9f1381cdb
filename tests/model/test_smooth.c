/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models without a formula: by hand, and as NumPy, pandas and R have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "model/smooth.h"

static void
assert_near(double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9 * fmax(1, fabs(wanted))))
		fail_msg("%.15g instead of %.15g", is, wanted);
}

static const double x[8] = {1, 2, 3, 4, 5, 7, 9, 12},
                    y[8] = {2.1, 3.9, 8.2, 15.1, 27, 52.3, 80.9, 150.4};
static const struct st_points points = {.x = x, .y = y, .n = 8};

static void
fit(const char *text, const struct st_points *of, struct st_smooth *m)
{
	struct st_smooth_choice choice;
	struct st_error e;
	assert_int_equal(st_smooth_parse(text, &choice, &e), 0);
	if (st_smooth_fit(&choice, of, m, &e))
		fail_msg("%s", e.text);
}

/* Bins of width 5.5: five points (means 11.26), three (94.5333). */
static void
regressogram(void **state)
{
	struct st_smooth m;
	(void)state;
	fit("regressogram:bins=2", &points, &m);
	assert_near(m.fitted[0], 56.3 / 5);
	assert_near(m.fitted[7], 283.6 / 3);
	assert_near(m.degrees, 2);
	assert_near(m.rest, 6);
	assert_near(st_smooth_band(&m, 6.4, 0.95, false).at, 56.3 / 5);
	assert_near(st_smooth_band(&m, 6.6, 0.95, false).at, 283.6 / 3);
	assert_true(isnan(st_smooth_band(&m, 0.9, 0.95, false).at));
	/* The band of a mean: t(6) s / sqrt(5). */
	const struct st_interval band = st_smooth_band(&m, 2, 0.95, false);
	assert_near(band.high - band.at, gsl_cdf_tdist_Qinv(0.025, 6) * m.s / sqrt(5));
	st_smooth_free(&m);
	fit("regressogram:bins=2,average=median", &points, &m);
	assert_near(m.fitted[0], 8.2);
	assert_near(m.fitted[7], 80.9);
	assert_true(isnan(m.degrees) && isnan(m.r_square_cv) && m.r_square < 1);
	assert_true(isnan(st_smooth_band(&m, 2, 0.95, false).low));
	st_smooth_free(&m);
	fit("regressogram:bins=11", &points, &m); /* x = 6 is in a bin without points */
	assert_true(isnan(st_smooth_band(&m, 6.5, 0.95, false).at));
	assert_int_equal(m.with_value, 8);
	st_smooth_free(&m);
}

/* pandas: rolling(3, center=True, min_periods=1).mean(), rolling(3).mean(), .median(),
 * ewm(com=0.5). */
static void
moving(void **state)
{
	struct st_smooth m;
	(void)state;
	fit("moving:window=3", &points, &m);
	assert_near(m.fitted[0], 3);
	assert_near(m.fitted[1], 14.2 / 3);
	assert_near(m.fitted[7], (80.9 + 150.4) / 2);
	assert_near(st_smooth_band(&m, 1.5, 0.95, false).at, (3 + 14.2 / 3) / 2);
	assert_near(m.degrees, 1.0 / 2 + 6.0 / 3 + 1.0 / 2);
	st_smooth_free(&m);
	fit("moving:window=3,place=trailing", &points, &m);
	assert_true(isnan(m.fitted[0]) && isnan(m.fitted[1]));
	assert_near(m.fitted[2], 14.2 / 3);
	assert_int_equal(m.with_value, 6);
	st_smooth_free(&m);
	fit("moving:window=3,average=median,place=trailing,min=2", &points, &m);
	assert_true(isnan(m.fitted[0]));
	assert_near(m.fitted[1], 3);
	assert_near(m.fitted[7], 80.9);
	st_smooth_free(&m);
	static const double from_0[3] = {0, 1, 2};
	const struct st_points three = {.x = from_0, .y = from_0, .n = 3};
	fit("moving:com=0.5", &three, &m); /* pandas' example: 0, 0.75, 1.615385 */
	assert_near(m.fitted[0], 0);
	assert_near(m.fitted[1], 0.75);
	assert_near(m.fitted[2], 21.0 / 13);
	assert_near(m.choice.alpha, 2.0 / 3);
	st_smooth_free(&m);
	fit("moving:halflife=2", &three, &m);
	assert_near(m.choice.alpha, 1 - sqrt(0.5));
	st_smooth_free(&m);
	fit("moving:span=3", &three, &m);
	assert_near(m.choice.alpha, 0.5);
	st_smooth_free(&m);
	fit("moving:window=3,shape=triang", &points, &m); /* 1/2 1 1/2 */
	assert_near(m.fitted[1], (2.1 + 2 * 3.9 + 8.2) / 4);
	st_smooth_free(&m);
}

/* Until r^2 is 0.88: noise gives windows of one point. */
static void
automatic_window(void **state)
{
	static double line[200], smooth[200], noise[200];
	uint64_t seed = 1;
	struct st_smooth m;
	(void)state;
	for (int i = 0; i < 200; i++) {
		line[i] = i;
		smooth[i] = sin(i * 0.02);
		noise[i] = (double)(st_random_next(&seed) >> 11);
	}
	fit("moving", &(struct st_points){.x = line, .y = smooth, .n = 200}, &m);
	assert_int_equal(m.choice.window, 10);
	st_smooth_free(&m);
	fit("moving", &(struct st_points){.x = line, .y = noise, .n = 200}, &m);
	assert_int_equal(m.choice.window, 1);
	assert_near(m.r_square, 1);
	st_smooth_free(&m);
}

/* At 3 with bandwidth 2 and Epanechnikov's kernel, points 2, 3 and 4 count 9/16, 3/4 and 9/16. */
static void
kernel_by_hand(void **state)
{
	struct st_smooth m;
	(void)state;
	fit("kernel:bandwidth=2,kernel=epanechnikov,degree=0", &points, &m);
	assert_near(m.fitted[2], (0.5625 * 3.9 + 0.75 * 8.2 + 0.5625 * 15.1) / 1.875);
	assert_near(m.fitted[0], (0.75 * 2.1 + 0.5625 * 3.9) / 1.3125);
	assert_near(m.fitted[7], 150.4);
	st_smooth_free(&m);
	fit("kernel:bandwidth=2,kernel=epanechnikov", &points, &m); /* a line through two points */
	assert_near(m.fitted[0], 2.1);
	assert_near(st_smooth_band(&m, 1.0, 0.95, false).at, 2.1);
	st_smooth_free(&m);
	double on_line[8];
	for (int i = 0; i < 8; i++)
		on_line[i] = 3 - 2 * x[i];
	const struct st_points straight = {.x = x, .y = on_line, .n = 8};
	fit("kernel:bandwidth=3", &straight, &m); /* local lines have a line exactly */
	for (int i = 0; i < 8; i++)
		assert_near(m.fitted[i], on_line[i]);
	st_smooth_free(&m);
}

/* R: loess(y ~ x, span = 0.75, degree = 1 and 2, surface = "direct"). */
static void
loess_as_r_has_it(void **state)
{
	static const double wanted[2][8] = {
	        {-0.161269960371189, 5.171724709374074, 10.786908852506128, 17.096300110758033,
	         28.410083858657071, 53.661285256384886, 89.201506090202116, 146.278178672900992},
	        {2.25796791354567, 3.58491385618762, 8.00974320932981, 15.41211454246755,
	         26.03303641686766, 52.03496818006052, 82.69340580861761, 150.11765168961799}};
	(void)state;
	for (int degree = 1; degree <= 2; degree++) {
		struct st_smooth m;
		fit(degree == 1 ? "loess" : "loess:degree=2,span=0.75", &points, &m);
		for (int i = 0; i < 8; i++)
			assert_near(m.fitted[i], wanted[degree - 1][i]);
		st_smooth_free(&m);
	}
}

enum { MANY = 120 };

static double
wave(double at)
{
	return 10 + 3 * sin(at / 8);
}

static void
make_wave(uint64_t seed, double wx[MANY], double wy[MANY])
{
	for (int i = 0; i < MANY; i++) {
		wx[i] = i * 0.5;
		const double u = ((double)(st_random_next(&seed) >> 11) + 0.5) * 0x1p-53;
		wy[i] = wave(wx[i]) + 0.5 * gsl_cdf_ugaussian_Pinv(u);
	}
}

/* Every rule finds the wave: what is left is noise of 0.5. */
static void
known_function_is_recovered(void **state)
{
	static const char *const specs[] = {"kernel",
	                                    "kernel:bandwidth=aicc,degree=0",
	                                    "kernel:kernel=tricube",
	                                    "kernel:kernel=epanechnikov",
	                                    "kernel:kernel=epanechnikov4",
	                                    "kernel:kernel=normal4",
	                                    "loess:span=0.2,degree=2",
	                                    "moving:window=9",
	                                    "regressogram:bins=20"};
	double wx[MANY], wy[MANY];
	(void)state;
	make_wave(5, wx, wy);
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct st_smooth m;
		double far = 0;
		fit(specs[i], &(struct st_points){.x = wx, .y = wy, .n = MANY}, &m);
		for (int k = 10; k < MANY - 10; k++)
			far = fmax(far, fabs(m.fitted[k] - wave(wx[k])));
		if (far > 0.8 || m.s < 0.4 || m.s > 0.6 || m.r_square_cv > m.r_square)
			fail_msg("%s: off by %g, s %g", specs[i], far, m.s);
		st_smooth_free(&m);
	}
}

/* Leverages give what leaving each point out gives. */
static void
cross_validation_is_exact(void **state)
{
	struct st_smooth all;
	double sum = 0;
	(void)state;
	fit("kernel:bandwidth=2.5,degree=0", &points, &all);
	for (int out = 0; out < 8; out++) {
		double rx[7], ry[7], w = 0, value = 0;
		for (int i = 0, n = 0; i < 8; i++)
			if (i != out) {
				rx[n] = x[i];
				ry[n++] = y[i];
			}
		for (int i = 0; i < 7; i++) {
			const double u = (rx[i] - x[out]) / 2.5, k = exp(-u * u / 2);
			w += k;
			value += k * ry[i];
		}
		sum += pow(y[out] - value / w, 2);
	}
	assert_near(all.r_square_cv, 1 - sum / all.tss);
	st_smooth_free(&all);
}

/* 95 % bands have a new point in 93 to 97 % of 2000 simulated data sets. */
static void
smooth_bands_cover(void **state)
{
	int point = 0, curve = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		double wx[MANY], wy[MANY];
		struct st_smooth m;
		uint64_t other = seed * 7919;
		make_wave(seed * 104729, wx, wy);
		fit("kernel:bandwidth=1.5", &(struct st_points){.x = wx, .y = wy, .n = MANY}, &m);
		const double u = ((double)(st_random_next(&other) >> 11) + 0.5) * 0x1p-53;
		const double next = wave(30) + 0.5 * gsl_cdf_ugaussian_Pinv(u);
		const struct st_interval of_point = st_smooth_band(&m, 30, 0.95, true),
		                         of_curve = st_smooth_band(&m, 30, 0.95, false);
		point += of_point.low <= next && next <= of_point.high;
		curve += of_curve.low <= wave(30) && wave(30) <= of_curve.high;
		st_smooth_free(&m);
	}
	if (point < 1860 || point > 1940 || curve < 1860 || curve > 1940)
		fail_msg("point %d, curve %d of 2000", point, curve);
}

static void
many_points_are_thinned(void **state)
{
	enum { N = 1200 };
	static double tx[N], ty[N];
	struct st_smooth m;
	struct st_smooth_choice choice;
	struct st_error e;
	(void)state;
	for (int i = 0; i < N; i++) {
		tx[i] = N - i; /* in any order */
		ty[i] = 5 * tx[i];
	}
	fit("kernel", &(struct st_points){.x = tx, .y = ty, .n = N}, &m);
	assert_true(m.x[0] == 1 && m.r_square > 0.999999);
	st_smooth_free(&m);
	assert_int_equal(st_smooth_parse("loess", &choice, &e), 0);
	assert_int_equal(
	        st_smooth_fit(&choice, &(struct st_points){.x = tx, .y = ty, .n = 5001}, &m, &e),
	        -1);
	assert_string_equal(e.text, "--smooth takes at most 5,000 points, and there are 5,001");
	st_smooth_free(&m);
	assert_int_equal(
	        st_smooth_fit(&choice, &(struct st_points){.x = tx, .y = ty, .n = 2}, &m, &e), -1);
	st_smooth_free(&m);
}

static void
wrong_specifications(void **state)
{
	static const char *const texts[][2] = {
	        {"spline", "--smooth takes regressogram, moving, kernel or loess, not 'spline'"},
	        {"kernel:width=3",
	         "--smooth kernel has no 'width'; it has bandwidth, kernel and degree"},
	        {"kernel:kernel=box",
	         "kernel takes normal, epanechnikov, tricube, epanechnikov4 or normal4, not 'box'"},
	        {"kernel:bandwidth=0", "bandwidth takes a number above 0, not '0'"},
	        {"kernel:bandwidth=wide",
	         "bandwidth takes cv, aicc, scott, silverman or gamma, not 'wide'"},
	        {"kernel:degree=2", "degree takes a number from 0 to 1, not '2'"},
	        {"loess:degree=0", "degree takes a number from 1 to 2, not '0'"},
	        {"moving:alpha=1.5", "alpha takes a number above 0 up to 1, not '1.5'"},
	        {"moving:window", "--smooth moving: 'window' needs a value, window=VALUE"},
	        {"moving:place=left", "place takes centred or trailing, not 'left'"},
	        {"regressogram:average=exponential",
	         "average takes mean or median, not 'exponential'"},
	        {"regressogram:bins=0", "bins takes a number from 1 to 1000000, not '0'"},
	        {"regressogram:", "--smooth regressogram: '' needs a value, =VALUE"}};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct st_smooth_choice choice;
		struct st_error e;
		assert_int_equal(st_smooth_parse(texts[i][0], &choice, &e), -1);
		assert_string_equal(e.text, texts[i][1]);
	}
}

/* What is described can be given again, and gives the same. */
static void
descriptions_are_specifications(void **state)
{
	static const char *const specs[] = {
	        "kernel",       "loess",        "moving",
	        "moving:com=2", "regressogram", "moving:window=3,average=median,place=trailing"};
	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct st_smooth m, again;
		char text[200], full[240], same[200];
		fit(specs[i], &points, &m);
		snprintf(full, sizeof full, "%s:%s", st_smooth_name(&m),
		         st_smooth_describe(&m, text, sizeof text));
		fit(full, &points, &again);
		assert_string_equal(st_smooth_describe(&again, same, sizeof same), text);
		st_smooth_free(&m);
		st_smooth_free(&again);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(regressogram),
	        cmocka_unit_test(moving),
	        cmocka_unit_test(automatic_window),
	        cmocka_unit_test(kernel_by_hand),
	        cmocka_unit_test(loess_as_r_has_it),
	        cmocka_unit_test(known_function_is_recovered),
	        cmocka_unit_test(cross_validation_is_exact),
	        cmocka_unit_test(smooth_bands_cover),
	        cmocka_unit_test(many_points_are_thinned),
	        cmocka_unit_test(wrong_specifications),
	        cmocka_unit_test(descriptions_are_specifications),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
