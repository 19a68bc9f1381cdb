/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "annotate/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/predict.h"
#include "stats/robust.h"

static const double picture_level = 0.95;

struct drawing {
	const struct st_ann_annotation *a; /* may be NULL */
	const struct st_ann_records *r;
	const double *y;
	struct st_ann_picture *out;
};

/* The values of features for a curve: x and the second feature are given, other numbers have their
 * medians over the panel, and names are those of one of its records. */
struct at_curve {
	const struct drawing *d;
	const double *medians; /* by feature */
	size_t row;
	double x, level;
};

/* Returns the feature that the annotation calls `name`: of the same path, or else the same name.
 * The number of features: there is none. */
static size_t
picture_feature(const struct drawing *d, const char *name)
{
	const struct st_ann_records *r = d->r;
	const char *path = NULL;
	for (size_t i = 0; d->a && i < d->a->declarations.n; i++)
		if (!strcmp(d->a->declarations.v[i].name, name))
			path = d->a->declarations.v[i].path;
	for (size_t k = 0; path && k < r->features.n; k++)
		if (!strcmp(r->features.v[k].path, path))
			return k;
	for (size_t k = 0; k < r->features.n; k++)
		if (!strcmp(r->features.v[k].name, name) || !strcmp(r->features.v[k].path, name))
			return k;
	return r->features.n;
}

static bool
find_in_row(const struct drawing *d, size_t row, const char *name, struct st_ann_value *value)
{
	const size_t k = picture_feature(d, name);
	if (k == d->r->features.n)
		return false;
	const struct st_ann_feature *f = &d->r->features.v[k];
	value->number = f->v[row];
	if (f->kind == ST_ANN_CATEGORY && value->number >= 0)
		value->label = f->labels.v[(size_t)value->number];
	return true;
}

static bool
find_on_curve(const void *arg, const char *name, struct st_ann_value *value)
{
	const struct at_curve *c = arg;
	const size_t k = picture_feature(c->d, name);
	if (k == c->d->r->features.n)
		return false;
	const struct st_ann_feature *f = &c->d->r->features.v[k];
	if (f == c->d->out->x)
		value->number = c->x;
	else if (f == c->d->out->second && !isnan(c->level))
		value->number = c->level;
	else if (f->kind == ST_ANN_NUMERIC)
		value->number = c->medians[k];
	else
		return find_in_row(c->d, c->row, name, value);
	return true;
}

struct at_row {
	const struct drawing *d;
	size_t row;
};

static bool
find_at_row(const void *arg, const char *name, struct st_ann_value *value)
{
	const struct at_row *at = arg;
	return find_in_row(at->d, at->row, name, value);
}

/* ---- the features that are drawn ---- */

struct name_search {
	const struct drawing *d;
	const struct st_ann_feature *f;
	bool found;
};

static void
seek_feature(void *arg, const char *name)
{
	struct name_search *s = arg;
	const size_t k = picture_feature(s->d, name);
	s->found |= k < s->d->r->features.n && &s->d->r->features.v[k] == s->f;
}

static bool
model_uses(const struct drawing *d, const struct st_ann_model *m, const struct st_ann_feature *f)
{
	struct name_search s = {d, f, false};
	st_ann_each_name(m->a, seek_feature, &s);
	st_ann_each_name(m->b, seek_feature, &s);
	return s.found;
}

static bool
models_use(const struct drawing *d, const struct st_ann_feature *f)
{
	for (size_t i = 0; i < d->a->scopes.n; i++)
		for (size_t k = 0; k < d->a->scopes.v[i].models.n; k++)
			if (model_uses(d, &d->a->scopes.v[i].models.v[k], f))
				return true;
	return false;
}

static bool
conditions_use(const struct drawing *d, const struct st_ann_feature *f)
{
	struct name_search s = {d, f, false};
	for (size_t i = 0; i < d->a->scopes.n; i++)
		if (d->a->scopes.v[i].condition)
			st_ann_each_name(d->a->scopes.v[i].condition, seek_feature, &s);
	return s.found;
}

/* |r| of the metric and a feature, which says by which feature the points are best drawn. */
static double
picture_correlation(const struct drawing *d, const struct st_ann_feature *f)
{
	double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
	for (size_t i = 0; i < d->r->n; i++) {
		if (isnan(f->v[i]) || isnan(d->y[i]))
			continue;
		n++;
		const double dx = f->v[i] - x, dy = d->y[i] - y;
		x += dx / n;
		y += dy / n;
		xx += dx * (f->v[i] - x);
		yy += dy * (d->y[i] - y);
		xy += dx * (d->y[i] - y);
	}
	return xx > 0 && yy > 0 ? fabs(xy) / sqrt(xx * yy) : xx > 0 ? 0 : -1;
}

