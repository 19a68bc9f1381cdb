/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least squares against NIST's certified values, and by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "nist.h"
#include "stats/least_squares.h"

enum { MOST_ROWS = 100 };

static void
assert_digits(double is, double wanted, double relative)
{
	if (!(fabs(is - wanted) <= relative * fabs(wanted)))
		fail_msg("%.15g instead of %.15g", is, wanted);
}

/* A polynomial through points of y and x. */
static void
fit_polynomial(const double (*points)[2], size_t n, size_t p, struct st_ls *fit)
{
	struct st_ls_rows rows;
	struct st_error e;
	st_ls_begin(&rows, p);
	for (size_t i = 0; i < n; i++) {
		double row[ST_LS_MOST] = {1};
		for (size_t k = 1; k < p; k++)
			row[k] = row[k - 1] * points[i][1];
		st_ls_add(&rows, row, points[i][0]);
	}
	assert_int_equal(st_ls_solve(&rows, fit, &e), 0);
	assert_int_equal(fit->n, n);
}

struct certified {
	double b, se;
};

static void
assert_certified(const struct st_ls *fit, const struct certified *wanted, double relative)
{
	for (size_t i = 0; i < fit->p; i++) {
		assert_digits(fit->b[i], wanted[i].b, relative);
		assert_digits(fit->se[i], wanted[i].se, relative);
	}
}

static void
norris_line(void **state)
{
	static const struct certified wanted[] = {{-0.262323073774029, 0.232818234301152},
	                                          {1.00211681802045, 0.429796848199937E-03}};
	struct st_ls fit;
	(void)state;
	fit_polynomial(norris, sizeof norris / sizeof *norris, 2, &fit);
	assert_certified(&fit, wanted, 1e-12);
	assert_digits(fit.s, 0.884796396144373, 1e-12);
	assert_digits(1 - fit.sse / fit.tss, 0.999993745883712, 1e-14);
}

static void
pontius_quadratic(void **state)
{
	static const struct certified wanted[] = {{0.673565789473684E-03, 0.107938612033077E-03},
	                                          {0.732059160401003E-06, 0.157817399981659E-09},
	                                          {-0.316081871345029E-14, 0.486652849992036E-16}};
	struct st_ls fit;
	(void)state;
	fit_polynomial(pontius, sizeof pontius / sizeof *pontius, 3, &fit);
	assert_certified(&fit, wanted, 1e-11);
	assert_digits(fit.s, 0.205177424076185E-03, 1e-11);
}

static void
longley_seven_columns(void **state)
{
	static const struct certified wanted[] = {{-3482258.63459582, 890420.383607373},
	                                          {15.0618722713733, 84.9149257747669},
	                                          {-0.358191792925910E-01, 0.334910077722432E-01},
	                                          {-2.02022980381683, 0.488399681651699},
	                                          {-1.03322686717359, 0.214274163161675},
	                                          {-0.511041056535807E-01, 0.226073200069370},
	                                          {1829.15146461355, 455.478499142212}};
	struct st_ls_rows rows;
	struct st_ls fit;
	struct st_error e;
	(void)state;
	st_ls_begin(&rows, 7);
	for (size_t i = 0; i < sizeof longley / sizeof *longley; i++) {
		double row[7] = {1};
		memcpy(row + 1, longley[i] + 1, 6 * sizeof *row);
		st_ls_add(&rows, row, longley[i][0]);
	}
	assert_int_equal(st_ls_solve(&rows, &fit, &e), 0);
	assert_certified(&fit, wanted, 1e-9);
	assert_digits(fit.s, 304.854073561965, 1e-10);
	/* As R's summary(lm(Employed ~ ., longley)) has it of two of them. */
	assert_digits(st_ls_p(&fit, 1), 0.8631408, 1e-6);
	assert_digits(st_ls_p(&fit, 6), 0.0030368, 1e-4);
}

