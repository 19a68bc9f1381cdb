/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/choice.h"

#include <math.h>
#include <stdlib.h>

static bool
has_kind(unsigned kinds, enum st_growth kind)
{
	return kinds & 1u << kind;
}

static void
fit_all_kinds(struct st_choice *c, const struct st_points *points, unsigned kinds,
              struct st_error *first)
{
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++) {
		struct st_error e = {0};
		if (!has_kind(kinds, kind))
			continue;
		if (!st_regression_fit(kind, points, &c->models[kind], &e))
			c->fitted |= 1u << kind;
		else if (!first->code)
			*first = e;
	}
}

/* The points that all of the kinds can have, malloc'ed; NULL: all points are. */
static double *
common_points(const struct st_choice *c, const struct st_points *all, struct st_points *common,
              st_status *status)
{
	*common = *all;
	*status = ST_OK;
	bool some = false;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		some |= has_kind(c->fitted, kind) && c->models[kind].left_out > 0;
	if (!some)
		return NULL;
	double *both = malloc(3 * all->n * sizeof *both);
	if (!both) {
		*status = ST_FAILED;
		return NULL;
	}
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++)
		if (all->x[i] > 0) {
			both[n] = all->x[i];
			both[all->n + n] = all->y[i];
			both[2 * all->n + n++] = all->weights ? all->weights[i] : 1;
		}
	*common = (struct st_points){.x = both,
	                             .y = both + all->n,
	                             .n = n,
	                             .weights = all->weights ? both + 2 * all->n : NULL,
	                             .level = all->level};
	return both;
}

/* The criterion of each kind, of the same points for all. */
static st_status
judge_kinds(struct st_choice *c, const struct st_points *points)
{
	struct st_points common;
	st_status status;
	double *held = common_points(c, points, &common, &status);
	c->common = common.n;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT && !status; kind++) {
		struct st_regression again;
		c->aicc[kind] = INFINITY;
		if (!has_kind(c->fitted, kind))
			continue;
		if (!held || c->models[kind].left_out)
			c->aicc[kind] = c->models[kind].aicc;
		else if (!st_regression_fit(kind, &common, &again, NULL))
			c->aicc[kind] = again.aicc;
	}
	free(held);
	return status;
}

/* ST_GROWTH_COUNT: none of them can be judged. */
static enum st_growth
least_kind(const struct st_choice *c, unsigned kinds)
{
	enum st_growth best = ST_GROWTH_COUNT;
	double least = INFINITY;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		if (has_kind(kinds, kind) && c->aicc[kind] < least) {
			least = c->aicc[kind];
			best = kind;
		}
	return best;
}

static double
least_aicc(const struct st_choice *c)
{
	double least = INFINITY;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		least = fmin(least, c->aicc[kind]);
	return least;
}

static void
weigh_kinds(struct st_choice *c)
{
	const double least = least_aicc(c);
	double sum = 0;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT && isfinite(least); kind++) {
		c->weight[kind] = exp(-(c->aicc[kind] - least) / 2);
		sum += c->weight[kind];
		if (c->aicc[kind] - least <= ST_PLAUSIBLE_AICC)
			c->plausible |= 1u << kind;
	}
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		c->weight[kind] = sum > 0 ? c->weight[kind] / sum : 0;
}

/* Of kinds that contain each other the simplest remains. */
static void
drop_richer_kinds(struct st_choice *c)
{
	const unsigned all = c->plausible;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		for (enum st_growth other = 0; other < ST_GROWTH_COUNT; other++)
			if (has_kind(all, other) && st_growth_contains(kind, other))
				c->plausible &= ~(1u << kind);
}

/* A power that may well be a polynomial tells nothing else than the polynomial does. */
static void
drop_power_like_polynomial(struct st_choice *c)
{
	static const struct {
		enum st_growth kind;
		double degree;
	} polynomials[] = {{ST_GROWTH_LINEAR, 1}, {ST_GROWTH_QUADRATIC, 2}, {ST_GROWTH_CUBIC, 3}};
	if (!has_kind(c->plausible, ST_GROWTH_POWER))
		return;
	const struct st_interval b =
	        st_regression_parameter(&c->models[ST_GROWTH_POWER], 1, c->level);
	for (size_t i = 0; i < sizeof polynomials / sizeof *polynomials; i++)
		if (has_kind(c->plausible, polynomials[i].kind) && b.low <= polynomials[i].degree &&
		    polynomials[i].degree <= b.high)
			c->plausible &= ~(1u << ST_GROWTH_POWER);
}

/* By the line through ln x, or x where there is no logarithm. */
static void
find_growth(struct st_choice *c, const struct st_points *points)
{
	struct st_regression line;
	c->growth = (struct st_interval){NAN, NAN, NAN};
	if ((st_regression_fit(ST_GROWTH_LOGARITHMIC, points, &line, NULL) || line.left_out) &&
	    st_regression_fit(ST_GROWTH_LINEAR, points, &line, NULL))
		return;
	const double mean = fabs(st_mean(points->y, points->n));
	const double range = line.kind == ST_GROWTH_LOGARITHMIC ? log(line.x_end / line.x_start)
	                                                        : line.x_end - line.x_start;
	const struct st_interval slope = st_regression_parameter(&line, 1, c->level);
	c->growth = (struct st_interval){slope.at * range / mean, slope.low * range / mean,
	                                 slope.high * range / mean};
}

