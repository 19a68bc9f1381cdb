/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the matrix of repeated measurements by location over one of their features. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "stats/robust.h"
#include "stats/spread.h"
#include "views/matrix.h"
#include "views/metrics.h"

/* A value with its position in the matrix. */
struct matrix_value {
	size_t row;
	double x, value;
	size_t order; /* index in the order of measurement */
};

struct series_matrix {
	struct st_matrix *m;
	const struct st_matrix_choice *choice;
	ST_VEC(struct matrix_value) v;
};

static bool
series_is_chosen(const struct st_matrix_choice *c, const struct st_series *s, const char *uid)
{
	const char *function = s->key.function ? s->key.function : "";
	return (!c->metric || !strcmp(c->metric, s->key.metric)) &&
	       (!c->of || st_metrics_fit(c->of, uid) || st_metrics_fit(c->of, function));
}

static st_status
matrix_take_series(struct series_matrix *x, const struct st_series *s, const char *uid)
{
	const double *feature = st_series_feature(s, x->m->x_name);
	size_t row = SIZE_MAX;
	for (size_t i = 0; feature && i < s->n; i++) {
		if (!isfinite(feature[i]) || !isfinite(s->values[i]))
			continue;
		if (row == SIZE_MAX)
			row = st_matrix_row(x->m, uid);
		struct matrix_value *v = row == SIZE_MAX ? NULL : ST_PUSH(&x->v);
		if (!v)
			return ST_FAILED;
		*v = (struct matrix_value){row, feature[i], s->values[i], x->v.n};
	}
	return ST_OK;
}

/* Takes the metric, its unit and the feature from the first series that fits. */
static st_status
take_first(struct series_matrix *x, const struct st_series *s)
{
	const char *per = x->choice->per ? x->choice->per : st_series_default_feature(s);
	x->m->metric = strdup(s->key.metric);
	x->m->unit = strdup(s->key.unit);
	x->m->x_name = strdup(per ? per : "");
	x->m->x_unit = per && !strcmp(per, ST_FEATURE_TIME) ? "ns" : "";
	return x->m->metric && x->m->unit && x->m->x_name ? ST_OK : ST_FAILED;
}

