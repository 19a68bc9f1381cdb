/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method `integral`: the areas under the models of both versions, over the x that both have. */
#include <math.h>

#include "check/by_models.h"

/* Perun's limits: up to the first no change, up to the second a possible one; the least r^2. */
#define INTEGRAL_MAYBE 0.10
#define INTEGRAL_FULL 0.25
#define INTEGRAL_FIT 0.15

enum { SIMPSON_PARTS = 200 };

/* The area under a curve (which 0), or under the lower (-1) or upper (1) end of its band. */
static double
area_under_regression(const struct st_regression *r, double low, double high, int which)
{
	const double width = (high - low) / SIMPSON_PARTS;
	double sum = 0;
	if (!which)
		return st_regression_integral(r, low, high);
	for (int i = 0; i <= SIMPSON_PARTS; i++) {
		const struct st_interval band = st_regression_band(r, low + i * width, 0.95, false);
		const double weight = i == 0 || i == SIMPSON_PARTS ? 1 : i % 2 ? 4 : 2;
		sum += weight * (which < 0 ? band.low : band.high);
	}
	return sum * width / 3;
}

static double
area_under_smooth(struct st_smooth *m, double low, double high, int which)
{
	const double width = (high - low) / SIMPSON_PARTS;
	double sum = 0;
	for (int i = 0; i <= SIMPSON_PARTS; i++) {
		const struct st_interval band = st_smooth_band(m, low + i * width, 0.95, false);
		const double weight = i == 0 || i == SIMPSON_PARTS ? 1 : i % 2 ? 4 : 2;
		sum += weight * (which < 0 ? band.low : which ? band.high : band.at);
	}
	return sum * width / 3;
}

/* The band holds at each single x, so its area is at least as wide as the interval of the area. */
static struct st_interval
area_of_regression(const struct st_regression *r, double low, double high)
{
	return (struct st_interval){area_under_regression(r, low, high, 0),
	                            area_under_regression(r, low, high, -1),
	                            area_under_regression(r, low, high, 1)};
}

static void
judge_areas(struct st_finding *f, const struct st_interval *a, const struct st_interval *b)
{
	f->from = a->at;
	f->to = b->at;
	f->rate = (struct st_interval){b->at - a->at, b->low - a->high, b->high - a->low};
	f->relative = a->at != 0 ? f->rate.at / fabs(a->at) : NAN;
	if (isnan(f->relative)) {
		f->cause = "the area of the baseline is 0, or has no value";
		return;
	}
	f->kind = st_finding_by_size(f->relative, INTEGRAL_MAYBE, INTEGRAL_FULL);
	if (f->rate.low <= 0 && f->rate.high >= 0 && f->kind != ST_FINDING_NO_CHANGE)
		f->kind = f->relative > 0 ? ST_FINDING_MAYBE_DEGRADATION
		                          : ST_FINDING_MAYBE_OPTIMIZATION;
}

static st_status
compare_smooth_areas(struct st_finding *f, const struct st_check_models *m)
{
	const struct st_smooth_choice choice = {.method = ST_SMOOTH_LOESS};
	struct st_smooth smooths[ST_SIDES] = {0};
	struct st_interval areas[ST_SIDES] = {0};
	for (int side = 0; side < ST_SIDES && !f->cause; side++) {
		const struct st_check_points *p = &m->points[side];
		const struct st_points points = {.x = p->x, .y = p->y, .n = p->n};
		if (st_smooth_fit(&choice, &points, &smooths[side], NULL)) {
			f->cause = "no model without a formula can be made";
			break;
		}
		for (int which = -1; which <= 1; which++)
			*(which < 0 ? &areas[side].low
			  : which   ? &areas[side].high
			            : &areas[side].at) =
			        area_under_smooth(&smooths[side], m->x_low, m->x_high, which);
		f->confidence = fmin(f->confidence, smooths[side].r_square);
	}
	if (!f->cause)
		judge_areas(f, &areas[ST_A], &areas[ST_B]);
	st_smooth_free(&smooths[ST_A]);
	st_smooth_free(&smooths[ST_B]);
	return ST_OK;
}

static st_status
compare_areas(struct st_finding *f, const struct st_check_models *m, const struct st_check_how *how)
{
	const struct st_regression *a = st_check_best(m, ST_A), *b = st_check_best(m, ST_B);
	f->type = "area";
	f->confidence = fmin(st_check_fit(a), st_check_fit(b));
	f->confidence_kind = "r^2";
	if (how->smooth) {
		f->confidence = 1;
		return compare_smooth_areas(f, m);
	}
	if (f->confidence < INTEGRAL_FIT) {
		f->cause = "no model fits well enough";
		return ST_OK;
	}
	const struct st_interval before = area_of_regression(a, m->x_low, m->x_high),
	                         now = area_of_regression(b, m->x_low, m->x_high);
	judge_areas(f, &before, &now);
	return ST_OK;
}

st_status
st_check_by_integral(struct st_check_result *out, const struct st_check_how *how)
{
	return st_check_each_model(out, ST_CHECK_integral, how, compare_areas);
}
