/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blow/indicators.h"

#include <math.h>

#include "stats/least_squares.h"
#include "stats/robust.h"

static double
quotient(double a, double b)
{
	return b > 0 || b < 0 ? a / b : NAN;
}

struct st_blow_influence
st_blow_influence_of(double total, double total_before, double function, double function_before)
{
	const double runtime = quotient(total, total_before),
	             degraded = quotient(function, function_before);
	return (struct st_blow_influence){runtime, degraded, quotient(runtime, degraded)};
}

struct st_blow_speedup
st_blow_speedup_of(const struct st_blow_thread *t)
{
	struct st_blow_speedup s;
	s.noise = quotient(t->time - t->time_before, (double)t->others);
	/* This is time_before + (calls_in + others) * noise - time, but exactly 0 if the thread
	 * does not call the function: the sum may be greater than that by rounding. */
	s.speedup = (double)t->calls_in * s.noise;
	s.runtime = quotient(s.speedup, t->time_before);
	s.function = quotient(s.noise, t->mean);
	s.score = quotient(s.runtime, s.function);
	return s;
}

double
st_blow_fitness(const double *indicators, size_t n)
{
	double sum = 0;
	size_t known = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(indicators[i])) {
			sum += indicators[i];
			known++;
		}
	return known ? sum / (double)known : 0;
}

/* ---- the slope ---- */

const char *
st_blow_measurable_text(enum st_blow_measurable m)
{
	static const char *const texts[] = {
	        [ST_BLOW_MEASURED] = "measured",
	        [ST_BLOW_TOO_FEW] = "too few runs",
	        [ST_BLOW_NOT_CALLED] = "not called without noise",
	        [ST_BLOW_NOISE_LOST] = "noise lost in the spread",
	        [ST_BLOW_NO_VARIANCE] = "no spread to judge by",
	};
	return texts[m];
}

/* Statistics of the runs without noise. */
struct quiet_runs {
	size_t n;
	double function, total; /* means */
	double deviation;       /* standard deviation of the function's time */
	double relative;        /* relative variance of the mean of function / total */
};

static struct quiet_runs
quiet_runs_of(const struct st_blow_point *v, size_t n)
{
	struct quiet_runs q = {0};
	double shares = 0, squares = 0, function_squares = 0;
	for (size_t i = 0; i < n; i++) {
		if (v[i].noisy)
			continue;
		q.n++;
		q.function += v[i].function;
		q.total += v[i].total;
		shares += quotient(v[i].function, v[i].total);
	}
	if (!q.n)
		return q;
	q.function /= (double)q.n;
	q.total /= (double)q.n;
	shares /= (double)q.n;
	for (size_t i = 0; i < n; i++) {
		if (v[i].noisy)
			continue;
		const double off = quotient(v[i].function, v[i].total) - shares,
		             function = v[i].function - q.function;
		squares += off * off;
		function_squares += function * function;
	}
	if (q.n > 1) {
		const double freedom = (double)q.n - 1;
		q.deviation = sqrt(function_squares / freedom);
		q.relative = squares / freedom / (double)q.n / (shares * shares);
	}
	return q;
}

/* Fits a straight line: the relative change of the run's time over that of the function's. */
static st_status
fit_line(const struct st_blow_point *v, size_t n, const struct quiet_runs *q, struct st_ls *fit)
{
	struct st_ls_rows rows;
	st_ls_begin(&rows, 2);
	for (size_t i = 0; i < n; i++) {
		const double x[] = {1, v[i].function / q->function - 1};
		st_ls_add(&rows, x, v[i].total / q->total - 1);
	}
	return st_ls_solve(&rows, fit, NULL);
}

static enum st_blow_measurable
judge_points(const struct st_blow_point *v, size_t n, const struct quiet_runs *q)
{
	enum { LEAST_QUIET = 3 };
	size_t noisy = 0;
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		if (v[i].noisy) {
			noisy++;
			sum += v[i].function;
		}
	if (q->n < LEAST_QUIET || !noisy)
		return ST_BLOW_TOO_FEW;
	if (!(q->function > 0) || !(q->total > 0))
		return ST_BLOW_NOT_CALLED;
	/* Four standard deviations: chance alone hardly makes such a change. */
	const double changed = sum / (double)noisy - q->function;
	return changed > 4 * q->deviation ? ST_BLOW_MEASURED : ST_BLOW_NOISE_LOST;
}

struct st_blow_slope
st_blow_slope_of(const struct st_blow_point *points, size_t n)
{
	const struct quiet_runs q = quiet_runs_of(points, n);
	struct st_blow_slope s = {judge_points(points, n, &q), NAN, NAN, NAN, q.n, n - q.n};
	struct st_ls fit;
	if (s.state)
		return s;
	if (fit_line(points, n, &q, &fit) || isnan(fit.s)) {
		s.state = ST_BLOW_NO_VARIANCE;
		return s;
	}
	s.at = fit.b[1];
	/* The standard error of the line, and that of the baseline, by which both axes are divided.
	 */
	const double error = sqrt(fit.se[1] * fit.se[1] + s.at * s.at * q.relative),
	             half = st_student(0.95, (double)(n - 2)) * error;
	s.low = s.at - half;
	s.high = s.at + half;
	return s;
}

/* ---- virtual speed-up ---- */

static double
run_squares(const double *v, size_t n, double mean)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum;
}

struct st_blow_gain
st_blow_gain_of(const double *without, size_t n_without, const double *with, size_t n_with)
{
	struct st_blow_gain g = {n_with, NAN, NAN, NAN, false};
	if (n_without < 2 || !n_with)
		return g;
	const double before = st_mean(without, n_without), after = st_mean(with, n_with);
	const double freedom = (double)(n_without + n_with - 2),
	             variance = (run_squares(without, n_without, before) +
	                         run_squares(with, n_with, after)) /
	                        freedom,
	             ratio = quotient(after, before);
	g.at = 1 - ratio;
	const double half =
	        st_student(0.95, freedom) *
	        sqrt(variance * (1 / (double)n_with + ratio * ratio / (double)n_without)) / before;
	g.low = g.at - half;
	g.high = g.at + half;
	return g;
}
