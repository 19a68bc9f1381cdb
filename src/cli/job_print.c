/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outcome of a job. */
#include <string.h>

#include "base/number.h"
#include "cli/job.h"
#include "cli/stored.h"
#include "report/json.h"
#include "report/text.h"

/* Equal failures of many runs are one line each up to here. */
enum { MOST_FAILURES = 10 };

static const char *
job_state(const struct st_job_version *v)
{
	return v->state == ST_JOB_LEFT_OUT ? "has profiles already" : st_job_states[v->state];
}

static void
job_print_row(struct st_table *t, const struct st_job_version *v)
{
	st_table_cell(t, "%.10s", v->name);
	st_table_count(t, v->runs);
	st_table_count(t, v->resumed);
	st_table_count(t, v->profiles.n);
	st_table_count(t, v->failures.n);
	st_table_count(t, v->exits);
	st_table_cell(t, "%s", job_state(v));
}

/* prefix: what each line begins with. */
static void
job_print_causes_of(const struct st_job_version *v, const char *prefix, FILE *to)
{
	if (v->reason)
		fprintf(to, "%s%.10s: %s\n", prefix, v->name, v->reason);
	for (size_t i = 0; i < v->failures.n && i < MOST_FAILURES; i++)
		fprintf(to, "%s%.10s: no profile, %s: %s\n", prefix, v->name,
		        v->failures.v[i].title, v->failures.v[i].reason);
	if (v->failures.n > MOST_FAILURES)
		fprintf(to, "%s%.10s: and %s more without a profile\n", prefix, v->name,
		        ST_NUMBER(v->failures.n - MOST_FAILURES));
}

void
st_job_print_causes(const struct st_job_outcome *out, FILE *to)
{
	for (size_t i = 0; i < out->versions.n; i++)
		job_print_causes_of(&out->versions.v[i], "strobe: ", to);
}

st_status
st_job_print(const struct st_job_outcome *out, FILE *to)
{
	static const struct st_table_column columns[] = {
	        {"version", true},   {"runs", false},   {"resumed", false},
	        {"profiles", false}, {"failed", false}, {"programs failed", false},
	        {"state", true}};
	struct st_table *t = st_table_new(columns, sizeof columns / sizeof *columns);
	if (!t)
		return ST_FAILED;
	for (size_t i = 0; i < out->versions.n; i++)
		job_print_row(t, &out->versions.v[i]);
	st_table_print(t, to, st_style_of(stdout));
	st_table_free(t);
	for (size_t i = 0; i < out->versions.n; i++)
		job_print_causes_of(&out->versions.v[i], "", to);
	fprintf(to, "profiles: %s\n", out->stored ? "in the store" : out->results);
	return ST_OK;
}

static json_t *
job_texts_json(char *const *texts, size_t n)
{
	json_t *all = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(all, st_json_text(texts[i]));
	return all;
}

static json_t *
job_failures_json(const struct st_job_version *v)
{
	json_t *all = json_array();
	for (size_t i = 0; i < v->failures.n; i++)
		json_array_append_new(all, json_pack("{so, so}", "run",
		                                     st_json_text(v->failures.v[i].title), "reason",
		                                     st_json_text(v->failures.v[i].reason)));
	return all;
}

st_status
st_job_print_json(const struct st_job_outcome *out, struct st_error *e)
{
	json_t *all = json_array();
	for (size_t i = 0; i < out->versions.n; i++) {
		const struct st_job_version *v = &out->versions.v[i];
		json_array_append_new(
		        all, json_pack("{ss, ss, so, so, so, so, so, so}", "version", v->name,
		                       "state", st_job_states[v->state], "reason",
		                       v->reason ? st_json_text(v->reason) : json_null(), "runs",
		                       st_json_count(v->runs), "resumed", st_json_count(v->resumed),
		                       "programs_failed", st_json_count(v->exits), "profiles",
		                       job_texts_json(v->profiles.v, v->profiles.n), "failures",
		                       job_failures_json(v)));
	}
	return st_stored_print_json(
	        json_pack("{si, so, sb, so}", "version", ST_JSON_VERSION, "versions", all, "stored",
	                  out->stored, "results",
	                  out->stored || !out->results ? json_null() : st_json_text(out->results)),
	        e);
}
