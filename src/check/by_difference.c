/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The methods `linear-regression`, `polynomial-regression` and `fast-check`: the difference of the
 * curves of both versions, and its growth with x. */
#include <math.h>

#include "check/by_models.h"

/* Perun's limits as shares of the baseline: no change, a possible one. */
#define DIFFERENCE_MAYBE 0.05
#define DIFFERENCE_FULL 0.25
/* A curve explains the difference if its residual is at most this share of the difference. */
#define DIFFERENCE_REST 0.05

enum { DIFFERENCE_SAMPLES = 1000 };

/* The curves at evenly spaced x. */
struct difference {
	const struct st_regression *curves[ST_SIDES];
	double x[DIFFERENCE_SAMPLES], y[DIFFERENCE_SAMPLES]; /* target minus baseline */
	double relative;         /* mean of the difference divided by that of the baseline */
	struct st_interval mean; /* of the difference, with the bands of both curves */
};

static void
sample_difference(struct difference *d, double low, double high)
{
	double whole = 0;
	d->mean = (struct st_interval){0, 0, 0};
	for (int i = 0; i < DIFFERENCE_SAMPLES; i++) {
		d->x[i] = low + (high - low) * i / (DIFFERENCE_SAMPLES - 1);
		const struct st_interval a =
		        st_regression_band(d->curves[ST_A], d->x[i], 0.95, false);
		const struct st_interval b =
		        st_regression_band(d->curves[ST_B], d->x[i], 0.95, false);
		d->y[i] = b.at - a.at;
		whole += a.at / DIFFERENCE_SAMPLES;
		d->mean.at += d->y[i] / DIFFERENCE_SAMPLES;
		d->mean.low += (b.low - a.high) / DIFFERENCE_SAMPLES;
		d->mean.high += (b.high - a.low) / DIFFERENCE_SAMPLES;
	}
	d->relative = whole != 0 ? d->mean.at / fabs(whole) : NAN;
}

/* The residual of a kind as a share of the difference. 1: the kind cannot be fitted. */
static double
rest_of_difference(const struct difference *d, enum st_growth kind)
{
	const struct st_points points = {.x = d->x, .y = d->y, .n = DIFFERENCE_SAMPLES};
	struct st_regression r;
	double all = 0;
	for (int i = 0; i < DIFFERENCE_SAMPLES; i++)
		all += d->y[i] * d->y[i];
	if (st_regression_fit(kind, &points, &r, NULL))
		return 1;
	return all > 0 ? sqrt(r.sse / all) : 0;
}

/* The first of the kinds that explains the difference, or else the one with the least residual. */
static const char *
kind_of_difference(const struct difference *d, const enum st_growth *kinds, size_t n)
{
	enum st_growth best = kinds[0];
	double least = INFINITY;
	for (size_t i = 0; i < n; i++) {
		const double rest = rest_of_difference(d, kinds[i]);
		if (rest <= DIFFERENCE_REST)
			return st_growth_name(kinds[i]);
		if (rest < least) {
			least = rest;
			best = kinds[i];
		}
	}
	return st_growth_name(best);
}

static void
judge_difference(struct st_finding *f, const struct st_check_models *m, struct difference *d,
                 const enum st_growth *kinds, size_t n)
{
	sample_difference(d, m->x_low, m->x_high);
	f->from = f->to = 0;
	for (int i = 0; i < DIFFERENCE_SAMPLES; i++) {
		f->from += st_regression_at(d->curves[ST_A], d->x[i]) / DIFFERENCE_SAMPLES;
		f->to += st_regression_at(d->curves[ST_B], d->x[i]) / DIFFERENCE_SAMPLES;
	}
	f->rate = d->mean;
	f->relative = d->relative;
	f->confidence = fmin(st_check_fit(d->curves[ST_A]), st_check_fit(d->curves[ST_B]));
	f->confidence_kind = "r^2";
	if (isnan(d->relative)) {
		f->cause = "the mean of the baseline is 0";
		return;
	}
	f->kind = st_finding_by_size(d->relative, DIFFERENCE_MAYBE, DIFFERENCE_FULL);
	if (d->mean.low <= 0 && d->mean.high >= 0)
		f->kind = ST_FINDING_NO_CHANGE;
	if (f->kind != ST_FINDING_NO_CHANGE)
		f->type = kind_of_difference(d, kinds, n);
}

static st_status
compare_lines(struct st_finding *f, const struct st_check_models *m, const struct st_check_how *how)
{
	static const enum st_growth kinds[] = {ST_GROWTH_CONSTANT, ST_GROWTH_LINEAR};
	struct difference d = {{&m->choices[ST_A].models[ST_GROWTH_LINEAR],
	                        &m->choices[ST_B].models[ST_GROWTH_LINEAR]},
	                       {0},
	                       {0},
	                       0,
	                       {0, 0, 0}};
	(void)how;
	for (int side = 0; side < ST_SIDES; side++)
		if (!(m->choices[side].fitted & 1u << ST_GROWTH_LINEAR)) {
			f->cause = "no line can be fitted to the points";
			return ST_OK;
		}
	judge_difference(f, m, &d, kinds, sizeof kinds / sizeof *kinds);
	return ST_OK;
}

static st_status
compare_polynomials(struct st_finding *f, const struct st_check_models *m,
                    const struct st_check_how *how)
{
	static const enum st_growth kinds[] = {ST_GROWTH_CONSTANT, ST_GROWTH_LINEAR,
	                                       ST_GROWTH_QUADRATIC, ST_GROWTH_CUBIC};
	struct difference d = {
	        {st_check_best(m, ST_A), st_check_best(m, ST_B)}, {0}, {0}, 0, {0, 0, 0}};
	(void)how;
	judge_difference(f, m, &d, kinds, sizeof kinds / sizeof *kinds);
	return ST_OK;
}

static st_status
compare_fast(struct st_finding *f, const struct st_check_models *m, const struct st_check_how *how)
{
	static const enum st_growth kinds[] = {
	        ST_GROWTH_CONSTANT,  ST_GROWTH_LOGARITHMIC, ST_GROWTH_LINEAR,     ST_GROWTH_NLOGN,
	        ST_GROWTH_QUADRATIC, ST_GROWTH_POWER,       ST_GROWTH_EXPONENTIAL};
	struct difference d = {
	        {st_check_best(m, ST_A), st_check_best(m, ST_B)}, {0}, {0}, 0, {0, 0, 0}};
	(void)how;
	judge_difference(f, m, &d, kinds, sizeof kinds / sizeof *kinds);
	return ST_OK;
}

st_status
st_check_by_linear(struct st_check_result *out, const struct st_check_how *how)
{
	return st_check_each_model(out, ST_CHECK_linear, how, compare_lines);
}

st_status
st_check_by_polynomial(struct st_check_result *out, const struct st_check_how *how)
{
	return st_check_each_model(out, ST_CHECK_polynomial, how, compare_polynomials);
}

st_status
st_check_by_fast(struct st_check_result *out, const struct st_check_how *how)
{
	return st_check_each_model(out, ST_CHECK_fast, how, compare_fast);
}