/* Degree 10, so ill-conditioned that some programs refuse it. */
static void
filip_degree_10(void **state)
{
	static const struct certified wanted[] = {{-1467.48961422980, 298.084530995537},
	                                          {-2772.17959193342, 559.779865474950},
	                                          {-2316.37108160893, 466.477572127796},
	                                          {-1127.97394098372, 227.204274477751},
	                                          {-354.478233703349, 71.6478660875927},
	                                          {-75.1242017393757, 15.2897178747400},
	                                          {-10.8753180355343, 2.23691159816033},
	                                          {-1.06221498588947, 0.221624321934227},
	                                          {-0.670191154593408E-01, 0.142363763154724E-01},
	                                          {-0.246781078275479E-02, 0.535617408889821E-03},
	                                          {-0.402962525080404E-04, 0.896632837373868E-05}};
	struct st_ls_rows rows;
	struct st_ls fit;
	struct st_error e;
	(void)state;
	st_ls_begin(&rows, 11);
	for (size_t i = 0; i < sizeof filip / sizeof *filip; i++) {
		double row[11] = {1};
		for (size_t k = 1; k < 11; k++)
			row[k] = row[k - 1] * filip[i][1];
		st_ls_add(&rows, row, filip[i][0]);
	}
	assert_int_equal(st_ls_solve(&rows, &fit, &e), 0);
	assert_certified(&fit, wanted, 1e-7);
	assert_digits(fit.s, 0.334801051324544E-02, 1e-8);
}

static void
make_wampler(double points[21][2], double scale)
{
	for (int x = 0; x < 21; x++) {
		double sum = 0;
		for (int k = 5; k >= 0; k--)
			sum = sum * x + 1;
		points[x][0] = sum + scale * wampler_errors[x];
		points[x][1] = x;
	}
}

static void
wampler_without_errors(void **state)
{
	double points[21][2];
	struct st_ls fit;
	(void)state;
	make_wampler(points, 0);
	assert_true(points[20][0] == 3368421);
	fit_polynomial(points, 21, 6, &fit);
	for (int i = 0; i < 6; i++) {
		assert_digits(fit.b[i], 1, 1e-9);
		assert_true(fit.se[i] < 1e-9);
	}
	for (int x = 0; x < 21; x++) { /* Wampler2 */
		points[x][0] = 0;
		for (int k = 5; k >= 0; k--)
			points[x][0] = points[x][0] * x * 0.1 + 1;
	}
	fit_polynomial(points, 21, 6, &fit);
	for (int i = 0; i < 6; i++)
		assert_digits(fit.b[i], pow(10, -i), 1e-9);
}

static void
wampler_with_errors(void **state)
{
	static const double se[] = {2152.32624678170, 2363.55173469681, 779.343524331583,
	                            101.475507550350, 5.64566512170752, 0.112324854679312};
	static const double s = 2360.14502379268;
	(void)state;
	for (double scale = 1; scale <= 10000; scale *= 100) {
		double points[21][2];
		struct st_ls fit;
		make_wampler(points, scale);
		fit_polynomial(points, 21, 6, &fit);
		for (int i = 0; i < 6; i++) {
			assert_digits(fit.b[i], 1, 1e-7);
			assert_digits(fit.se[i], se[i] * scale, 1e-9);
		}
		assert_digits(fit.s, s * scale, 1e-10);
	}
}

