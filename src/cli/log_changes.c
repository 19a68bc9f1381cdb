/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/log_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/history.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/measurements.h"
#include "report/text.h"
#include "stats/change_points.h"
#include "stats/robust.h"

/* With fewer than seven values, no change can be significant: of seven values, one of 35 divisions
 * into three and four is as clear as the best one. */
enum { FEWEST_VERSIONS = 7, LEAST_SEGMENT = 2, ROUNDS = 999, SEED = 1 };
#define ALPHA 0.05

/* The medians of one location, metric, command and machine, the oldest version first. */
struct log_series {
	const struct st_history_group *first;
	ST_VEC(const struct st_history_group *) groups;
	ST_VEC(double) values;
	struct st_change_point *changes;
	size_t n_changes;
};

struct log_all_series {
	ST_VEC(struct log_series) v;
};

static bool
is_of_series(const struct log_series *s, const struct st_history_group *g)
{
	const struct st_history_group *f = s->first;
	return f->configuration == g->configuration && f->machine == g->machine &&
	       !strcmp(f->location, g->location) && !strcmp(f->metric, g->metric) &&
	       !strcmp(f->unit, g->unit);
}

static st_status
add_to_series(struct log_all_series *all, const struct st_history_group *g)
{
	size_t at = 0;
	if (!g->values.n)
		return ST_OK;
	while (at < all->v.n && !is_of_series(&all->v.v[at], g))
		at++;
	struct log_series *s = at < all->v.n ? &all->v.v[at] : ST_PUSH(&all->v);
	if (!s)
		return ST_FAILED;
	if (!s->first)
		s->first = g;
	const struct st_history_group **group = ST_PUSH(&s->groups);
	double *value = group ? ST_PUSH(&s->values) : NULL;
	if (!value)
		return ST_FAILED;
	*group = g;
	*value = st_median(g->values.v, g->values.n);
	return ST_OK;
}

static st_status
find_changes(struct log_series *s)
{
	s->changes = calloc(s->values.n + 1, sizeof *s->changes);
	if (!s->changes)
		return ST_FAILED;
	return s->values.n < FEWEST_VERSIONS
	               ? ST_OK
	               : st_change_points(s->values.v, s->values.n, LEAST_SEGMENT, ROUNDS, ALPHA,
	                                  SEED, s->changes, &s->n_changes);
}

/* A change with the medians of the values between it and the changes before and after it. */
struct log_change {
	const struct st_history_group *before, *after; /* the versions next to it */
	size_t commits;                                /* in the range before..after */
	double from, to, p;
};

static struct log_change
change_of_series(const struct log_series *s, size_t i)
{
	const size_t at = s->changes[i].at, begin = i ? s->changes[i - 1].at : 0;
	const size_t end = i + 1 < s->n_changes ? s->changes[i + 1].at : s->values.n;
	struct log_change c = {.before = s->groups.v[at - 1],
	                       .after = s->groups.v[at],
	                       .from = st_median(s->values.v + begin, at - begin),
	                       .to = st_median(s->values.v + at, end - at),
	                       .p = s->changes[i].p};
	c.commits = (size_t)(c.before->logged - c.after->logged);
	return c;
}

static void
free_all_series(struct log_all_series *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		free(all->v.v[i].groups.v);
		free(all->v.v[i].values.v);
		free(all->v.v[i].changes);
	}
	free(all->v.v);
}

/* The history has the youngest version first, and versions that are not in it at the end. */
static st_status
make_all_series(struct log_all_series *all, const struct st_history_values *values)
{
	for (size_t i = values->v.n; i-- > 0;)
		if (!values->v.v[i].logged->gone && add_to_series(all, &values->v.v[i]))
			return ST_FAILED;
	for (size_t i = 0; i < all->v.n; i++)
		if (find_changes(&all->v.v[i]))
			return ST_FAILED;
	return ST_OK;
}

