/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether points scatter alike everywhere, or in proportion to y, as measured times often do: by
 * the likelihood of the best kind, against that of a cubic through the logarithms (the density of y
 * has the factor 1 / y then).
 */
#include <math.h>

#include "model/choice.h"
#include "stats/least_squares.h"

enum { DEGREE = 3, FEWEST = 8 };

static void
logarithmic_row(double x, bool positive, double *row)
{
	const double u = positive ? log(x) : x;
	row[0] = 1;
	for (int i = 1; i <= DEGREE; i++)
		row[i] = row[i - 1] * u;
}

static bool
all_are_positive(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] > 0))
			return false;
	return true;
}

/* With fewer terms where too few x differ. sum: of the logarithms. */
static st_status
fit_through_logarithms(const struct st_points *points, struct st_ls *fit, double *sum)
{
	const bool positive = all_are_positive(points->x, points->n);
	if (points->n < FEWEST || !all_are_positive(points->y, points->n))
		return ST_FAILED;
	for (size_t p = DEGREE + 1; p > 0; p--) {
		struct st_ls_rows rows;
		double row[DEGREE + 1];
		st_ls_begin(&rows, p);
		*sum = 0;
		for (size_t i = 0; i < points->n; i++) {
			logarithmic_row(points->x[i], positive, row);
			st_ls_add(&rows, row, log(points->y[i]));
			*sum += log(points->y[i]);
		}
		if (!st_ls_solve(&rows, fit, NULL))
			return ST_OK;
	}
	return ST_FAILED;
}

bool
st_noise_is_proportional(const struct st_points *points, double aicc)
{
	const double no_noise = 1e-20, evidence = 2;
	struct st_ls fit;
	double sum;
	if (fit_through_logarithms(points, &fit, &sum) || !(fit.sse > no_noise * (double)points->n))
		return false;
	return st_aicc(points->n, fit.sse, fit.p + 1) + 2 * sum + evidence < aicc;
}

st_status
st_noise_weigh(const struct st_points *points, const struct st_regression *model, double *weights,
               double *level)
{
	const bool positive = all_are_positive(points->x, points->n);
	struct st_ls fit = {.p = 0};
	double sum, logarithms = 0;
	if (!model && fit_through_logarithms(points, &fit, &sum))
		return ST_FAILED;
	for (size_t i = 0; i < points->n; i++)
		if (model && !(st_regression_at(model, points->x[i]) > 0))
			return ST_FAILED;
	for (size_t i = 0; i < points->n; i++) {
		double row[DEGREE + 1], y = 0;
		logarithmic_row(points->x[i], positive, row);
		for (size_t k = 0; k < fit.p; k++)
			y += fit.b[k] * row[k];
		weights[i] = model ? log(st_regression_at(model, points->x[i])) : y;
		logarithms += weights[i];
	}
	*level = exp(logarithms / (double)points->n);
	for (size_t i = 0; i < points->n; i++)
		weights[i] = exp(2 * (log(*level) - weights[i]));
	return ST_OK;
}
