/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The points that profiles have for strobe model: values of series by one of their features. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/model.h"

/* The place of a value in its series, from 1: always known. */
#define SEQUENCE "sequence"

bool
st_model_is_name(const char *asked, const char *name)
{
	return !strcmp(asked, name) || !fnmatch(asked, name, 0);
}

static bool
series_is_asked(const struct st_model_arguments *a, const struct st_series *s, const char *uid)
{
	const char *function = s->key.function ? s->key.function : "";
	if (a->y && strcmp(a->y, s->key.metric) != 0)
		return false;
	return !a->of || st_model_is_name(a->of, function) || st_model_is_name(a->of, uid);
}

st_status
st_model_add_entries(struct st_model_entries *entries, const struct st_model_arguments *a,
                     const struct st_profile *p)
{
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		char *uid = st_series_uid(s);
		if (!uid)
			return ST_FAILED;
		if (!series_is_asked(a, s, uid)) {
			free(uid);
			continue;
		}
		struct st_model_entry *list = st_vec_grow(entries->list.v, entries->list.n,
		                                          &entries->list.cap, sizeof *list);
		if (!list) {
			free(uid);
			return ST_FAILED;
		}
		entries->list.v = list;
		list[entries->list.n] =
		        (struct st_model_entry){.uid = uid, .series = s, .order = entries->list.n};
		entries->list.n++;
	}
	return ST_OK;
}

static int
compare_series(const struct st_model_entry *a, const struct st_model_entry *b)
{
	int order = strcmp(a->uid, b->uid);
	if (!order)
		order = strcmp(a->series->key.metric, b->series->key.metric);
	if (!order)
		order = strcmp(a->series->key.unit, b->series->key.unit);
	return order ? order : strcmp(a->variant ? a->variant : "", b->variant ? b->variant : "");
}

static int
compare_entries(const void *a, const void *b)
{
	const struct st_model_entry *x = a, *y = b;
	const int order = compare_series(x, y);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int
compare_by_group(const void *a, const void *b)
{
	const struct st_model_entry *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Groups come in the order of their first series. */
void
st_model_sort_entries(struct st_model_entries *entries)
{
	struct st_model_entry *v = entries->list.v;
	if (!entries->list.n)
		return;
	qsort(v, entries->list.n, sizeof *v, compare_entries);
	for (size_t i = 0, n; i < entries->list.n; i += n) {
		n = st_model_group(entries, i);
		for (size_t k = 0; k < n; k++)
			v[i + k].group = v[i].order;
	}
	qsort(v, entries->list.n, sizeof *v, compare_by_group);
}

size_t
st_model_group(const struct st_model_entries *entries, size_t first)
{
	size_t n = 1;
	while (first + n < entries->list.n &&
	       !compare_series(&entries->list.v[first], &entries->list.v[first + n]))
		n++;
	return n;
}

void
st_model_free_entries(struct st_model_entries *entries)
{
	for (size_t i = 0; i < entries->list.n; i++) {
		free(entries->list.v[i].uid);
		free(entries->list.v[i].variant);
	}
	free(entries->list.v);
	*entries = (struct st_model_entries){0};
}

static st_status
no_such_feature(const struct st_series *s, const struct st_model_series *out, struct st_error *e)
{
	char names[256] = SEQUENCE;
	for (size_t i = 0; i < s->features.n; i++)
		st_append(names, sizeof names, ", %s", s->features.v[i].name);
	return st_fail(e, ST_EXIT_USAGE, "%s has no feature '%s'; --x takes %s", out->uid,
	               out->x_name, names);
}

static st_status
add_series_points(const struct st_series *s, struct st_model_series *out, struct st_error *e)
{
	const double *feature = st_series_feature(s, out->x_name);
	if (!feature && strcmp(out->x_name, SEQUENCE) != 0)
		return no_such_feature(s, out, e);
	for (size_t i = 0; i < s->n; i++) {
		const double at = feature ? feature[i] : (double)(out->n + out->left_out + 1);
		if (isfinite(at) && isfinite(s->values[i])) {
			out->x[out->n] = at;
			out->y[out->n++] = s->values[i];
		} else {
			out->left_out++;
		}
	}
	return ST_OK;
}

st_status
st_model_take_series(const struct st_model_arguments *a, const struct st_model_entry *group,
                     size_t n, struct st_model_series *out, struct st_error *e)
{
	const struct st_series *first = group->series;
	const char *x = a->x ? a->x : st_series_default_feature(first);
	size_t all = 0;
	for (size_t i = 0; i < n; i++)
		all += group[i].series->n;
	*out = (struct st_model_series){.uid = group->uid,
	                                .x_name = x ? x : SEQUENCE,
	                                .y_name = first->key.metric,
	                                .unit = first->key.unit,
	                                .x = malloc((all + 1) * sizeof(double)),
	                                .y = malloc((all + 1) * sizeof(double))};
	if (!out->x || !out->y)
		return st_fail(e, ST_EXIT_FAILED, "no memory left for the points");
	for (size_t i = 0; i < n; i++)
		if (add_series_points(group[i].series, out, e))
			return ST_FAILED;
	return ST_OK;
}

void
st_model_free_series(struct st_model_series *s)
{
	free(s->x);
	free(s->y);
	*s = (struct st_model_series){0};
}
