/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes contexts of repeated measurements with stacks of calls: the value of a context is the sum
 * of its values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/costs.h"

struct series_costs {
	struct st_costs *c;
	const struct st_series *first; /* the series that decides the metric */
	bool lines;
	ST_VEC(struct st_context_label) labels;
	struct st_hashmap index; /* of labels */
};

static bool
series_costs_has(const struct series_costs *x, const struct st_series *s)
{
	return s->key.n_frames && !strcmp(s->key.metric, x->first->key.metric) &&
	       !strcmp(s->key.unit, x->first->key.unit);
}

static bool
series_label_is(const struct series_costs *x, const struct st_context_label *l,
                const struct st_series_frame *f)
{
	return (!x->lines || l->line == f->line) &&
	       !strcmp(l->name, f->function ? f->function : "") &&
	       !strcmp(l->file ? l->file : "", f->file ? f->file : "");
}

/* Returns the label of a frame. ST_NO_NODE: no memory. */
static uint32_t
series_label(struct series_costs *x, const struct st_series_frame *f)
{
	const char *name = f->function ? f->function : "";
	const uint32_t hash = st_hash_numbers(x->lines ? f->line : 0, st_hash_text(name));
	const uint32_t at =
	        ST_HASHMAP_FIND(&x->index, hash, i, series_label_is(x, &x->labels.v[i], f));
	if (at != ST_HASHMAP_NONE)
		return at;
	const uint32_t new = (uint32_t)x->labels.n;
	struct st_context_label *l = ST_PUSH(&x->labels);
	if (!l || st_hashmap_add(&x->index, hash, new))
		return ST_NO_NODE;
	*l = (struct st_context_label){.name = name,
	                               .file = f->file,
	                               .line = f->line,
	                               .offset = new,
	                               .function = new,
	                               .in_image = UINT32_MAX,
	                               .in_function = UINT32_MAX,
	                               .seen = true};
	return new;
}

static double
series_sum(const struct st_series *s)
{
	double sum = 0;
	for (size_t i = 0; i < s->n; i++)
		sum += isfinite(s->values[i]) ? s->values[i] : 0;
	return sum;
}

static st_status
series_costs_add(struct series_costs *x, struct st_forest *f, const struct st_series *s)
{
	uint32_t node = ST_NO_NODE;
	for (size_t i = s->key.n_frames; i-- > 0;) {
		const uint32_t label = series_label(x, &s->key.frames[i]);
		node = label == ST_NO_NODE ? ST_NO_NODE : st_forest_child(f, node, label);
		if (node == ST_NO_NODE)
			return ST_FAILED;
	}
	const double sum = series_sum(s);
	const struct st_weight w = {.count = sum > 0 ? (uint64_t)llround(sum / x->c->scale) : 0};
	st_forest_add(f, node, &w);
	return ST_OK;
}

/* Weights are whole numbers; small values are counted in millionths. */
static double
series_scale(const struct series_costs *x, const struct st_profile *p)
{
	double sum = 0;
	for (size_t i = 0; i < p->measurements.series.n; i++)
		if (series_costs_has(x, &p->measurements.series.v[i]))
			sum += series_sum(&p->measurements.series.v[i]);
	return sum < 1e12 ? 1e-6 : 1;
}

static st_status
series_costs_fill(struct series_costs *x, const struct st_profile *p)
{
	struct st_context_group *g = ST_PUSH(&x->c->contexts.groups);
	if (!g)
		return ST_FAILED;
	*g = (struct st_context_group){.thread = UINT32_MAX, .function = UINT32_MAX};
	st_forest_init(&g->ksf);
	st_forest_init(&g->kccf);
	for (size_t i = 0; i < p->measurements.series.n; i++)
		if (series_costs_has(x, &p->measurements.series.v[i]) &&
		    series_costs_add(x, &g->ksf, &p->measurements.series.v[i]))
			return ST_FAILED;
	st_forest_total(&g->ksf);
	return g->ksf.out_of_memory ? ST_FAILED : ST_OK;
}

/* Returns the first series with a stack and that metric. */
static const struct st_series *
series_first(const struct st_profile *p, const char *metric)
{
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		if (s->key.n_frames && (!metric || !strcmp(metric, s->key.metric)))
			return s;
	}
	return NULL;
}

/* Fails with the metrics of the series that have a stack. */
static st_status
series_no_metric(const struct st_profile *p, const char *name, const char *metric,
                 struct st_error *e)
{
	char names[512] = "";
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		if (s == series_first(p, s->key.metric))
			st_append(names, sizeof names, "%s%s", *names ? ", " : "", s->key.metric);
	}
	return st_fail(e, ST_EXIT_USAGE, "%s has no metric '%s' with stacks of calls; it has %s",
	               name, metric, names);
}

st_status
st_costs_of_series(struct st_costs *c, const struct st_profile *p, const char *name,
                   const char *metric, bool lines, struct st_error *e)
{
	struct series_costs x = {.c = c, .first = series_first(p, metric), .lines = lines};
	if (!x.first)
		return series_no_metric(p, name, metric, e);
	c->contexts = (struct st_contexts){
	        .profile = p, .mode = ST_CONTEXT_FUNC, .k = ST_K_INFINITE, .join_threads = true};
	c->metric = x.first->key.metric;
	c->unit = x.first->key.unit;
	c->lines = lines;
	c->field = offsetof(struct st_weight, count);
	c->scale = series_scale(&x, p);
	const st_status status = series_costs_fill(&x, p);
	c->contexts.labels = x.labels.v;
	c->contexts.n_labels = c->contexts.n_functions = x.labels.n;
	st_hashmap_free(&x.index);
	return status ? st_fail(e, ST_EXIT_FAILED, "no memory left for the stacks of calls")
	              : ST_OK;
}
