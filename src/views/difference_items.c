/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the items of one side of a difference, as copies of the values of st_metrics_each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/difference.h"

struct items_wanted {
	struct st_difference_items *items;
	enum st_metric_source source;
	const char *table, *metric; /* NULL: all */
};

void
st_difference_items_free(struct st_difference_items *items)
{
	for (size_t i = 0; i < items->v.n; i++) {
		struct st_difference_item *x = &items->v.v[i];
		free(x->name);
		free(x->key);
		free(x->image);
		free(x->build_id);
		free(x->file);
		free(x->metric);
		free(x->unit);
		free(x->values.v);
	}
	free(items->v.v);
}

/* Returns the location, with the labels of a series: "sort (workload large)". malloc'ed; NULL: no
 * memory. */
static char *
items_name(const struct st_metric_values *v)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	if (!out)
		return NULL;
	fputs(v->lasting ? v->lasting : v->location, out);
	for (size_t i = 0; v->series && i < v->series->key.n_labels; i++)
		fprintf(out, "%s%s %s", i ? ", " : " (", v->series->key.labels[i].name,
		        v->series->key.labels[i].value);
	fputs(v->series && v->series->key.n_labels ? ")" : "", out);
	return st_text_end(&built);
}

/* Sets the key. Functions are matched by their names alone, as only one metric of them is compared;
 * measurements by name, metric and unit. */
static st_status
items_key(struct st_difference_item *x, const struct st_metric_values *v)
{
	const bool function = v->source == ST_METRIC_FUNCTION || v->source == ST_METRIC_TRACE ||
	                      v->source == ST_METRIC_MEMORY;
	if (function && !st_match_is_name(v->location, v->image, v->offset))
		return ST_OK;
	x->key = function ? strdup(v->location)
	                  : st_text_of("%s\n%s\n%s", x->name, v->metric, v->unit);
	return x->key ? ST_OK : ST_FAILED;
}

static st_status
items_take(void *of, const struct st_metric_values *v)
{
	const struct items_wanted *w = of;
	if (v->source != w->source || (w->metric && strcmp(w->metric, v->metric) != 0) ||
	    (w->table && strcmp(w->table, v->table) != 0))
		return ST_OK;
	struct st_difference_item *x = ST_PUSH(&w->items->v);
	if (!x)
		return ST_FAILED;
	/* Imported memory profiles have a value for each allocation: they add up. */
	const bool parts = v->series && v->series->key.n_frames &&
	                   !strcmp(v->series->key.kind, ST_KIND_MEMORY);
	*x = (struct st_difference_item){.name = items_name(v),
	                                 .image = v->image ? strdup(v->image) : NULL,
	                                 .build_id = strdup(v->build_id ? v->build_id : ""),
	                                 .file = v->file ? strdup(v->file) : NULL,
	                                 .metric = strdup(v->metric),
	                                 .unit = strdup(v->unit),
	                                 .offset = v->offset,
	                                 .noise = parts ? ST_METRIC_EXACT : v->noise,
	                                 .additive = v->additive || parts,
	                                 .sum = v->noise != ST_METRIC_NOISY || parts ||
	                                        v->source == ST_METRIC_TRACE ||
	                                        (v->source == ST_METRIC_TABLE && v->additive),
	                                 .greatest = v->greatest};
	if (!x->name || !x->build_id || !x->metric || !x->unit || (v->image && !x->image) ||
	    (v->file && !x->file) || items_key(x, v))
		return ST_FAILED;
	for (size_t i = 0; i < v->n; i++) {
		double *slot = isfinite(v->values[i]) ? ST_PUSH(&x->values) : NULL;
		if (slot)
			*slot = v->values[i];
		else if (isfinite(v->values[i]))
			return ST_FAILED;
	}
	return ST_OK;
}

st_status
st_difference_collect(struct st_difference_items *items, const struct st_profile *p,
                      enum st_metric_source source, const char *table, const char *metric,
                      struct st_error *e)
{
	struct items_wanted w = {items, source, table, metric};
	return st_metrics_each(p, &(struct st_metrics_taker){items_take, &w}, e);
}
