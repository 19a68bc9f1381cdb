/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/regression.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "stats/least_squares.h"

enum { FEWEST = 3 };

static bool
is_curve(enum st_growth kind)
{
	return kind == ST_GROWTH_POWER || kind == ST_GROWTH_EXPONENTIAL;
}

void
st_regression_row(enum st_growth kind, double x, double *row)
{
	row[0] = 1;
	switch (kind) {
	case ST_GROWTH_LOGARITHMIC:
		row[1] = log(x);
		break;
	case ST_GROWTH_NLOGN:
		row[1] = x * log(x);
		break;
	default:
		for (size_t i = 1; i < st_growth_parameters(kind); i++)
			row[i] = row[i - 1] * x;
	}
}

/* Whether the kind has a value there. */
static bool
is_in_domain(enum st_growth kind, double x)
{
	return x > 0 || !st_growth_needs_positive(kind);
}

static void
begin_regression(enum st_growth kind, const struct st_points *points, struct st_regression *r)
{
	*r = (struct st_regression){
	        .kind = kind, .x_start = INFINITY, .x_end = -INFINITY, .level = points->level};
	for (size_t i = 0; i < points->n; i++) {
		if (!is_in_domain(kind, points->x[i]))
			continue;
		r->x_start = fmin(r->x_start, points->x[i]);
		r->x_end = fmax(r->x_end, points->x[i]);
		r->n++;
	}
	r->left_out = points->n - r->n;
}

static st_status
fit_linear_in_parameters(const struct st_points *points, struct st_regression *r,
                         struct st_error *e)
{
	struct st_ls_rows rows;
	struct st_ls fit;
	double row[ST_GROWTH_PARAMETERS];
	st_ls_begin(&rows, st_growth_parameters(r->kind));
	for (size_t i = 0; i < points->n; i++)
		if (is_in_domain(r->kind, points->x[i])) {
			const double root = points->weights ? sqrt(points->weights[i]) : 1;
			st_regression_row(r->kind, points->x[i], row);
			for (size_t k = 0; k < rows.p; k++)
				row[k] *= root;
			st_ls_add(&rows, row, root * points->y[i]);
		}
	if (st_ls_solve(&rows, &fit, e))
		return ST_FAILED;
	r->squares = fit.sse;
	r->sse = fit.sse;
	r->tss = fit.tss;
	for (size_t i = 0; i < fit.p; i++) {
		r->b[i] = fit.b[i];
		for (size_t k = 0; k < fit.p; k++)
			r->inverse[i][k] = fit.inverse[i][k];
	}
	return ST_OK;
}

/* 0 / 0, where nothing varies, is no share of anything. */
static double
r_square_of(double sse, double tss)
{
	return tss > 0 ? 1 - sse / tss : NAN;
}

/* How far the points are from what the fit says of them when it does not know them: exact where the
 * kind is linear in its parameters. Allen, Technometrics 16 (1974), 125. */
static double
squares_of_unknown(const struct st_regression *r, const struct st_points *points)
{
	struct st_ls fit = {.p = st_growth_parameters(r->kind)};
	double sum = 0, row[ST_GROWTH_PARAMETERS];
	for (size_t i = 0; i < fit.p; i++)
		for (size_t k = 0; k < fit.p; k++)
			fit.inverse[i][k] = r->inverse[i][k];
	for (size_t i = 0; i < points->n; i++) {
		if (!is_in_domain(r->kind, points->x[i]))
			continue;
		st_regression_gradient(r, points->x[i], row);
		const double residual = points->y[i] - st_regression_at(r, points->x[i]);
		const double weight = points->weights ? points->weights[i] : 1;
		const double left = 1 - weight * st_ls_leverage(&fit, row);
		sum += left > 1e-12 ? residual * residual / (left * left) : 0;
	}
	return sum;
}

/* Of a constant, by the angle of the line through the same points: what Perun has. */
static double
perun_r_square_of_constant(const struct st_points *points)
{
	struct st_regression line;
	if (st_regression_fit(ST_GROWTH_LINEAR, points, &line, NULL) || isnan(line.r_square))
		return 1;
	const double degrees =
	        180 / M_PI * atan2(fabs(line.b[1] * line.x_end), fabs(line.x_end - line.x_start));
	const double angle = degrees / 90;
	const double r_square = angle > 0.01 ? line.r_square * (1 - angle) : 1 - line.r_square;
	return fmin(fmax(r_square, 0), 1);
}

static double
perun_r_square(const struct st_regression *r, const struct st_points *points)
{
	struct st_regression plain;
	if (points->r_square_perun)
		return points->r_square_perun[r->kind];
	if (points->weights) {
		const struct st_points all = {.x = points->x, .y = points->y, .n = points->n};
		return st_regression_fit(r->kind, &all, &plain, NULL) ? NAN : plain.r_square_perun;
	}
	if (r->kind == ST_GROWTH_CONSTANT)
		return perun_r_square_of_constant(points);
	return is_curve(r->kind) ? r->logarithms.r_square : r->r_square;
}

/* The squares that rounding leaves of points that lie on the curve: none are fewer. */
static double
squares_of_rounding(const struct st_points *points)
{
	const double relative = 1e-12;
	double sum = 0;
	for (size_t i = 0; i < points->n; i++)
		sum += points->y[i] * points->y[i] * (points->weights ? points->weights[i] : 1);
	return fmax(sum * relative * relative, 1e-300);
}

