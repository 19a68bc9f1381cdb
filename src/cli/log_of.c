/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/log_of.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "profile/profile.h"
#include "report/json.h"
#include "report/measurements.h"
#include "report/text.h"
#include "stats/spread.h"

/* The values of one location and metric, of one version, command and machine. */
struct log_group {
	const struct st_logged *logged;
	int64_t configuration, machine;
	char *location, *metric, *unit, *command;
	size_t profiles;
	int64_t last; /* the profile that was counted last */
	ST_VEC(double) values;
};

struct log_groups {
	const char *name;
	ST_VEC(struct log_group) v;
	size_t first; /* of this version */
};

static bool
log_fits(const char *name, const char *text)
{
	return text && (!strcmp(name, text) || !fnmatch(name, text, 0));
}

static void
log_groups_free(struct log_groups *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		struct log_group *g = &all->v.v[i];
		free(g->location);
		free(g->metric);
		free(g->unit);
		free(g->command);
		free(g->values.v);
	}
	free(all->v.v);
}

/* NULL: no memory. */
static struct log_group *
log_group_of(struct log_groups *all, const struct st_logged *l, const struct st_stored *p,
             const char *location, const char *metric, const char *unit)
{
	for (size_t i = all->first; i < all->v.n; i++) {
		struct log_group *g = &all->v.v[i];
		if (g->configuration == p->configuration && g->machine == p->machine &&
		    !strcmp(g->location, location) && !strcmp(g->metric, metric) &&
		    !strcmp(g->unit, unit))
			return g;
	}
	struct log_group *g = ST_PUSH(&all->v);
	if (!g)
		return NULL;
	*g = (struct log_group){.logged = l,
	                        .configuration = p->configuration,
	                        .machine = p->machine,
	                        .location = strdup(location),
	                        .metric = strdup(metric),
	                        .unit = strdup(unit),
	                        .command = strdup(p->command ? p->command : "")};
	return g->location && g->metric && g->unit && g->command ? g : NULL;
}

static st_status
log_group_add(struct log_group *g, const struct st_stored *p, double value)
{
	double *slot = g && isfinite(value) ? ST_PUSH(&g->values) : NULL;
	if (g && (!g->profiles || g->last != p->row)) {
		g->profiles++;
		g->last = p->row;
	}
	if (slot)
		*slot = value;
	return slot || (g && !isfinite(value)) ? ST_OK : ST_FAILED;
}

