/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/history_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/robust.h"

enum { LEAST_SEGMENT = 2, ROUNDS = 999, SEED = 1 };
#define ALPHA 0.05

static st_status
series_add(struct st_history_series_list *all, const struct st_history_group *g)
{
	size_t at = 0;
	if (!g->values.n)
		return ST_OK;
	while (at < all->v.n && !st_history_same_series(all->v.v[at].first, g))
		at++;
	struct st_history_series *s = at < all->v.n ? &all->v.v[at] : ST_PUSH(&all->v);
	if (!s)
		return ST_FAILED;
	if (!s->first)
		s->first = g;
	const struct st_history_group **group = ST_PUSH(&s->groups);
	double *value = group ? ST_PUSH(&s->medians) : NULL;
	if (!value)
		return ST_FAILED;
	*group = g;
	*value = st_median(g->values.v, g->values.n);
	return ST_OK;
}

static st_status
series_find_changes(struct st_history_series *s)
{
	s->changes = calloc(s->medians.n + 1, sizeof *s->changes);
	if (!s->changes)
		return ST_FAILED;
	return s->medians.n < ST_HISTORY_FEWEST
	               ? ST_OK
	               : st_change_points(s->medians.v, s->medians.n, LEAST_SEGMENT, ROUNDS, ALPHA,
	                                  SEED, s->changes, &s->n_changes);
}

static void
series_free(struct st_history_series *s)
{
	free(s->groups.v);
	free(s->medians.v);
	free(s->changes);
}

/* Leaves out the series after the first `most`. */
static void
series_cut(struct st_history_series_list *all, size_t most)
{
	while (most && all->v.n > most) {
		series_free(&all->v.v[--all->v.n]);
		all->left_out++;
	}
}

static st_status
series_choose_names(struct st_history_series_list *all)
{
	const struct st_history_group **groups = calloc(all->v.n + 1, sizeof *groups);
	for (size_t i = 0; groups && i < all->v.n; i++)
		groups[i] = all->v.v[i].first;
	const st_status status =
	        groups ? st_history_naming_of(&all->naming, groups, all->v.n) : ST_FAILED;
	free(groups);
	return status;
}

/* The history has the youngest version first, and versions that are not in it at the end. */
st_status
st_history_series_make(struct st_history_series_list *all, const struct st_history_values *values,
                       size_t most)
{
	for (size_t i = values->v.n; i-- > 0;)
		if (!values->v.v[i].logged->gone && series_add(all, &values->v.v[i]))
			return ST_FAILED;
	series_cut(all, most);
	if (series_choose_names(all))
		return ST_FAILED;
	for (size_t i = 0; i < all->v.n; i++)
		if (series_find_changes(&all->v.v[i]))
			return ST_FAILED;
	return ST_OK;
}

void
st_history_series_free(struct st_history_series_list *all)
{
	for (size_t i = 0; i < all->v.n; i++)
		series_free(&all->v.v[i]);
	free(all->v.v);
}

struct st_history_change
st_history_change_of(const struct st_history_series *s, size_t i)
{
	const size_t at = s->changes[i].at, begin = i ? s->changes[i - 1].at : 0;
	const size_t end = i + 1 < s->n_changes ? s->changes[i + 1].at : s->medians.n;
	return (struct st_history_change){
	        .at = at,
	        .commits = (size_t)(s->groups.v[at - 1]->logged - s->groups.v[at]->logged),
	        .from = st_median(s->medians.v + begin, at - begin),
	        .to = st_median(s->medians.v + at, end - at),
	        .p = s->changes[i].p};
}

double
st_history_change_relative(const struct st_history_change *c)
{
	return c->from != 0 ? (c->to - c->from) / fabs(c->from) : NAN;
}
