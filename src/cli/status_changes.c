/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/status_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/text.h"
#include "store/config.h"

enum { DEFAULT_DEPTH = 1000, DEFAULT_PERCENT = 5, MOST_ROWS = 15 };

/* The groups share the rows of the list, which outlives them. */
static st_status
status_group(const struct st_stored_list *profiles, struct st_status_groups *out,
             struct st_error *e)
{
	for (size_t i = 0; i < profiles->v.n; i++) {
		const struct st_stored *p = &profiles->v.v[i];
		size_t at = 0;
		while (at < out->v.n &&
		       (out->v.v[at].profiles.v.v[0].configuration != p->configuration ||
		        out->v.v[at].profiles.v.v[0].machine != p->machine))
			at++;
		struct st_status_group *g = at < out->v.n ? &out->v.v[at] : ST_PUSH(&out->v);
		struct st_stored *slot = g ? ST_PUSH(&g->profiles.v) : NULL;
		if (!slot) {
			out->v.n -= g && !g->profiles.v.n;
			return st_store_no_memory(e);
		}
		*slot = *p;
	}
	return 0;
}

static st_status
status_read_limits(struct st_store *s, struct st_status_compare *how, long *depth, long *percent,
                   struct st_error *e)
{
	struct st_config c;
	int status = st_config_read(&c, s->vcs->data, e);
	if (!status)
		status = st_config_number(&c, "status.depth", 1, ST_CONFIG_MOST_DEPTH,
		                          DEFAULT_DEPTH, depth, e);
	if (!status)
		status = st_config_number(&c, "status.threshold", 0, ST_CONFIG_MOST_PERCENT,
		                          DEFAULT_PERCENT, percent, e);
	const char *machines = st_config_get(&c, "compare.machines");
	how->any_machine |= machines && !strcmp(machines, "any");
	st_config_free(&c);
	return status ? ST_FAILED : ST_OK;
}

st_status
st_status_compare(struct st_store *s, const struct st_version *head,
                  const struct st_stored_list *profiles, const struct st_status_compare *asked,
                  struct st_status_groups *out, struct st_error *e)
{
	struct st_status_compare how = *asked;
	long depth, percent;
	*out = (struct st_status_groups){0};
	int status = status_read_limits(s, &how, &depth, &percent, e);
	if (!status)
		status = status_group(profiles, out, e);
	for (size_t i = 0; i < out->v.n && !status; i++) {
		struct st_status_group *g = &out->v.v[i];
		const struct st_stored *like = &g->profiles.v.v[0];
		status = how.against ? st_baseline_at(s, how.against, head, like, how.any_machine,
		                                      &g->baseline, e)
		                     : st_baseline_find(s, head, like, (uint64_t)depth,
		                                        how.any_machine, &g->baseline, e);
		if (!status)
			status = st_changes_find(s, &g->baseline.profiles, &g->profiles,
			                         (double)percent, &g->changes, e);
	}
	return status ? ST_FAILED : ST_OK;
}

void
st_status_groups_free(struct st_status_groups *g)
{
	for (size_t i = 0; i < g->v.n; i++) {
		free(g->v.v[i].profiles.v.v);
		st_baseline_free(&g->v.v[i].baseline);
		st_changes_free(&g->v.v[i].changes);
	}
	free(g->v.v);
	*g = (struct st_status_groups){0};
}

bool
st_status_is_worse(const struct st_status_groups *g)
{
	for (size_t i = 0; i < g->v.n; i++)
		for (size_t j = 0; j < g->v.v[i].changes.v.n; j++) {
			enum st_change_kind kind = g->v.v[i].changes.v.v[j].kind;
			if (kind == ST_CHANGE_MORE || kind == ST_CHANGE_NEW)
				return true;
		}
	return false;
}

/* The mean, and between what the values are where there are several. */
static void
status_range_cell(struct st_table *t, const struct st_value_range *s)
{
	char mean[ST_NUMBER_SIZE], least[ST_NUMBER_SIZE], most[ST_NUMBER_SIZE];
	if (!s->n) {
		st_table_cell(t, "-");
		return;
	}
	st_number(mean, (uint64_t)llround(fabs(st_value_range_mean(s))));
	if (s->least == s->most)
		st_table_cell(t, "%s", mean);
	else
		st_table_cell(t, "%s (%s to %s)", mean,
		              st_number(least, (uint64_t)llround(fabs(s->least))),
		              st_number(most, (uint64_t)llround(fabs(s->most))));
}