static json_t *
change_json(const struct log_series *s, size_t i)
{
	const struct log_change c = change_of_series(s, i);
	return json_pack("{ss, ss, so, sI, sf, sf, so, sf}", "before",
	                 c.before->logged->version.name, "commit", c.after->logged->version.name,
	                 "subject", st_json_text(c.after->logged->version.subject), "commits",
	                 (json_int_t)c.commits, "from", c.from, "to", c.to, "relative",
	                 c.from != 0 ? json_real((c.to - c.from) / fabs(c.from)) : json_null(), "p",
	                 c.p);
}

static json_t *
all_series_json(const struct log_all_series *all)
{
	json_t *array = json_array();
	for (size_t i = 0; i < all->v.n; i++) {
		const struct log_series *s = &all->v.v[i];
		json_t *changes = json_array();
		for (size_t k = 0; k < s->n_changes; k++)
			json_array_append_new(changes, change_json(s, k));
		json_array_append_new(
		        array, json_pack("{so, so, ss, so, sI, sb, so}", "location",
		                         st_json_text(s->first->location), "metric",
		                         st_json_text(s->first->metric), "unit", s->first->unit,
		                         "command", st_json_text(s->first->command), "versions",
		                         (json_int_t)s->values.n, "enough",
		                         s->values.n >= FEWEST_VERSIONS, "changes", changes));
	}
	return json_pack("{si, so}", "version", ST_JSON_VERSION, "series", array);
}

static void
change_of_series_row(struct st_table *t, const struct log_series *s, size_t i)
{
	const struct log_change c = change_of_series(s, i);
	char from[2 * ST_NUMBER_SIZE], to[2 * ST_NUMBER_SIZE];
	st_table_cell(t, "%.10s..%.10s", c.before->logged->version.name,
	              c.after->logged->version.name);
	st_table_count(t, c.commits);
	st_table_cell(t, "%s", st_measured_text(from, s->first->unit, c.from));
	st_table_cell(t, "%s", st_measured_text(to, s->first->unit, c.to));
	if (c.from != 0)
		st_table_cell(t, "%+.1f %%", 100 * (c.to - c.from) / fabs(c.from));
	else
		st_table_cell(t, "-");
	st_table_cell(t, "%.3f", c.p);
	st_table_cell(t, "%s of %s: %s", s->first->metric, s->first->location, s->first->command);
}

static void
print_unchanged_series(const struct log_all_series *all, FILE *out)
{
	for (size_t i = 0; i < all->v.n; i++) {
		const struct log_series *s = &all->v.v[i];
		if (s->values.n < FEWEST_VERSIONS)
			fprintf(out,
			        "%s of %s: %s: cannot tell: only %s profiles, and %d are needed\n",
			        s->first->metric, s->first->location, s->first->command,
			        ST_COUNT(s->values.n, "version has", "versions have"),
			        FEWEST_VERSIONS);
		else if (!s->n_changes)
			fprintf(out, "%s of %s: %s: no change in %zu versions\n", s->first->metric,
			        s->first->location, s->first->command, s->values.n);
	}
}

static st_status
print_all_series(const struct log_all_series *all, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"range", true}, {"commits", false}, {"before", false}, {"after", false},
	        {"by", false},   {"p", false},       {"of", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	if (!t)
		return ST_FAILED;
	for (size_t i = 0; i < all->v.n; i++)
		for (size_t k = 0; k < all->v.v[i].n_changes; k++)
			change_of_series_row(t, &all->v.v[i], k);
	if (st_table_rows(t))
		st_table_print(t, out, st_style_of(stdout));
	st_table_free(t);
	print_unchanged_series(all, out);
	return ST_OK;
}

st_status
st_log_changes(struct st_store *s, const struct st_history *h, const char *name, bool json,
               struct st_error *e)
{
	struct st_history_values values = {.name = name};
	struct log_all_series all = {0};
	struct st_safe safe;
	st_status status = st_history_values(&values, s, h, e);
	if (!status && make_all_series(&all, &values))
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
	free_all_series(&all);
	st_history_values_free(&values);
	return status;
}