/* Where there are weights: the squares without them. */
static void
measure_plain_squares(struct st_regression *r, const struct st_points *points)
{
	double mean = 0;
	size_t n = 0;
	r->sse = r->tss = 0;
	for (size_t i = 0; i < points->n; i++) {
		if (!is_in_domain(r->kind, points->x[i]))
			continue;
		const double residual = points->y[i] - st_regression_at(r, points->x[i]);
		const double distance = points->y[i] - mean;
		mean += distance / (double)++n;
		r->tss += distance * (points->y[i] - mean);
		r->sse += residual * residual;
	}
}

static void
judge_regression(struct st_regression *r, const struct st_points *points)
{
	const size_t p = st_growth_parameters(r->kind);
	const double squares = fmax(r->squares, squares_of_rounding(points));
	if (points->weights)
		measure_plain_squares(r, points);
	r->s = r->n > p ? sqrt(r->squares / (double)(r->n - p)) : NAN;
	r->r_square = r_square_of(r->sse, r->tss);
	r->r_square_cv = r_square_of(squares_of_unknown(r, points), r->tss);
	r->r_square_perun = perun_r_square(r, points);
	r->aicc = st_aicc(r->n, squares, p + 1);
	r->bic = st_bic(r->n, squares, p + 1);
}

/* b from a, and what is known of b. A power's b1 is a1, an exponential's exp(a1). */
static void
name_curve_parameters(struct st_regression *r)
{
	const double lift = exp(-r->a[1] * r->centre);
	r->b[0] = r->a[0] * lift;
	r->b[1] = r->kind == ST_GROWTH_POWER ? r->a[1] : exp(r->a[1]);
	const double of_0[2] = {lift, -r->centre * r->b[0]};
	const struct st_ls fit = {.p = 2,
	                          .inverse = {{r->inverse[0][0], r->inverse[0][1]},
	                                      {r->inverse[1][0], r->inverse[1][1]}}};
	r->se[0] = r->s * sqrt(st_ls_leverage(&fit, of_0));
	r->se[1] = r->s * sqrt(r->inverse[1][1]) * (r->kind == ST_GROWTH_POWER ? 1 : r->b[1]);
}

static void
name_parameters(struct st_regression *r)
{
	const size_t p = st_growth_parameters(r->kind);
	if (is_curve(r->kind))
		name_curve_parameters(r);
	for (size_t i = 0; i < p; i++) {
		if (!is_curve(r->kind))
			r->se[i] = r->s * sqrt(r->inverse[i][i]);
		r->p[i] =
		        r->n > p ? 2 * gsl_cdf_tdist_Q(fabs(r->b[i] / r->se[i]), (double)(r->n - p))
		                 : NAN;
	}
}

st_status
st_regression_fit(enum st_growth kind, const struct st_points *points, struct st_regression *r,
                  struct st_error *e)
{
	begin_regression(kind, points, r);
	if (r->n < FEWEST)
		return st_fail(e, ST_EXIT_FAILED,
		               "a model needs at least %d points, and there %s %zu%s", FEWEST,
		               r->n == 1 ? "is" : "are", r->n,
		               r->left_out ? " whose x is greater than 0" : "");
	if (is_curve(kind) ? st_regression_curve(kind, points, r, e)
	                   : fit_linear_in_parameters(points, r, e))
		return ST_FAILED;
	judge_regression(r, points);
	name_parameters(r);
	return ST_OK;
}

double
st_regression_at(const struct st_regression *r, double x)
{
	double row[ST_GROWTH_PARAMETERS] = {0}, y = 0;
	if (!is_in_domain(r->kind, x))
		return NAN;
	if (is_curve(r->kind))
		return r->a[0] *
		       exp(r->a[1] * ((r->kind == ST_GROWTH_POWER ? log(x) : x) - r->centre));
	st_regression_row(r->kind, x, row);
	for (size_t i = 0; i < st_growth_parameters(r->kind); i++)
		y += r->b[i] * row[i];
	return y;
}

void
st_regression_gradient(const struct st_regression *r, double x, double *row)
{
	if (!is_curve(r->kind)) {
		st_regression_row(r->kind, x, row);
		return;
	}
	const double u = (r->kind == ST_GROWTH_POWER ? log(x) : x) - r->centre;
	row[0] = exp(r->a[1] * u);
	row[1] = r->a[0] * row[0] * u;
}

struct st_interval
st_regression_band(const struct st_regression *r, double x, double level, bool prediction)
{
	struct st_ls fit = {.p = st_growth_parameters(r->kind)};
	double row[ST_GROWTH_PARAMETERS];
	const double y = st_regression_at(r, x);
	if (r->n <= fit.p || isnan(y))
		return (struct st_interval){y, NAN, NAN};
	for (size_t i = 0; i < fit.p; i++)
		for (size_t k = 0; k < fit.p; k++)
			fit.inverse[i][k] = r->inverse[i][k];
	st_regression_gradient(r, x, row);
	const double noise = !prediction ? 0 : r->level > 0 ? y / r->level : 1;
	const double half = st_student(level, (double)(r->n - fit.p)) * r->s *
	                    sqrt(st_ls_leverage(&fit, row) + noise * noise);
	return (struct st_interval){y, y - half, y + half};
}

struct st_interval
st_regression_parameter(const struct st_regression *r, size_t i, double level)
{
	const size_t p = st_growth_parameters(r->kind);
	const double half = r->n > p ? st_student(level, (double)(r->n - p)) * r->se[i] : NAN;
	return (struct st_interval){r->b[i], r->b[i] - half, r->b[i] + half};
}