static st_status
log_take(struct log_groups *all, const struct st_logged *l, const struct st_stored *stored,
         const struct st_profile *p)
{
	for (size_t i = 0; i < p->functions.n; i++) {
		const struct st_profile_function *f = &p->functions.v[i];
		if (log_fits(all->name, f->name) &&
		    log_group_add(log_group_of(all, l, stored, f->name, "instructions", ""), stored,
		                  (double)f->instructions))
			return ST_FAILED;
	}
	for (size_t i = 0; i < p->measurements.series.n; i++) {
		const struct st_series *s = &p->measurements.series.v[i];
		char *uid = st_series_uid(s);
		st_status status = uid ? ST_OK : ST_FAILED;
		if (uid && (log_fits(all->name, uid) || log_fits(all->name, s->key.function) ||
		            log_fits(all->name, s->key.metric)))
			for (size_t k = 0; k < s->n && !status; k++)
				status = log_group_add(log_group_of(all, l, stored, uid,
				                                    s->key.metric, s->key.unit),
				                       stored, s->values[k]);
		free(uid);
		if (status)
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
log_read_profile(struct log_groups *all, struct st_store *s, const struct st_logged *l,
                 const struct st_stored *stored, struct st_error *e)
{
	char *path = NULL;
	struct st_profile *p = NULL;
	st_status status = st_stored_temporary(&path, e);
	if (!status)
		status = st_store_extract(s, stored, path, e);
	if (!status && !(p = st_profile_load(path, e)))
		status = ST_FAILED;
	if (!status && log_take(all, l, stored, p))
		status = st_store_no_memory(e);
	st_profile_free(p);
	st_stored_forget(path);
	return status;
}

static st_status
log_read_version(struct log_groups *all, struct st_store *s, const struct st_logged *l,
                 struct st_error *e)
{
	struct st_stored_list list = {0};
	st_status status = st_store_of_version(s, &l->version, &list, e);
	all->first = all->v.n;
	for (size_t i = 0; i < list.v.n && !status; i++)
		status = log_read_profile(all, s, l, &list.v.v[i], e);
	st_stored_list_free(&list);
	return status;
}

static json_t *
log_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
log_group_json(const struct log_group *g, const struct st_spread *s)
{
	return json_pack("{ss, so, so, so, ss, so, sI, sI, so, so, so, so, so, so}", "commit",
	                 g->logged->version.name, "command", st_json_text(g->command), "location",
	                 st_json_text(g->location), "metric", st_json_text(g->metric), "unit",
	                 g->unit, "subject", st_json_text(g->logged->version.subject), "profiles",
	                 (json_int_t)g->profiles, "n", (json_int_t)s->n, "median",
	                 log_number(s->median), "median_low", log_number(s->median_low),
	                 "median_high", log_number(s->median_high), "mean", log_number(s->mean),
	                 "min", log_number(s->least), "max", log_number(s->most));
}

static void
log_value_cell(struct st_table *t, const char *unit, double value)
{
	char text[2 * ST_NUMBER_SIZE];
	st_table_cell(t, "%s", st_measured_text(text, unit, value));
}

static void
log_group_row(struct st_table *t, const struct log_group *g, const struct st_spread *s)
{
	char low[2 * ST_NUMBER_SIZE], high[2 * ST_NUMBER_SIZE];
	st_table_cell(t, "%.10s", g->logged->version.name);
	st_table_cell(t, "%s", g->metric);
	st_table_count(t, g->profiles);
	st_table_count(t, s->n);
	log_value_cell(t, g->unit, s->median);
	if (isfinite(s->median_low))
		st_table_cell(t, "%s to %s", st_measured_text(low, g->unit, s->median_low),
		              st_measured_text(high, g->unit, s->median_high));
	else
		st_table_cell(t, "-");
	log_value_cell(t, g->unit, s->least);
	log_value_cell(t, g->unit, s->most);
	st_table_cell(t, "%s", g->location);
	st_table_cell(t, "%s", g->command);
}

static st_status
log_print_groups(const struct log_groups *all, const struct st_store *store, bool json,
                 struct st_error *e)
{
	const struct st_table_column columns[] = {{store->vcs->kind->title, true},
	                                          {"metric", true},
	                                          {"profiles", false},
	                                          {"n", false},
	                                          {"median", false},
	                                          {"95 %", false},
	                                          {"min", false},
	                                          {"max", false},
	                                          {"location", true},
	                                          {"command", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	json_t *array = json_array();
	struct st_safe safe;
	st_status status = t && array ? ST_OK : st_store_no_memory(e);
	for (size_t i = 0; i < all->v.n && !status; i++) {
		const struct log_group *g = &all->v.v[i];
		struct st_spread s;
		if (st_spread_of(g->values.v, g->values.n, &s))
			status = st_store_no_memory(e);
		else if (json)
			json_array_append_new(array, log_group_json(g, &s));
		else
			log_group_row(t, g, &s);
	}
	if (!status && json)
		status = st_stored_print_json(
		        json_pack("{si, sO}", "version", ST_JSON_VERSION, "history", array), e);
	else if (!status && !st_safe_begin(&safe, stdout))
		status = st_store_no_memory(e);
	else if (!status) {
		st_table_print(t, safe.text.out, st_style_of(stdout));
		st_safe_end(&safe);
	}
	json_decref(array);
	st_table_free(t);
	return status;
}

st_status
st_log_of(struct st_store *s, const struct st_history *h, const char *name, bool json,
          struct st_error *e)
{
	struct log_groups all = {.name = name};
	st_status status = ST_OK;
	for (size_t i = 0; i < h->v.n && !status; i++)
		if (h->v.v[i].profiles)
			status = log_read_version(&all, s, &h->v.v[i], e);
	if (!status && !all.v.n)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "no stored profile of these versions has a function or series "
		                 "'%s'; strobe log -p lists the versions that have profiles",
		                 name);
	if (!status)
		status = log_print_groups(&all, s, json, e);
	log_groups_free(&all);
	return status;
}
