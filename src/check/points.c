/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/kept.h"

#define LEVEL 0.95

static size_t
count_values(const struct st_check_item *item)
{
	size_t n = 0;
	for (size_t i = 0; i < item->series.n; i++)
		n += item->series.v[i]->n;
	return n;
}

static const char *
usual_x(const struct st_check_item *item)
{
	for (size_t i = 0; i < item->series.n; i++) {
		const char *x = st_series_default_feature(item->series.v[i]);
		if (x)
			return x;
	}
	return "sequence";
}

st_status
st_check_points_of(struct st_check_points *out, const struct st_check_item *item, const char *x,
                   size_t most)
{
	const size_t all = count_values(item), kept = most && all > most ? most : all;
	const char *name = x ? x : usual_x(item);
	size_t at = 0, taken = 0; /* of all values; of those that are kept */
	*out = (struct st_check_points){malloc((kept + 1) * sizeof *out->x),
	                                malloc((kept + 1) * sizeof *out->y), 0};
	if (!out->x || !out->y)
		return ST_FAILED;
	for (size_t i = 0; i < item->series.n; i++) {
		const struct st_series *s = item->series.v[i];
		const double *feature = st_series_feature(s, name);
		for (size_t k = 0; k < s->n; k++, at++) {
			if (at * kept / all < taken || taken == kept)
				continue;
			taken++;
			const double place = feature                    ? feature[k]
			                     : strcmp(name, "sequence") ? NAN
			                                                : (double)at + 1;
			if (!isfinite(place) || !isfinite(s->values[k]))
				continue;
			out->x[out->n] = place;
			out->y[out->n++] = s->values[k];
		}
	}
	return ST_OK;
}

void
st_check_points_free(struct st_check_points *p)
{
	free(p->x);
	free(p->y);
	*p = (struct st_check_points){0};
}

struct point {
	double x, y;
};

static int
compare_check_points(const void *a, const void *b)
{
	const struct point *p = a, *q = b;
	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

/* In the order of x, in which windows along x are found by bisection. */
static st_status
sort_points(struct st_check_points *p)
{
	struct point *v = malloc((p->n + 1) * sizeof *v);
	if (!v)
		return ST_FAILED;
	for (size_t i = 0; i < p->n; i++)
		v[i] = (struct point){p->x[i], p->y[i]};
	qsort(v, p->n, sizeof *v, compare_check_points);
	for (size_t i = 0; i < p->n; i++) {
		p->x[i] = v[i].x;
		p->y[i] = v[i].y;
	}
	free(v);
	return ST_OK;
}

/* The choice that the profile keeps of these very points, or a new one. */
static st_status
choose_models_of(struct st_check_models *m, int side, const struct st_check_item *item,
                 const char *x, bool exponents)
{
	const struct st_check_points *p = &m->points[side];
	const struct st_points points = {.x = p->x, .y = p->y, .n = p->n};
	struct st_choice *c = &m->choices[side];
	m->kept[side] =
	        item->series.n == 1 && item->profile &&
	        st_kept_find(item->profile, item->series.v[0], x ? x : usual_x(item), &points, c);
	if (m->kept[side])
		return ST_OK;
	return exponents ? st_choice_make(c, &points, ST_GROWTHS_ALL, ST_NOISE_AUTO, LEVEL, NULL)
	                 : st_choice_kind(c, &points, LEVEL, NULL);
}

static const char *
choose_models(struct st_check_models *m, const struct st_check_subject *s, const char *x,
              bool exponents)
{
	m->x_low = -INFINITY;
	m->x_high = INFINITY;
	for (int side = 0; side < ST_SIDES; side++) {
		const struct st_check_points *p = &m->points[side];
		double low = INFINITY, high = -INFINITY;
		if (p->n < 3)
			return "fewer than three measurements";
		if (choose_models_of(m, side, s->item[side], x, exponents) ||
		    m->choices[side].best == ST_GROWTH_COUNT)
			return "no model can be made: too few points, or all have one x";
		for (size_t i = 0; i < p->n; i++) {
			low = fmin(low, p->x[i]);
			high = fmax(high, p->x[i]);
		}
		m->x_low = fmax(m->x_low, low);
		m->x_high = fmin(m->x_high, high);
	}
	return m->x_low < m->x_high ? NULL : "the two versions have no range of x in common";
}

st_status
st_check_models_of(struct st_check_models *m, const struct st_check_subject *s, const char *x,
                   bool exponents, const char **why)
{
	*m = (struct st_check_models){0};
	*why = NULL;
	for (int side = 0; side < ST_SIDES; side++) {
		if (!s->item[side])
			*why = side == ST_A ? "the baseline does not have it"
			                    : "the target does not have it";
		else if (st_check_points_of(&m->points[side], s->item[side], x,
		                            ST_CHECK_MOST_POINTS) ||
		         sort_points(&m->points[side]))
			return ST_FAILED;
	}
	if (!*why)
		*why = choose_models(m, s, x, exponents);
	return ST_OK;
}

void
st_check_models_free(struct st_check_models *m)
{
	st_check_points_free(&m->points[ST_A]);
	st_check_points_free(&m->points[ST_B]);
}

const struct st_regression *
st_check_best(const struct st_check_models *m, int side)
{
	return &m->choices[side].models[m->choices[side].best];
}

double
st_check_fit(const struct st_regression *r)
{
	return r->kind == ST_GROWTH_CONSTANT ? 1 : r->r_square;
}
