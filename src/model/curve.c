/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Powers and exponentials: y = a0 exp(a1 u), where u is ln x or x, less its mean so that the two
 * parameters have little to do with each other.
 */
#include <math.h>
#include <stdlib.h>

#include "model/regression.h"
#include "stats/least_squares.h"

struct curve {
	double *u, *y, *w; /* w: weights */
	size_t n;
	double centre, scale; /* of y, so that squares neither overflow nor vanish */
};

static st_status
take_curve_points(struct curve *c, enum st_growth kind, const struct st_points *points)
{
	long double sum = 0;
	*c = (struct curve){.u = malloc((points->n + 1) * sizeof(double)),
	                    .y = malloc((points->n + 1) * sizeof(double)),
	                    .w = malloc((points->n + 1) * sizeof(double))};
	if (!c->u || !c->y || !c->w)
		return ST_FAILED;
	for (size_t i = 0; i < points->n; i++) {
		if (kind == ST_GROWTH_POWER && !(points->x[i] > 0))
			continue;
		c->u[c->n] = kind == ST_GROWTH_POWER ? log(points->x[i]) : points->x[i];
		c->y[c->n] = points->y[i];
		c->w[c->n] = points->weights ? points->weights[i] : 1;
		c->scale = fmax(c->scale, fabs(c->y[c->n]));
		sum += c->u[c->n++];
	}
	c->centre = (double)(sum / (long double)c->n);
	for (size_t i = 0; i < c->n; i++)
		c->u[i] -= c->centre;
	return ST_OK;
}

/* The line through the logarithms of the positive ones. */
static st_status
fit_curve_logarithms(const struct curve *c, enum st_growth kind, struct st_regression *r,
                     double a[2], struct st_error *e)
{
	struct st_ls_rows rows;
	struct st_ls fit;
	st_ls_begin(&rows, 2);
	for (size_t i = 0; i < c->n; i++)
		if (c->y[i] > 0)
			st_ls_add(&rows, (double[]){1, c->u[i]}, log(c->y[i]));
	if (rows.n < 2)
		return st_fail(e, ST_EXIT_FAILED,
		               "fewer than two points have a y that is greater than 0");
	if (st_ls_solve(&rows, &fit, e))
		return ST_FAILED;
	a[0] = exp(fit.b[0]);
	a[1] = fit.b[1];
	r->logarithms = (struct st_logarithmic_fit){
	        .b = {exp(fit.b[0] - fit.b[1] * c->centre),
	              kind == ST_GROWTH_POWER ? fit.b[1] : exp(fit.b[1])},
	        .r_square = fit.tss > 0 ? 1 - fit.sse / fit.tss : NAN,
	        .n = rows.n};
	return ST_OK;
}

static double
curve_squares(const struct curve *c, const double a[2])
{
	double sum = 0;
	for (size_t i = 0; i < c->n; i++) {
		const double residual = c->y[i] - a[0] * exp(a[1] * c->u[i]);
		sum += c->w[i] * residual * residual;
	}
	return sum;
}

/* The step that Gauss and Newton take from a, shortened by `damping` (Levenberg, Marquardt). */
static void
curve_step(const struct curve *c, const double a[2], double damping, double step[2])
{
	double m00 = 0, m01 = 0, m11 = 0, g0 = 0, g1 = 0;
	for (size_t i = 0; i < c->n; i++) {
		const double e = exp(a[1] * c->u[i]), d = a[0] * e * c->u[i];
		const double residual = c->y[i] - a[0] * e;
		m00 += c->w[i] * e * e;
		m01 += c->w[i] * e * d;
		m11 += c->w[i] * d * d;
		g0 += c->w[i] * e * residual;
		g1 += c->w[i] * d * residual;
	}
	m00 *= 1 + damping;
	m11 *= 1 + damping;
	const double determinant = m00 * m11 - m01 * m01;
	step[0] = (m11 * g0 - m01 * g1) / determinant;
	step[1] = (m00 * g1 - m01 * g0) / determinant;
}

/* Down to the least squares, from the line through the logarithms. */
static void
improve_curve(const struct curve *c, double a[2])
{
	enum { MOST_STEPS = 200 };
	const double small = 1e-14, largest_damping = 1e12;
	double squares = curve_squares(c, a), damping = 1e-4, step[2];
	for (int i = 0; i < MOST_STEPS && damping < largest_damping; i++) {
		curve_step(c, a, damping, step);
		const double next[2] = {a[0] + step[0], a[1] + step[1]};
		const double now = curve_squares(c, next);
		if (!(now <= squares)) {
			damping *= 10;
			continue;
		}
		const bool done = fabs(step[0]) <= small * fabs(a[0]) + small * 1e-6 * c->scale &&
		                  fabs(step[1]) <= small * (fabs(a[1]) + 1e-6);
		a[0] = next[0];
		a[1] = next[1];
		squares = now;
		damping /= 10;
		if (done)
			return;
	}
}

/* Standard errors of the parameters, by linearisation. */
static st_status
linearise_curve(const struct curve *c, struct st_regression *r, struct st_error *e)
{
	struct st_ls_rows rows;
	struct st_ls fit;
	double mean = 0, tss = 0;
	st_ls_begin(&rows, 2);
	r->sse = 0;
	for (size_t i = 0; i < c->n; i++) {
		const double value = exp(r->a[1] * c->u[i]), residual = c->y[i] - r->a[0] * value;
		const double distance = c->y[i] - mean;
		mean += distance / (double)(i + 1);
		tss += distance * (c->y[i] - mean);
		const double root = sqrt(c->w[i]);
		r->sse += c->w[i] * residual * residual;
		st_ls_add(&rows, (double[]){root * value, root * r->a[0] * value * c->u[i]},
		          root * residual);
	}
	r->tss = tss;
	r->squares = r->sse;
	if (st_ls_solve(&rows, &fit, e))
		return ST_FAILED;
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 2; k++)
			r->inverse[i][k] = fit.inverse[i][k];
	return ST_OK;
}

st_status
st_regression_curve(enum st_growth kind, const struct st_points *points, struct st_regression *r,
                    struct st_error *e)
{
	struct curve c;
	int status = take_curve_points(&c, kind, points);
	if (status)
		st_cause(e, ST_EXIT_FAILED, "no memory left for the model");
	else
		status = fit_curve_logarithms(&c, kind, r, r->a, e);
	if (!status) {
		improve_curve(&c, r->a);
		r->centre = c.centre;
		status = linearise_curve(&c, r, e);
	}
	if (!status && (!isfinite(r->sse) || !isfinite(r->a[0]) || !isfinite(r->a[1])))
		status = st_fail(e, ST_EXIT_FAILED, "the points are too far from such a curve");
	free(c.u);
	free(c.y);
	free(c.w);
	return status;
}