static bool
constant_is_shown(const struct st_choice *c)
{
	return c->growth.low >= -ST_CHANGE_NONE && c->growth.high <= ST_CHANGE_NONE;
}

static void
decide_kind(struct st_choice *c)
{
	drop_richer_kinds(c);
	drop_power_like_polynomial(c);
	c->best = least_kind(c, c->plausible);
	c->told = c->plausible && !(c->plausible & (c->plausible - 1)) &&
	          (c->best != ST_GROWTH_CONSTANT || constant_is_shown(c));
}

/* Without an offset where a power is as good as the best kind. */
static void
choose_exponent(struct st_choice *c, const struct st_points *points)
{
	const bool offset = !(c->aicc[ST_GROWTH_POWER] - least_aicc(c) <= ST_PLAUSIBLE_AICC);
	if (!has_kind(c->fitted, ST_GROWTH_POWER) ||
	    st_exponent_find(points, offset, c->level, &c->exponent, NULL))
		c->exponent = (struct st_exponent){0};
}

/* Fits and judges all kinds. */
static st_status
fit_kinds(struct st_choice *c, const struct st_points *points, unsigned kinds, struct st_error *e)
{
	struct st_error first = {0};
	c->fitted = 0;
	fit_all_kinds(c, points, kinds, &first);
	if (!c->fitted) {
		if (e)
			*e = first;
		return ST_FAILED;
	}
	return judge_kinds(c, points) ? st_fail(e, ST_EXIT_FAILED, "no memory left for the models")
	                              : ST_OK;
}

/* Fits again with weights: by a curve through logarithms first, then by the best kind. */
static st_status
fit_proportional(struct st_choice *c, struct st_points *points, unsigned kinds, double *weights,
                 struct st_error *e)
{
	double r_square_perun[ST_GROWTH_COUNT];
	if (st_noise_weigh(points, NULL, weights, &points->level))
		return ST_OK; /* y is 0 or less somewhere: nothing is proportional to it */
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		r_square_perun[kind] =
		        has_kind(c->fitted, kind) ? c->models[kind].r_square_perun : NAN;
	points->r_square_perun = r_square_perun;
	points->weights = weights;
	c->proportional = true;
	st_status status = fit_kinds(c, points, kinds, e);
	const enum st_growth best = status ? ST_GROWTH_COUNT : least_kind(c, c->fitted);
	if (best != ST_GROWTH_COUNT && !c->models[best].left_out &&
	    !st_noise_weigh(points, &c->models[best], weights, &points->level))
		status = fit_kinds(c, points, kinds, e);
	points->r_square_perun = NULL;
	return status;
}

static bool
some_x_differ(const struct st_points *points)
{
	for (size_t i = 1; i < points->n; i++)
		if (points->x[i] != points->x[0])
			return true;
	return false;
}

static st_status
make_choice(struct st_choice *c, const struct st_points *all, unsigned kinds, enum st_noise noise,
            double level, bool with_exponent, struct st_error *e)
{
	struct st_points points = *all;
	if (all->n > 1 && !some_x_differ(all))
		return st_fail(e, ST_EXIT_FAILED,
		               "all points have one x, %g: nothing can follow from it", all->x[0]);
	*c = (struct st_choice){.level = level, .best = ST_GROWTH_COUNT};
	if (fit_kinds(c, &points, kinds, e))
		return ST_FAILED;
	double *weights = malloc((points.n + 1) * sizeof *weights);
	st_status status =
	        weights ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the models");
	if (!status &&
	    (noise == ST_NOISE_PROPORTIONAL ||
	     (noise == ST_NOISE_AUTO && st_noise_is_proportional(&points, least_aicc(c)))))
		status = fit_proportional(c, &points, kinds, weights, e);
	if (!status) {
		weigh_kinds(c);
		find_growth(c, &points);
		decide_kind(c);
		if (with_exponent)
			choose_exponent(c, &points);
	}
	free(weights);
	return status;
}

st_status
st_choice_make(struct st_choice *c, const struct st_points *all, unsigned kinds,
               enum st_noise noise, double level, struct st_error *e)
{
	return make_choice(c, all, kinds, noise, level, true, e);
}

st_status
st_choice_kind(struct st_choice *c, const struct st_points *all, double level, struct st_error *e)
{
	return make_choice(c, all, ST_GROWTHS_ALL, ST_NOISE_AUTO, level, false, e);
}

enum st_growth
st_choice_by_r_square(const struct st_choice *c)
{
	enum st_growth best = ST_GROWTH_COUNT;
	double most = 0;
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		if (has_kind(c->fitted, kind) && c->models[kind].r_square_perun > most) {
			most = c->models[kind].r_square_perun;
			best = kind;
		}
	return best;
}
