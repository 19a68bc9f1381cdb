/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/stored.h"
#include "contexts/choice.h"
#include "profile/profile.h"
#include "views/metrics.h"

/* The profile that is read, and the history to which its values are added. */
struct history_reading {
	struct st_history_values *all;
	const struct st_logged *logged;
	const struct st_stored *stored;
};

void
st_history_values_free(struct st_history_values *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		struct st_history_group *g = &all->v.v[i];
		for (size_t k = 0; k < ST_HISTORY_PART_COUNT; k++)
			free(g->parts[k]);
		free(g->metric);
		free(g->unit);
		free(g->values.v);
	}
	free(all->v.v);
	for (size_t i = 0; i < all->near_names.n; i++)
		free(all->near_names.v[i]);
	free(all->near_names.v);
}

/* The labels of a series, "command sleep 1, statistic mean", except for a workload that the stored
 * profile has, too. malloc'ed; NULL: no memory. */
static char *
history_labels(const struct history_reading *r, const struct st_series *s)
{
	struct st_text built;
	FILE *out = st_text_begin(&built);
	const char *between = "";
	for (size_t i = 0; out && s && i < s->key.n_labels; i++) {
		const struct st_series_label *label = &s->key.labels[i];
		if (!strcmp(label->name, "workload") && r->stored->workload && *r->stored->workload)
			continue;
		fprintf(out, "%s%s %s", between, label->name, label->value);
		between = ", ";
	}
	return out ? st_text_end(&built) : NULL;
}

static bool
history_is_of(const struct st_history_group *g, const struct history_reading *r,
              const struct st_metric_values *v, const char *labels)
{
	return g->configuration == r->stored->configuration && g->machine == r->stored->machine &&
	       !strcmp(g->parts[ST_HISTORY_LOCATION], v->location) &&
	       !strcmp(g->parts[ST_HISTORY_LABELS], labels) && !strcmp(g->metric, v->metric) &&
	       !strcmp(g->unit, v->unit);
}

/* Takes the labels. NULL: no memory. */
static struct st_history_group *
history_add_group(const struct history_reading *r, const struct st_metric_values *v, char *labels)
{
	const char *const parts[ST_HISTORY_PART_COUNT] = {
	        [ST_HISTORY_LOCATION] = v->location,
	        [ST_HISTORY_COLLECTOR] = r->stored->collector,
	        [ST_HISTORY_COMMAND] = r->stored->command,
	        [ST_HISTORY_WORKLOAD] = r->stored->workload,
	        [ST_HISTORY_PARAMETERS] = r->stored->parameters};
	struct st_history_group *g = ST_PUSH(&r->all->v);
	if (!g) {
		free(labels);
		return NULL;
	}
	*g = (struct st_history_group){.logged = r->logged,
	                               .configuration = r->stored->configuration,
	                               .machine = r->stored->machine,
	                               .parts[ST_HISTORY_LABELS] = labels,
	                               .metric = strdup(v->metric),
	                               .unit = strdup(v->unit)};
	bool bad = !g->metric || !g->unit;
	for (size_t i = 0; i < ST_HISTORY_PART_COUNT; i++)
		if (i != ST_HISTORY_LABELS)
			bad |= !(g->parts[i] = strdup(parts[i] ? parts[i] : ""));
	return bad ? NULL : g;
}

/* NULL: no memory. */
static struct st_history_group *
history_group_of(const struct history_reading *r, const struct st_metric_values *v)
{
	struct st_history_values *all = r->all;
	char *labels = history_labels(r, v->series);
	for (size_t i = all->first; labels && i < all->v.n; i++)
		if (history_is_of(&all->v.v[i], r, v, labels)) {
			free(labels);
			return &all->v.v[i];
		}
	return labels ? history_add_group(r, v, labels) : NULL;
}

static bool
history_fits(const char *name, const struct st_metric_values *v)
{
	return (v->location && st_choice_fits(name, v->location)) ||
	       (v->function && st_choice_fits(name, v->function)) ||
	       (v->series && st_metrics_fit(name, v->metric));
}

/* Remembers a function or location as a suggestion, if it is among those most like the name that
 * was asked for. */
static st_status
history_look_near(struct st_history_values *all, const char *name)
{
	if (!name || strpbrk(all->name, "*?["))
		return ST_OK;
	const size_t n = strchr(all->name, '(') ? strlen(name) : st_choice_plain(name);
	st_nearest_few_try(&all->near, name, n);
	for (size_t i = 0; i < all->near.n; i++) {
		if (all->near.best[i].name != name)
			continue;
		char **copy = ST_PUSH(&all->near_names);
		if (!copy || !(*copy = strdup(name)))
			return ST_FAILED;
		all->near.best[i].name = *copy;
	}
	return ST_OK;
}

static st_status
history_take(void *of, const struct st_metric_values *v)
{
	const struct history_reading *r = of;
	if (r->all->metric && strcmp(r->all->metric, v->metric) != 0)
		return ST_OK;
	if (!history_fits(r->all->name, v))
		return r->all->v.n
		               ? ST_OK
		               : history_look_near(r->all, v->function ? v->function : v->location);
	struct st_history_group *g = history_group_of(r, v);
	if (!g)
		return ST_FAILED;
	if (!g->profiles || g->last != r->stored->row) {
		g->profiles++;
		g->last = r->stored->row;
	}
	for (size_t i = 0; i < v->n; i++) {
		double *slot = isfinite(v->values[i]) ? ST_PUSH(&g->values) : NULL;
		if (slot)
			*slot = v->values[i];
		else if (isfinite(v->values[i]))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
history_read_profile(struct history_reading *r, struct st_store *s, struct st_error *e)
{
	const struct st_metrics_taker taker = {history_take, r};
	char *path = NULL;
	struct st_profile *p = NULL;
	st_status status = st_stored_temporary(&path, e);
	if (!status)
		status = st_store_extract(s, r->stored, path, e);
	if (!status && !(p = st_profile_load(path, e)))
		status = ST_FAILED;
	if (!status)
		status = st_metrics_each(p, &taker, e);
	st_profile_free(p);
	st_stored_forget(path);
	return status;
}

static st_status
history_read_version(struct st_history_values *all, struct st_store *s, const struct st_logged *l,
                     struct st_error *e)
{
	struct st_stored_list list = {0};
	st_status status = st_store_of_version(s, &l->version, &list, e);
	all->first = all->v.n;
	for (size_t i = 0; i < list.v.n && !status; i++) {
		struct history_reading r = {all, l, &list.v.v[i]};
		status = history_read_profile(&r, s, e);
	}
	st_stored_list_free(&list);
	return status;
}

st_status
st_history_values(struct st_history_values *all, struct st_store *s, const struct st_history *h,
                  struct st_error *e)
{
	st_status status = ST_OK;
	char near[512];
	all->near = st_nearest_few_to(all->name);
	for (size_t i = 0; i < h->v.n && !status; i++)
		if (h->v.v[i].profiles)
			status = history_read_version(all, s, &h->v.v[i], e);
	if (!status && !all->v.n)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "no stored profile of these versions has a function or series "
		                 "'%s'%s%s%s",
		                 all->name, all->metric ? " with the metric " : "",
		                 all->metric ? all->metric : "",
		                 all->near.n ? st_nearest_question(&all->near, near, sizeof near)
		                             : "; strobe log -p lists the versions that have "
		                               "profiles");
	return status;
}