static void
status_change_row(struct st_table *t, const struct st_change *c)
{
	double from = st_value_range_mean(&c->from), to = st_value_range_mean(&c->to);
	status_range_cell(t, &c->from);
	status_range_cell(t, &c->to);
	if (c->kind == ST_CHANGE_MORE || c->kind == ST_CHANGE_LESS)
		st_table_cell(t, "%+.1f%%", from ? 100 * (to - from) / from : INFINITY);
	else
		st_table_cell(t, "%s", st_change_names[c->kind]);
	st_table_cell(t, "%llu/%llu", (unsigned long long)c->from.n, (unsigned long long)c->to.n);
	st_table_cell(t, "%s%s%s%s", c->name, *c->image ? " [" : "", c->image,
	              *c->image ? "]" : "");
}

static void
status_print_table(const struct st_changes *c, FILE *out)
{
	const struct st_table_column columns[] = {{"before", false},
	                                          {"now", false},
	                                          {"change", false},
	                                          {"values", false},
	                                          {c->exact ? "function" : "metric", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; t && i < c->v.n && i < MOST_ROWS; i++)
		status_change_row(t, &c->v.v[i]);
	if (t)
		st_table_print(t, out, st_style_of(stdout));
	else
		fputs("  out of memory\n", out);
	st_table_free(t);
	if (c->v.n > MOST_ROWS)
		fprintf(out, "  %s more; --format json has all\n", ST_NUMBER(c->v.n - MOST_ROWS));
}

static void
status_print_group(const struct st_store *s, const struct st_status_group *g, FILE *out)
{
	const struct st_stored *like = &g->profiles.v.v[0];
	const struct st_changes *c = &g->changes;
	fprintf(out, "\n%s: %s%s%s, ", like->collector, like->command,
	        *like->workload ? ", workload " : "", like->workload);
	if (g->baseline.refused)
		fprintf(out,
		        "not compared with %.10s of another machine (%s); --any-machine does%s",
		        g->baseline.refused, g->baseline.differences,
		        g->baseline.version.name ? ";\n  " : "\n");
	if (!g->baseline.version.name) {
		fprintf(out, "%s",
		        g->baseline.refused ? "" : "no earlier profile to compare with\n");
		return;
	}
	fprintf(out, "compared with %s %.10s", s->vcs->kind->title, g->baseline.version.name);
	if (g->baseline.steps)
		fprintf(out, ", %s before",
		        ST_COUNT(g->baseline.steps, s->vcs->kind->title,
		                 strcmp(s->vcs->kind->title, "commit") ? "versions" : "commits"));
	if (!c->metric)
		fputs(": these profiles have neither functions nor measurements\n", out);
	else if (!c->v.n)
		fprintf(out, ": no change of %s\n", c->metric);
	else
		fprintf(out, ": %s of %s\n", ST_COUNT(c->v.n, "change", "changes"), c->metric);
	if (c->v.n)
		status_print_table(c, out);
	if (c->noisy)
		fprintf(out, "  %s too few values: measure at least five times on each side\n",
		        ST_COUNT(c->noisy, "metric has", "metrics have"));
}

void
st_status_print_changes(const struct st_store *s, const struct st_status_groups *g, FILE *out)
{
	for (size_t i = 0; i < g->v.n; i++)
		status_print_group(s, &g->v.v[i], out);
}

static json_t *
status_range_json(const struct st_value_range *s)
{
	if (!s->n)
		return json_null();
	return json_pack("{so, sf, sf, sf}", "n", st_json_count(s->n), "least", s->least, "mean",
	                 st_value_range_mean(s), "most", s->most);
}

static json_t *
status_functions_json(const struct st_changes *c)
{
	json_t *all = json_array();
	for (size_t i = 0; i < c->v.n; i++)
		json_array_append_new(all, json_pack("{so, so, ss, so, so}", "name",
		                                     st_json_text(c->v.v[i].name), "image",
		                                     st_json_text(c->v.v[i].image), "kind",
		                                     st_change_names[c->v.v[i].kind], "from",
		                                     status_range_json(&c->v.v[i].from), "to",
		                                     status_range_json(&c->v.v[i].to)));
	return all;
}

json_t *
st_status_changes_json(const struct st_status_groups *g)
{
	json_t *all = json_array();
	for (size_t i = 0; i < g->v.n; i++) {
		const struct st_status_group *one = &g->v.v[i];
		const struct st_stored *like = &one->profiles.v.v[0];
		json_array_append_new(
		        all, json_pack("{so, so, so, so, ss?, so, ss?, so, ss?, sb, so, so}",
		                       "collector", st_json_text(like->collector), "command",
		                       st_json_text(like->command), "workload",
		                       st_json_text(like->workload), "parameters",
		                       st_json_text(like->parameters), "since",
		                       one->baseline.version.name, "steps",
		                       st_json_count(one->baseline.steps), "refused",
		                       one->baseline.refused, "differences",
		                       one->baseline.differences
		                               ? st_json_text(one->baseline.differences)
		                               : json_null(),
		                       "metric", one->changes.metric, "exact", one->changes.exact,
		                       "too_few_values", st_json_count(one->changes.noisy),
		                       "changed", status_functions_json(&one->changes)));
	}
	return all;
}
