/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Series of measurements as locations with runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/side.h"

/* A series of repetitions has one value for each run; its values are numbered or have no features.
 * Other series have one value for each call, request or allocation of one run. */
static bool
has_repetitions(const struct st_series *s)
{
	return !s->features.n || st_series_feature(s, ST_FEATURE_REPETITION) ||
	       st_series_feature(s, ST_FEATURE_ORDER);
}

/* The name of the location. The line is left out if there is a function, because it differs from
 * version to version, and so is the workload. NULL: memory is exhausted. */
static char *
series_name(const struct st_series *s)
{
	const struct st_series_key *k = &s->key;
	const char *const parts[] = {k->module, k->class, k->function};
	struct st_text text;
	const char *between = "";
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i] && *parts[i]) {
			fprintf(out, "%s%s", between, parts[i]);
			between = ":";
		}
	if (!*between)
		fputs(k->file && *k->file ? st_base_name(k->file) : k->metric, out);
	if (!*between && k->file && *k->file && k->line)
		fprintf(out, ":%u", k->line);
	for (size_t i = 0; i < k->n_labels; i++)
		if (strcmp(k->labels[i].name, "workload") != 0)
			fprintf(out, " %s=%s", k->labels[i].name, k->labels[i].value);
	return st_text_end(&text);
}

static double
sum_of_series(const struct st_series *s, double *n)
{
	long double sum = 0;
	size_t counted = 0;
	for (size_t i = 0; i < s->n; i++)
		if (isfinite(s->values[i])) {
			sum += s->values[i];
			counted++;
		}
	*n = (double)counted;
	return (double)sum;
}

static st_status
add_repetitions(struct st_check_item *item, const struct st_series *s)
{
	for (size_t i = 0; i < s->n; i++) {
		double *run = isfinite(s->values[i]) ? ST_PUSH(&item->runs) : NULL;
		if (run)
			*run = s->values[i];
		else if (isfinite(s->values[i]))
			return ST_FAILED;
	}
	return ST_OK;
}

/* Several series of one run at one location, such as allocations with different callers, are
 * added up. */
static st_status
add_calls(struct st_check_side *side, struct st_check_item *item, const struct st_series *s)
{
	double calls, cost = sum_of_series(s, &calls);
	if (item->last_run < side->profiles.n)
		return st_check_set_run(side, item, cost, calls);
	item->runs.v[item->runs.n - 1] += cost;
	item->calls.v[item->calls.n - 1] += calls;
	return ST_OK;
}

static st_status
take_series(struct st_check_side *side, const struct st_profile *p, const struct st_series *s,
            const char *name)
{
	const bool repeated = has_repetitions(s);
	const struct st_check_cost key = {
	        .metric = s->key.metric,
	        .unit = s->key.unit,
	        .image = s->key.image,
	        .file = s->key.file,
	        .name = name,
	        .counts = repeated && !strcmp(s->key.kind, ST_KIND_COUNT),
	};
	struct st_check_item *item = st_check_item_of(side, &key, !repeated, true);
	const struct st_series **slot = item ? ST_PUSH(&item->series) : NULL;
	if (!slot)
		return ST_FAILED;
	*slot = s;
	item->profile = p;
	return repeated ? add_repetitions(item, s) : add_calls(side, item, s);
}

bool
st_check_has_instructions(const struct st_profile *p)
{
	for (size_t i = 0; i < p->functions.n; i++)
		if (p->functions.v[i].instructions)
			return true;
	return false;
}

st_status
st_check_add_series(struct st_check_side *side, const struct st_profile *p, const char *metric)
{
	const bool counted = st_check_has_instructions(p);
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		/* The profile of a job has totals of the run as series: they would count what the
		 * functions have a second time. */
		if (counted && !s->key.function)
			continue;
		char *name = series_name(s), **slot = name ? ST_PUSH(&side->texts) : NULL;
		if (!slot) {
			free(name);
			return ST_FAILED;
		}
		*slot = name;
		if (s->n && (!metric || !strcmp(metric, s->key.metric)) &&
		    take_series(side, p, s, name))
			return ST_FAILED;
	}
	return ST_OK;
}
