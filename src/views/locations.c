/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/locations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "stats/robust.h"
#include "stats/spread.h"
#include "views/difference.h"

/* A location that is in at least one of the profiles. */
struct location {
	char *name;
	double *values; /* by profile */
	struct st_plot_value *spread;
	double most;
};

struct locations_made {
	ST_VEC(struct location) v;
	struct st_hashmap index; /* by name */
	size_t n_profiles;
	const char *of;
};

static const struct st_plot_value unknown_spread = {NAN, NAN, NAN, NAN, NAN};

static struct location *
location_of(struct locations_made *x, const char *name)
{
	const uint32_t hash = st_hash_text(name);
	const uint32_t at = ST_HASHMAP_FIND(&x->index, hash, i, !strcmp(x->v.v[i].name, name));
	if (at != ST_HASHMAP_NONE)
		return &x->v.v[at];
	struct location *l = ST_PUSH(&x->v);
	if (!l || st_hashmap_add(&x->index, hash, (uint32_t)x->v.n - 1))
		return NULL;
	*l = (struct location){.name = strdup(name),
	                       .values = malloc((x->n_profiles + 1) * sizeof *l->values),
	                       .spread = malloc((x->n_profiles + 1) * sizeof *l->spread)};
	for (size_t i = 0; l->values && l->spread && i < x->n_profiles; i++) {
		l->values[i] = NAN;
		l->spread[i] = unknown_spread;
	}
	return l->name && l->values && l->spread ? l : NULL;
}

/* Keeps the spread of a median. A second one at the same location makes the bar a sum of medians,
 * the interval of which does not follow from theirs. */
static st_status
location_spread(struct location *l, size_t profile, const struct st_difference_item *item)
{
	struct st_spread s;
	const bool first = !isfinite(l->values[profile]);
	l->spread[profile] = unknown_spread;
	if (!first || item->sum || item->values.n < 2)
		return ST_OK;
	if (st_spread_of(item->values.v, item->values.n, &s))
		return ST_FAILED;
	l->spread[profile] =
	        (struct st_plot_value){s.median, s.median_low, s.median_high, s.least, s.most};
	return ST_OK;
}

/* Adds the values of a profile. Values of functions of one name and parts of a sum are added up; of
 * repeated measurements the median is taken. */
static st_status
locations_add(struct locations_made *x, size_t profile, const struct st_difference_items *items)
{
	for (size_t i = 0; i < items->v.n; i++) {
		const struct st_difference_item *item = &items->v.v[i];
		double value = 0;
		if (!item->values.n || (x->of && !st_metrics_fit(x->of, item->name)))
			continue;
		for (size_t k = 0; k < item->values.n; k++)
			value += item->values.v[k];
		if (!item->sum)
			value = st_median(item->values.v, item->values.n);
		struct location *l = location_of(x, item->name);
		if (!l || location_spread(l, profile, item))
			return ST_FAILED;
		l->values[profile] =
		        value + (isfinite(l->values[profile]) ? l->values[profile] : 0);
		l->most = fmax(l->most, fabs(l->values[profile]));
	}
	return ST_OK;
}

static int
by_most(const void *a, const void *b)
{
	const struct location *x = a, *y = b;
	if (x->most > y->most || x->most < y->most)
		return x->most > y->most ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Whether one of the first n locations has a spread. */
static bool
locations_have_spread(const struct locations_made *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < x->n_profiles; k++)
			if (isfinite(x->v.v[i].spread[k].least))
				return true;
	return false;
}

static st_status
locations_keep(struct st_locations *l, struct locations_made *x, size_t top)
{
	const size_t n = top && top < x->v.n ? top : x->v.n;
	if (x->v.n)
		qsort(x->v.v, x->v.n, sizeof *x->v.v, by_most);
	l->values = malloc((n * x->n_profiles + 1) * sizeof *l->values);
	const bool spread = locations_have_spread(x, n);
	if (spread)
		l->spread = malloc((n * x->n_profiles + 1) * sizeof *l->spread);
	if (!l->values || (spread && !l->spread))
		return ST_FAILED;
	for (size_t i = 0; i < n; i++) {
		char **slot = ST_PUSH(&l->names);
		if (!slot)
			return ST_FAILED;
		*slot = x->v.v[i].name;
		x->v.v[i].name = NULL;
		for (size_t k = 0; k < x->n_profiles; k++) {
			l->values[k * n + i] = x->v.v[i].values[k];
			if (l->spread)
				l->spread[k * n + i] = x->v.v[i].spread[k];
		}
	}
	l->left_out = x->v.n - n;
	return ST_OK;
}

static void
locations_made_free(struct locations_made *x)
{
	for (size_t i = 0; i < x->v.n; i++) {
		free(x->v.v[i].name);
		free(x->v.v[i].values);
		free(x->v.v[i].spread);
	}
	free(x->v.v);
	st_hashmap_free(&x->index);
}

static st_status
locations_fill(struct st_locations *l, struct locations_made *x,
               const struct st_profile *const *profiles, const struct st_difference_metric *m,
               struct st_error *e)
{
	st_status status = ST_OK;
	for (size_t i = 0; i < x->n_profiles && !status; i++) {
		struct st_difference_items items = {0};
		status = st_difference_collect(&items, profiles[i], m->source, m->table, m->metric,
		                               e);
		if (!status && !l->unit && items.v.n) {
			l->metric = strdup(items.v.v[0].metric);
			l->unit = strdup(items.v.v[0].unit);
		}
		if (!status && locations_add(x, i, &items))
			status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
		st_difference_items_free(&items);
	}
	return status;
}

st_status
st_locations_make(struct st_locations *l, const struct st_profile *const *profiles,
                  const char *const *names, size_t n, const struct st_locations_choice *choice,
                  struct st_error *e)
{
	const struct st_profile *const ends[ST_SIDES] = {profiles[0], profiles[n - 1]};
	const struct st_difference_choice which = {.names = {names[0], names[n - 1]},
	                                           .metric = choice->metric};
	struct st_difference_metric metric;
	struct locations_made x = {.n_profiles = n, .of = choice->of};
	*l = (struct st_locations){0};
	st_status status = st_difference_choose(&metric, ends, &which, e);
	/* Metrics have different units and cannot share an axis: the first one is drawn. */
	if (!status && !metric.metric && !(metric.metric = strdup(metric.first)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	if (!status)
		status = locations_fill(l, &x, profiles, &metric, e);
	if (!status && !x.v.n)
		status = choice->of ? st_fail(e, ST_EXIT_USAGE, "no location of %s fits --of %s",
		                              names[0], choice->of)
		                    : st_fail(e, ST_EXIT_FAILED, "%s has no values of '%s'",
		                              names[0], metric.metric);
	if (!status && (!l->metric || !l->unit || locations_keep(l, &x, choice->top)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	locations_made_free(&x);
	st_difference_metric_free(&metric);
	return status;
}

void
st_locations_free(struct st_locations *l)
{
	for (size_t i = 0; i < l->names.n; i++)
		free(l->names.v[i]);
	free(l->names.v);
	free(l->values);
	free(l->spread);
	free(l->metric);
	free(l->unit);
}