static st_status
take_all_series(struct series_matrix *x, const struct st_profile *p)
{
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		char *uid = st_series_uid(s);
		st_status status = uid ? ST_OK : ST_FAILED;
		if (uid && series_is_chosen(x->choice, s, uid)) {
			if (!x->m->metric)
				status = take_first(x, s);
			if (!status && !strcmp(s->key.metric, x->m->metric) &&
			    !strcmp(s->key.unit, x->m->unit))
				status = matrix_take_series(x, s, uid);
		}
		free(uid);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

static int
by_x(const void *a, const void *b)
{
	const struct matrix_value *x = a, *y = b;
	if (x->x < y->x || x->x > y->x)
		return x->x < y->x ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Combines the n values. */
static double
matrix_value_of(const double *v, size_t n, enum st_matrix_function function)
{
	double sum = 0, least = INFINITY, most = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		sum += v[i];
		least = fmin(least, v[i]);
		most = fmax(most, v[i]);
	}
	switch (function) {
	case ST_MATRIX_MEAN:
		return sum / (double)n;
	case ST_MATRIX_MEDIAN:
		return st_median(v, n);
	case ST_MATRIX_MIN:
		return least;
	case ST_MATRIX_MAX:
		return most;
	case ST_MATRIX_COUNT:
		return (double)n;
	default:
		return sum;
	}
}

static bool
matrix_has_spread(enum st_matrix_function function)
{
	return function == ST_MATRIX_MEAN || function == ST_MATRIX_MEDIAN;
}

static void
matrix_keep_spread(struct st_plot_value *to, const struct st_spread *s,
                   enum st_matrix_function function)
{
	*to = function == ST_MATRIX_MEAN
	              ? (struct st_plot_value){s->mean, s->mean_low, s->mean_high, s->least,
	                                       s->most}
	              : (struct st_plot_value){s->median, s->median_low, s->median_high, s->least,
	                                       s->most};
}

/* Sets the value of a row at an x, and its spread if there are several values. */
static st_status
matrix_set(struct series_matrix *x, size_t at, const struct matrix_value *v, size_t n)
{
	struct st_matrix *m = x->m;
	const enum st_matrix_function function = x->choice->function;
	struct st_spread s;
	double *copy = malloc((n + 1) * sizeof *copy);
	if (!copy)
		return ST_FAILED;
	for (size_t i = 0; i < n; i++)
		copy[i] = v[i].value;
	st_status status = ST_OK;
	m->values[v->row * m->n + at] = matrix_value_of(copy, n, function);
	if (m->spread && n > 1)
		status = st_spread_of(copy, n, &s);
	if (m->spread && n > 1 && !status)
		matrix_keep_spread(&m->spread[v->row * m->n + at], &s, function);
	free(copy);
	return status;
}

/* Makes room for the spreads, if a value is the mean or median of several. */
static st_status
matrix_begin_spread(struct series_matrix *x)
{
	struct st_matrix *m = x->m;
	bool several = false;
	for (size_t i = 1; i < x->v.n && !several; i++)
		several = x->v.v[i].x == x->v.v[i - 1].x && x->v.v[i].row == x->v.v[i - 1].row;
	if (!several || !matrix_has_spread(x->choice->function))
		return ST_OK;
	m->spread = malloc((m->n * m->rows.n + 1) * sizeof *m->spread);
	for (size_t i = 0; m->spread && i < m->n * m->rows.n; i++)
		m->spread[i] = (struct st_plot_value){NAN, NAN, NAN, NAN, NAN};
	return m->spread ? ST_OK : ST_FAILED;
}

static st_status
fill_matrix(struct series_matrix *x)
{
	struct st_matrix *m = x->m;
	qsort(x->v.v, x->v.n, sizeof *x->v.v, by_x);
	m->x = calloc(x->v.n + 1, sizeof *m->x);
	if (!m->x)
		return ST_FAILED;
	for (size_t i = 0; i < x->v.n; i++)
		if (!m->n || m->x[m->n - 1] != x->v.v[i].x)
			m->x[m->n++] = x->v.v[i].x;
	if (m->n > SIZE_MAX / sizeof(double) / (m->rows.n + 1))
		return ST_FAILED;
	m->values = malloc((m->n * m->rows.n + 1) * sizeof *m->values);
	if (!m->values || matrix_begin_spread(x))
		return ST_FAILED;
	for (size_t i = 0; i < m->n * m->rows.n; i++)
		m->values[i] = NAN;
	for (size_t i = 0, end, at = 0; i < x->v.n; i = end) {
		const struct matrix_value *v = &x->v.v[i];
		for (end = i; end < x->v.n && x->v.v[end].x == v->x && x->v.v[end].row == v->row;)
			end++;
		while (at + 1 < m->n && m->x[at] != v->x)
			at++;
		if (matrix_set(x, at, v, end - i))
			return ST_FAILED;
	}
	if (x->choice->function != ST_MATRIX_COUNT)
		return ST_OK;
	free(m->unit);
	m->unit = strdup("");
	return m->unit ? ST_OK : ST_FAILED;
}

/* Fails with the reason, or with the features that the profile has. */
static st_status
no_matrix(const struct series_matrix *x, const struct st_profile *p, struct st_error *e)
{
	const struct st_matrix_choice *c = x->choice;
	char names[256] = "";
	if (!p->measurements.series.n)
		return st_fail(e, ST_EXIT_FAILED,
		               "%s has neither repeated measurements nor memory over time, which "
		               "this picture shows: strobe time, strobe import and strobe mem "
		               "record them",
		               c->name);
	if (!x->m->metric)
		return st_fail(e, ST_EXIT_USAGE,
		               "no measurements of %s fit%s%s%s%s; strobe show %s lists them",
		               c->name, c->of ? " --of " : "", c->of ? c->of : "",
		               c->metric ? " --metric " : "", c->metric ? c->metric : "", c->name);
	for (size_t i = 0; i < p->measurements.names.n; i++)
		st_append(names, sizeof names, "%s%s", i ? ", " : "", p->measurements.names.v[i]);
	return st_fail(e, *names ? ST_EXIT_USAGE : ST_EXIT_FAILED,
	               "no value of %s in %s has a feature '%s'%s%s", x->m->metric, c->name,
	               x->m->x_name, *names ? "; --per takes " : ", and none has another one",
	               names);
}

st_status
st_matrix_of_series(struct st_matrix *m, const struct st_profile *p,
                    const struct st_matrix_choice *choice, struct st_error *e)
{
	struct series_matrix x = {.m = m, .choice = choice};
	*m = (struct st_matrix){.x_unit = ""};
	if (choice->addresses)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s is no profile of strobe mem, which --by address needs; --per "
		               "address draws measurements over a feature 'address'",
		               choice->name);
	st_status status = take_all_series(&x, p);
	const bool none = !status && !x.v.n;
	if (!status && !none)
		status = fill_matrix(&x);
	if (!status && !none)
		status = st_matrix_cut(m, choice->top,
		                       choice->function == ST_MATRIX_SUM ||
		                               choice->function == ST_MATRIX_COUNT);
	free(x.v.v);
	if (none)
		return no_matrix(&x, p, e);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture") : ST_OK;
}
