/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_history.h"

#include <stdlib.h>

#include "base/number.h"
#include "cli/history_series.h"
#include "report/json.h"
#include "report/page.h"
#include "stats/spread.h"
#include "store/store.h"

/* A page has no space for the history of thousands of functions, and nobody looks at all of them.
 */
enum { REPORT_MOST_SERIES = 200 };

/* Versions with values. index: by the place in the history, the oldest is 0. */
struct report_versions {
	const struct st_history *history;
	size_t *index;
	json_t *list;
};

static size_t
version_index(const struct report_versions *v, const struct st_history_group *g)
{
	return v->index[g->logged - v->history->v.v];
}

/* Lists the versions in which any series has values. NULL list: memory is exhausted. */
static void
list_versions(struct report_versions *v, const struct st_history_series_list *all)
{
	const size_t n = v->history->v.n;
	v->list = json_array();
	v->index = calloc(n + 1, sizeof *v->index);
	for (size_t i = 0; v->index && i < all->v.n; i++)
		for (size_t k = 0; k < all->v.v[i].groups.n; k++)
			v->index[all->v.v[i].groups.v[k]->logged - v->history->v.v] = 1;
	for (size_t i = n; v->index && i-- > 0;) {
		const struct st_version *version = &v->history->v.v[i].version;
		if (!v->index[i])
			continue;
		v->index[i] = json_array_size(v->list);
		json_array_append_new(v->list,
		                      json_pack("{so, so, sI}", "name", st_json_text(version->name),
		                                "subject", st_json_text(version->subject), "time",
		                                (json_int_t)version->time));
	}
}

/* NULL: memory is exhausted. */
static json_t *
point_json(const struct report_versions *v, const struct st_history_group *g)
{
	struct st_spread s;
	if (st_spread_of(g->values.v, g->values.n, &s))
		return NULL;
	return json_pack("{sI, sI, sI, so, so, so, so, so}", "version",
	                 (json_int_t)version_index(v, g), "profiles", (json_int_t)g->profiles, "n",
	                 (json_int_t)s.n, "median", st_json_real(s.median), "low",
	                 st_json_real(s.median_low), "high", st_json_real(s.median_high), "min",
	                 st_json_real(s.least), "max", st_json_real(s.most));
}

static json_t *
history_change_json(const struct report_versions *v, const struct st_history_series *s, size_t i)
{
	const struct st_history_change c = st_history_change_of(s, i);
	return json_pack("{sI, sI, sI, so, so, so, so}", "before",
	                 (json_int_t)version_index(v, s->groups.v[c.at - 1]), "after",
	                 (json_int_t)version_index(v, s->groups.v[c.at]), "commits",
	                 (json_int_t)c.commits, "from", st_json_real(c.from), "to",
	                 st_json_real(c.to), "relative",
	                 st_json_real(st_history_change_relative(&c)), "p", st_json_real(c.p));
}

static json_t *
series_json(const struct report_versions *v, const struct st_history_series *s)
{
	const struct st_history_group *g = s->first;
	json_t *points = json_array(), *changes = json_array();
	for (size_t i = 0; i < s->groups.n; i++)
		json_array_append_new(points, point_json(v, s->groups.v[i]));
	for (size_t i = 0; i < s->n_changes; i++)
		json_array_append_new(changes, history_change_json(v, s, i));
	json_t *one =
	        json_pack("{so, so, sI, sI, so, so}", "metric", st_json_text(g->metric), "unit",
	                  st_json_text(g->unit), "machine", (json_int_t)g->machine, "configuration",
	                  (json_int_t)g->configuration, "points", points, "changes", changes);
	st_history_put_parts(one, g);
	return one;
}

static json_t *
history_json(const char *name, const char *kind, const struct st_history *h,
             const struct st_history_series_list *all)
{
	struct report_versions v = {.history = h};
	json_t *series = json_array();
	list_versions(&v, all);
	for (size_t i = 0; v.index && i < all->v.n; i++)
		json_array_append_new(series, series_json(&v, &all->v.v[i]));
	const bool bad = !v.index || json_array_size(series) < all->v.n;
	free(v.index);
	json_t *out = json_pack("{so, ss, so, so, sI, sI, sb}", "name", st_json_text(name), "kind",
	                        kind, "versions", v.list, "series", series, "left_out",
	                        (json_int_t)all->left_out, "fewest", (json_int_t)ST_HISTORY_FEWEST,
	                        "whole", h->whole);
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static st_status
add_of_store(json_t *page, const struct st_report_history *what, struct st_store *s,
             struct st_error *e)
{
	struct st_history h = {0};
	struct st_history_values values = {.name = what->name};
	struct st_history_series_list all = {0};
	st_status status = st_history_read(s, what->rev, what->versions, false, &h, e);
	if (!status)
		status = st_history_values(&values, s, &h, e);
	if (!status && st_history_series_make(&all, &values, REPORT_MOST_SERIES))
		status = st_store_no_memory(e);
	if (!status &&
	    st_page_add_history(page, history_json(what->name, s->vcs->kind->title, &h, &all)))
		status = st_store_no_memory(e);
	if (!status && all.left_out)
		fprintf(stderr,
		        "strobe: the page has the history of %d series that fit '%s', and leaves "
		        "out %s; name fewer functions with --history\n",
		        REPORT_MOST_SERIES, what->name, ST_NUMBER(all.left_out));
	st_history_series_free(&all);
	st_history_values_free(&values);
	st_history_free(&h);
	return status;
}

st_status
st_report_add_history(json_t *page, const struct st_report_history *what, struct st_error *e)
{
	struct st_store s;
	if (st_store_open(&s, e))
		return ST_FAILED;
	const st_status status = add_of_store(page, what, &s, e);
	st_store_close(&s);
	return status;
}