/* Points 0 1, 1 1, 2 4: the line 0.5 + 1.5 x leaves 0.5, -1, 0.5. */
static void
line_by_hand(void **state)
{
	static const double points[][2] = {{1, 0}, {1, 1}, {4, 2}};
	struct st_ls fit;
	(void)state;
	fit_polynomial(points, 3, 2, &fit);
	assert_digits(fit.b[0], 0.5, 1e-15);
	assert_digits(fit.b[1], 1.5, 1e-15);
	assert_digits(fit.sse, 1.5, 1e-15);
	assert_digits(fit.tss, 6, 1e-15);
	assert_digits(fit.se[1], sqrt(1.5 / 2), 1e-14);
	assert_digits(fit.se[0], sqrt(1.5 * (1.0 / 3 + 1.0 / 2)), 1e-14);
	/* 1/3 + (x - 1)^2 / 2 */
	assert_digits(st_ls_leverage(&fit, (double[]){1, 0}), 5.0 / 6, 1e-14);
	assert_digits(st_ls_leverage(&fit, (double[]){1, 1}), 1.0 / 3, 1e-14);
	/* t with one degree of freedom: p = 1 - 2 atan(t) / pi. */
	assert_digits(st_ls_p(&fit, 1), 1 - 2 * atan(1.5 / fit.se[1]) / M_PI, 1e-12);
	assert_digits(st_student(0.95, 1), tan(M_PI * 0.475), 1e-10);
}

/* A large constant added to y changes the first parameter only. */
static void
far_from_origin(void **state)
{
	static const double points[][2] = {{1e9 + 1, 1e6}, {1e9 + 1, 1e6 + 1}, {1e9 + 4, 1e6 + 2}};
	struct st_ls fit;
	(void)state;
	fit_polynomial(points, 3, 2, &fit);
	assert_digits(fit.b[1], 1.5, 1e-9);
	assert_digits(fit.sse, 1.5, 1e-9);
	assert_digits(fit.tss, 6, 1e-9);
}

static void
criteria(void **state)
{
	(void)state;
	/* R: AIC(lm(y ~ x + I(x^2))) and BIC of eight points, which add n (log(2 pi) + 1). */
	const double more = 8 * (log(2 * M_PI) + 1), sse = 17.2557994432341;
	assert_digits(st_bic(8, sse, 4) + more, 37.1704366572172, 1e-12);
	assert_digits(st_aicc(8, sse, 4) + more, 36.8526704904978 + 2.0 * 4 * 5 / 3, 1e-12);
	assert_true(isinf(st_aicc(5, sse, 4)));
	assert_true(isfinite(st_aicc(6, sse, 4)));
}

static void
refuse(size_t n, const double (*points)[2], const char *why)
{
	struct st_ls_rows rows;
	struct st_ls fit;
	struct st_error e;
	st_ls_begin(&rows, 2);
	for (size_t i = 0; i < n; i++)
		st_ls_add(&rows, (double[]){1, points[i][1]}, points[i][0]);
	assert_int_equal(st_ls_solve(&rows, &fit, &e), -1);
	assert_string_equal(e.text, why);
}

static void
undetermined(void **state)
{
	static const double same[][2] = {{1, 7.3}, {2, 7.3}, {3, 7.3}},
	                    zero[][2] = {{1, 0}, {2, 0}};
	struct st_ls fit;
	(void)state;
	refuse(1, same, "1 points cannot determine 2 parameters");
	refuse(3, same, "the points do not determine the parameters: too few of their x differ");
	refuse(2, zero, "the points do not determine the parameters: too few of their x differ");
	static const double two[][2] = {{1, 1}, {2, 3}};
	fit_polynomial(two, 2, 2, &fit); /* they leave nothing to say how sure that is */
	assert_digits(fit.b[1], 0.5 * 1 + 0, 1e-15);
	assert_true(isnan(fit.s) && isnan(fit.se[0]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(norris_line),
	        cmocka_unit_test(pontius_quadratic),
	        cmocka_unit_test(longley_seven_columns),
	        cmocka_unit_test(filip_degree_10),
	        cmocka_unit_test(wampler_without_errors),
	        cmocka_unit_test(wampler_with_errors),
	        cmocka_unit_test(line_by_hand),
	        cmocka_unit_test(far_from_origin),
	        cmocka_unit_test(criteria),
	        cmocka_unit_test(undetermined),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
