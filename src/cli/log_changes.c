/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/log_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/history_series.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/measurements.h"
#include "report/text.h"

static json_t *
change_json(const struct st_history_series *s, size_t i)
{
	const struct st_history_change c = st_history_change_of(s, i);
	const struct st_version *before = &s->groups.v[c.at - 1]->logged->version;
	const struct st_version *after = &s->groups.v[c.at]->logged->version;
	const double relative = st_history_change_relative(&c);
	return json_pack("{ss, ss, so, sI, sf, sf, so, sf}", "before", before->name, "commit",
	                 after->name, "subject", st_json_text(after->subject), "commits",
	                 (json_int_t)c.commits, "from", c.from, "to", c.to, "relative",
	                 st_json_real(relative), "p", c.p);
}

static json_t *
all_series_json(const struct st_history_series_list *all)
{
	json_t *array = json_array();
	for (size_t i = 0; i < all->v.n; i++) {
		const struct st_history_series *s = &all->v.v[i];
		json_t *changes = json_array();
		for (size_t k = 0; k < s->n_changes; k++)
			json_array_append_new(changes, change_json(s, k));
		json_t *one =
		        json_pack("{so, ss, sI, sb, so}", "metric", st_json_text(s->first->metric),
		                  "unit", s->first->unit, "versions", (json_int_t)s->medians.n,
		                  "enough", s->medians.n >= ST_HISTORY_FEWEST, "changes", changes);
		st_history_put_parts(one, s->first);
		json_array_append_new(array, one);
	}
	return json_pack("{si, so}", "version", ST_JSON_VERSION, "series", array);
}

static void
change_of_series_row(struct st_table *t, const struct st_history_series *s, size_t i,
                     const char *name)
{
	const struct st_history_change c = st_history_change_of(s, i);
	const double relative = st_history_change_relative(&c);
	char from[2 * ST_NUMBER_SIZE], to[2 * ST_NUMBER_SIZE];
	st_table_cell(t, "%.10s..%.10s", s->groups.v[c.at - 1]->logged->version.name,
	              s->groups.v[c.at]->logged->version.name);
	st_table_count(t, c.commits);
	st_table_cell(t, "%s", st_measured_text(from, s->first->unit, c.from));
	st_table_cell(t, "%s", st_measured_text(to, s->first->unit, c.to));
	if (isfinite(relative))
		st_table_cell(t, "%+.1f %%", 100 * relative);
	else
		st_table_cell(t, "-");
	st_table_cell(t, "%.3f", c.p);
	st_table_cell(t, "%s of %s", s->first->metric, name);
}

static void
print_unchanged(const struct st_history_series *s, const char *name, FILE *out)
{
	if (s->medians.n < ST_HISTORY_FEWEST)
		fprintf(out, "%s of %s: cannot tell: only %s, and %d are needed\n",
		        s->first->metric, name,
		        ST_COUNT(s->medians.n, "version has a profile", "versions have profiles"),
		        ST_HISTORY_FEWEST);
	else if (!s->n_changes)
		fprintf(out, "%s of %s: no change in %s\n", s->first->metric, name,
		        ST_COUNT(s->medians.n, "version", "versions"));
}

/* Adds the changes of a series to the table, or says in `unchanged` that it has none. */
static st_status
print_series(const struct st_history_series_list *all, const struct st_history_series *s,
             struct st_table *t, FILE *unchanged)
{
	char *name = st_history_long_name(&all->naming, s->first);
	for (size_t k = 0; name && k < s->n_changes; k++)
		change_of_series_row(t, s, k, name);
	if (name)
		print_unchanged(s, name, unchanged);
	free(name);
	return name ? ST_OK : ST_FAILED;
}

static st_status
print_all_series(const struct st_history_series_list *all, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"range", true}, {"commits", false}, {"before", false}, {"after", false},
	        {"by", false},   {"p", false},       {"of", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	struct st_text unchanged;
	FILE *lines = st_text_begin(&unchanged);
	st_status status = t && lines ? ST_OK : ST_FAILED;
	for (size_t i = 0; i < all->v.n && !status; i++)
		status = print_series(all, &all->v.v[i], t, lines);
	char *text = lines ? st_text_end(&unchanged) : NULL;
	if (!status && st_table_rows(t))
		st_table_print(t, out, st_style_of(stdout));
	if (!status && text)
		fputs(text, out);
	status = text ? status : ST_FAILED;
	st_table_free(t);
	free(text);
	return status;
}

st_status
st_log_changes(struct st_store *s, const struct st_history *h, const char *name, bool json,
               struct st_error *e)
{
	struct st_history_values values = {.name = name};
	struct st_history_series_list all = {0};
	struct st_safe safe;
	st_status status = st_history_values(&values, s, h, e);
	if (!status && st_history_series_make(&all, &values, 0))
		status = st_store_no_memory(e);
	if (!status && json) {
		status = st_stored_print_json(all_series_json(&all), e);
	} else if (!status) {
		status = st_safe_begin(&safe, stdout) && !print_all_series(&all, safe.text.out)
		                 ? ST_OK
		                 : st_store_no_memory(e);
		if (!status)
			st_safe_end(&safe);
	}
	st_history_series_free(&all);
	st_history_values_free(&values);
	return status;
}