/* The feature with the strongest correlation, of those that models use, else of those that
 * conditions use, else of all. NULL: there is none. */
static const struct st_ann_feature *
choose_feature(const struct drawing *d, const struct st_ann_feature *without)
{
	for (int only = d->a ? 0 : 2; only < (without ? 1 : 3); only++) {
		const struct st_ann_feature *best = NULL;
		double most = -1;
		for (size_t i = 0; i < d->r->features.n; i++) {
			const struct st_ann_feature *f = &d->r->features.v[i];
			if (f == without || f->kind != ST_ANN_NUMERIC ||
			    (only == 0 && !models_use(d, f)) ||
			    (only == 1 && !conditions_use(d, f)))
				continue;
			const double r = picture_correlation(d, f);
			if (r > most) {
				most = r;
				best = f;
			}
		}
		if (best)
			return best;
	}
	return NULL;
}

static st_status
take_named(struct drawing *d, const char *name, struct st_error *e)
{
	const size_t k = picture_feature(d, name);
	if (k == d->r->features.n)
		return st_fail(e, ST_EXIT_USAGE, "%.200s has no feature '%.100s'; it has %.200s",
		               d->r->name, name,
		               d->r->features.n ? d->r->features.v[0].name : "none");
	d->out->x = &d->r->features.v[k];
	return ST_OK;
}

static void
take_second(struct drawing *d)
{
	if (!d->a || !d->out->x)
		return;
	d->out->second = choose_feature(d, d->out->x);
	for (size_t i = 0; i < d->r->features.n; i++) {
		const struct st_ann_feature *f = &d->r->features.v[i];
		d->out->others |= f != d->out->x && f != d->out->second &&
		                  f->kind == ST_ANN_NUMERIC && models_use(d, f);
	}
}

/* ---- points ---- */

/* The mode of a scope that a value most probably belongs to. *residual: its distance from the mean
 * of that. */
static size_t
mode_of(const struct st_ann_scope *s, const struct st_ann_names *names, double y, double *residual)
{
	double best = -INFINITY;
	size_t mode = 0;
	*residual = NAN;
	for (size_t k = 0; k < s->models.n; k++) {
		const struct st_ann_model *m = &s->models.v[k];
		double mean, sd;
		if (!st_ann_model_moments(m, names, &mean, &sd))
			continue;
		double density = st_ann_model_log_density(m, names, y);
		density = isnan(density) ? -fabs(y - mean)
		                         : density + log(isnan(m->weight) ? 1 : m->weight);
		if (density > best || isnan(*residual)) {
			best = density;
			mode = k;
			*residual = y - mean;
		}
	}
	return mode;
}

/* Counts whether a value lies in the central part of what is predicted. */
static void
picture_judge_point(struct drawing *d, const struct st_ann_scope *s,
                    const struct st_ann_names *names, double y)
{
	const double allowed = 1e-9 * fabs(y), out = (1 - picture_level) / 2;
	const double below = st_ann_scope_cdf(s, names, y - allowed),
	             above = st_ann_scope_cdf(s, names, y + allowed);
	if (isnan(below) || isnan(above))
		return;
	d->out->judged++;
	d->out->passed += above >= out && below <= 1 - out;
}

static st_status
picture_add_point(struct drawing *d, size_t row)
{
	const struct at_row at = {d, row};
	const struct st_ann_names names = {find_at_row, &at};
	const struct st_ann_scope *s = d->a ? st_ann_scope_of(d->a, &names) : NULL;
	struct st_ann_panel *panel =
	        &d->out->panels.v[s ? (size_t)(s - d->a->scopes.v) : d->out->panels.n - 1];
	struct st_ann_point p = {.x = d->out->x ? d->out->x->v[row] : (double)(row + 1),
	                         .y = d->y[row],
	                         .residual = NAN,
	                         .row = row};
	if (isnan(p.x) || isnan(p.y))
		return ST_OK;
	if (s) {
		p.mode = mode_of(s, &names, p.y, &p.residual);
		picture_judge_point(d, s, &names, p.y);
	}
	struct st_ann_point *to = ST_PUSH(&panel->points);
	if (!to)
		return ST_FAILED;
	*to = p;
	return ST_OK;
}

static st_status
add_panels(struct drawing *d)
{
	for (size_t i = 0; i <= (d->a ? d->a->scopes.n : 0); i++) {
		struct st_ann_panel *p = ST_PUSH(&d->out->panels);
		if (!p)
			return ST_FAILED;
		*p = (struct st_ann_panel){.rest = true};
		if (d->a && i < d->a->scopes.n)
			*p = (struct st_ann_panel){.condition = d->a->scopes.v[i].condition,
			                           .modes = d->a->scopes.v[i].models.n};
	}
	for (size_t row = 0; row < d->r->n; row++)
		if (picture_add_point(d, row))
			return ST_FAILED;
	if (d->a && !d->out->panels.v[d->out->panels.n - 1].points.n)
		d->out->panels.n--;
	d->out->passed = d->out->judged ? d->out->passed / (double)d->out->judged : NAN;
	return ST_OK;
}

