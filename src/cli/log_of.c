/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/log_of.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/history.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/measurements.h"
#include "report/text.h"
#include "stats/spread.h"

static json_t *
log_group_json(const struct st_history_group *g, const struct st_spread *s)
{
	json_t *one = json_pack("{ss, so, ss, so, sI, sI, so, so, so, so, so, so}", "commit",
	                        g->logged->version.name, "metric", st_json_text(g->metric), "unit",
	                        g->unit, "subject", st_json_text(g->logged->version.subject),
	                        "profiles", (json_int_t)g->profiles, "n", (json_int_t)s->n,
	                        "median", st_json_real(s->median), "median_low",
	                        st_json_real(s->median_low), "median_high",
	                        st_json_real(s->median_high), "mean", st_json_real(s->mean), "min",
	                        st_json_real(s->least), "max", st_json_real(s->most));
	st_history_put_parts(one, g);
	return one;
}

static void
log_value_cell(struct st_table *t, const char *unit, double value)
{
	char text[2 * ST_NUMBER_SIZE];
	st_table_cell(t, "%s", st_measured_text(text, unit, value));
}

static st_status
log_group_row(struct st_table *t, const struct st_history_naming *naming,
              const struct st_history_group *g, const struct st_spread *s)
{
	char *name = st_history_long_name(naming, g);
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
	st_table_cell(t, "%s", name ? name : "");
	free(name);
	return name ? ST_OK : ST_FAILED;
}

static st_status
log_choose_names(const struct st_history_values *all, struct st_history_naming *naming)
{
	const struct st_history_group **groups = calloc(all->v.n + 1, sizeof *groups);
	for (size_t i = 0; groups && i < all->v.n; i++)
		groups[i] = &all->v.v[i];
	const st_status status =
	        groups ? st_history_naming_of(naming, groups, all->v.n) : ST_FAILED;
	free(groups);
	return status;
}

static st_status
log_print_groups(const struct st_history_values *all, const struct st_store *store, bool json,
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
	                                          {"of", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	json_t *array = json_array();
	struct st_safe safe;
	struct st_history_naming naming;
	st_status status =
	        t && array && !log_choose_names(all, &naming) ? ST_OK : st_store_no_memory(e);
	for (size_t i = 0; i < all->v.n && !status; i++) {
		const struct st_history_group *g = &all->v.v[i];
		struct st_spread s;
		if (st_spread_of(g->values.v, g->values.n, &s))
			status = st_store_no_memory(e);
		else if (json)
			json_array_append_new(array, log_group_json(g, &s));
		else
			status = log_group_row(t, &naming, g, &s) ? st_store_no_memory(e) : ST_OK;
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
	struct st_history_values all = {.name = name};
	st_status status = st_history_values(&all, s, h, e);
	if (!status)
		status = log_print_groups(&all, s, json, e);
	st_history_values_free(&all);
	return status;
}