/* ---- curves ---- */

/* Sorts the values of a feature over the points of a panel. Returns their number. */
static size_t
sorted_values(const struct st_ann_panel *p, const struct st_ann_feature *f, double *to)
{
	size_t n = 0;
	for (size_t i = 0; i < p->points.n; i++)
		if (!isnan(f->v[p->points.v[i].row]))
			to[n++] = f->v[p->points.v[i].row];
	if (n)
		st_sort_values(to, n);
	return n;
}

static void
panel_extent(const struct st_ann_panel *p, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < p->points.n; i++) {
		*low = fmin(*low, p->points.v[i].x);
		*high = fmax(*high, p->points.v[i].x);
	}
}

static st_status
add_curve(struct st_ann_panel *panel, const struct st_ann_model *m, size_t mode,
          struct at_curve *at)
{
	const struct st_ann_names names = {find_on_curve, at};
	struct st_ann_curve *c = ST_PUSH(&panel->curves);
	double low, high, sd;
	if (!c)
		return ST_FAILED;
	*c = (struct st_ann_curve){.mode = mode, .weight = m->weight, .level = at->level};
	panel_extent(panel, &low, &high);
	for (size_t i = 0; i < ST_ANN_CURVE; i++) {
		const double share = (double)i / (ST_ANN_CURVE - 1);
		c->x[i] = at->x = low * (1 - share) + high * share;
		if (!st_ann_model_moments(m, &names, &c->y[i], &sd))
			c->y[i] = NAN;
		c->low[i] = c->high[i] = NAN;
		if (isfinite(c->y[i]))
			st_ann_model_interval(m, &names, picture_level, &c->low[i], &c->high[i]);
	}
	return ST_OK;
}

/* The curves of one mode: several if it depends on the second feature. */
static st_status
add_curves_of(struct drawing *d, struct st_ann_panel *panel, const struct st_ann_model *m,
              size_t mode, struct at_curve *at, double *values)
{
	const struct st_ann_feature *second = d->out->second;
	size_t n = 0;
	at->level = NAN;
	if (second && model_uses(d, m, second))
		n = sorted_values(panel, second, values);
	if (!n)
		return add_curve(panel, m, mode, at);
	const double levels[ST_ANN_LEVELS] = {values[0], values[n / 2], values[n - 1]};
	for (size_t i = 0; i < ST_ANN_LEVELS; i++) {
		at->level = levels[i];
		if ((i == 0 || levels[i] > levels[i - 1]) && add_curve(panel, m, mode, at))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
add_curves(struct drawing *d)
{
	const size_t features = d->r->features.n;
	double *medians = calloc(features + 1, sizeof *medians),
	       *values = calloc(d->r->n + 1, sizeof *values);
	st_status status = medians && values ? ST_OK : ST_FAILED;
	for (size_t i = 0; d->a && i < d->a->scopes.n && !status; i++) {
		struct st_ann_panel *panel = &d->out->panels.v[i];
		if (!panel->points.n)
			continue;
		for (size_t k = 0; k < features; k++) {
			const size_t n = sorted_values(panel, &d->r->features.v[k], values);
			medians[k] = n ? values[n / 2] : NAN;
		}
		struct at_curve at = {
		        .d = d, .medians = medians, .row = panel->points.v[0].row, .level = NAN};
		for (size_t k = 0; k < d->a->scopes.v[i].models.n && !status; k++)
			status = add_curves_of(d, panel, &d->a->scopes.v[i].models.v[k], k, &at,
			                       values);
	}
	free(medians);
	free(values);
	return status;
}

st_status
st_ann_picture_make(const struct st_ann_annotation *a, const struct st_ann_records *r,
                    size_t metric, const char *x, struct st_ann_picture *out, struct st_error *e)
{
	struct drawing d = {.a = a, .r = r, .y = r->metrics.v[metric].v, .out = out};
	*out = (struct st_ann_picture){.passed = 0};
	if (x && take_named(&d, x, e))
		return ST_FAILED;
	if (!x)
		out->x = choose_feature(&d, NULL);
	take_second(&d);
	return add_panels(&d) || add_curves(&d)
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture")
	               : ST_OK;
}

void
st_ann_picture_free(struct st_ann_picture *p)
{
	for (size_t i = 0; i < p->panels.n; i++) {
		free(p->panels.v[i].points.v);
		free(p->panels.v[i].curves.v);
	}
	free(p->panels.v);
	*p = (struct st_ann_picture){0};
}
