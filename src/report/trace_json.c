/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "profile/profile.h"
#include "report/json.h"
#include "report/trace.h"
#include "report/trace_limits.h"

static json_t *
trace_json_text_or_null(const char *text)
{
	return text && *text ? st_json_text(text) : json_null();
}

static json_t *
quantile_or_null(const struct st_trace_function *f, double q)
{
	uint64_t ns;
	return st_trace_quantile(f, q, &ns) ? st_json_count(ns) : json_null();
}

static json_t *
count_or_null(bool known, uint64_t value)
{
	return known ? st_json_count(value) : json_null();
}

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)

static json_t *
function_json(const struct st_trace *t, const struct st_trace_function *f)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "name", st_json_text(f->name));
	SET(out, "image", trace_json_text_or_null(f->image));
	SET(out, "offset", count_or_null(f->image, f->offset));
	SET(out, "file", trace_json_text_or_null(f->file));
	SET(out, "line", count_or_null(f->line, f->line));
	if (f->tid >= 0)
		SET(out, "tid", json_integer(f->tid));
	SET(out, "calls", st_json_count(f->calls));
	SET(out, "timed", st_json_count(f->calls - f->counted));
	SET(out, "lost", st_json_count(f->lost));
	if (st_trace_was_dropped(t, f))
		SET(out, "dropped", json_true());
	if (f->counted) {
		SET(out, "estimated", json_true());
		SET(out, "inclusive_error_ns", count_or_null(!f->error_unknown, f->error_ns));
	}
	SET(out, "inclusive_ns", st_json_count(f->inclusive_ns));
	SET(out, "outermost_ns", st_json_count(f->outermost_ns));
	SET(out, "exclusive_ns", st_json_count(f->exclusive_ns));
	SET(out, "min_ns", count_or_null(f->calls - f->counted, f->min_ns));
	SET(out, "p50_ns", quantile_or_null(f, 0.5));
	SET(out, "p90_ns", quantile_or_null(f, 0.9));
	SET(out, "p99_ns", quantile_or_null(f, 0.99));
	SET(out, "max_ns", count_or_null(f->calls - f->counted, f->max_ns));
	if (t->probe.ps)
		SET(out, "resolved", json_boolean(st_trace_is_resolved(t, f)));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
trace_json_pair_json(const struct st_trace *t, const struct st_trace_pair *pair)
{
	json_t *out = json_object();
	const bool traced = pair->caller != ST_TRACE_NOBODY;
	const struct st_trace_function *v = t->functions.v;
	int bad = 0;
	SET(out, "caller", traced ? st_json_text(v[pair->caller].name) : json_null());
	SET(out, "callee", st_json_text(v[pair->callee].name));
	SET(out, "caller_index", count_or_null(traced, pair->caller));
	SET(out, "callee_index", st_json_count(pair->callee));
	SET(out, "calls", st_json_count(pair->calls));
	SET(out, "inclusive_ns", st_json_count(pair->inclusive_ns));
	SET(out, "outermost_ns", st_json_count(pair->outermost_ns));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
lane_json(const struct st_trace_lane *lane)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "kind", json_string(lane->is_process ? "process" : "thread"));
	SET(out, "name", st_json_text(lane->name));
	SET(out, "tid", json_integer(lane->tid));
	SET(out, "pid", lane->pid >= 0 ? json_integer(lane->pid) : json_null());
	SET(out, "ppid", lane->ppid >= 0 ? json_integer(lane->ppid) : json_null());
	SET(out, "begin_ns", lane->begin_ns >= 0 ? json_integer(lane->begin_ns) : json_null());
	SET(out, "end_ns", lane->end_ns >= 0 ? json_integer(lane->end_ns) : json_null());
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
refused_json(const struct st_trace_refused *refused)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "name", st_json_text(refused->name));
	SET(out, "image", trace_json_text_or_null(refused->image));
	SET(out, "offset", count_or_null(refused->image, refused->offset));
	SET(out, "reason", st_json_text(refused->reason));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static int
add_lists(json_t *root, const struct st_trace *t)
{
	json_t *functions = json_array(), *pairs = json_array(), *lanes = json_array(),
	       *refused = json_array(), *left_out = json_array();
	int bad = 0;
	for (size_t i = 0; i < t->functions.n && !bad; i++)
		bad = json_array_append_new(functions, function_json(t, &t->functions.v[i]));
	for (size_t i = 0; i < t->pairs.n && !bad; i++)
		bad = json_array_append_new(pairs, trace_json_pair_json(t, &t->pairs.v[i]));
	for (size_t i = 0; i < t->lanes.n && !bad; i++)
		bad = json_array_append_new(lanes, lane_json(&t->lanes.v[i]));
	for (size_t i = 0; i < t->refused.n && !bad; i++)
		bad = json_array_append_new(t->refused.v[i].left_out ? left_out : refused,
		                            refused_json(&t->refused.v[i]));
	SET(root, "functions", functions);
	SET(root, "pairs", pairs);
	SET(root, "refused", refused);
	SET(root, "left_out", left_out);
	if (t->lanes.n)
		SET(root, "lanes", lanes);
	else
		json_decref(lanes);
	return bad;
}

static int
add_lost(json_t *root, const struct st_trace *t, const struct st_profile *p)
{
	json_t *lost = json_object();
	uint64_t records = t->lost_records;
	for (size_t i = 0; p && i < p->streams.n; i++)
		records += p->streams.v[i].dropped;
	int bad = 0;
	SET(lost, "returns", st_json_count(t->lost_returns));
	SET(lost, "nested", st_json_count(t->nested_returns));
	SET(lost, "records", st_json_count(records));
	SET(lost, "entries", st_json_count(t->stray_returns));
	SET(lost, "malformed_lines", st_json_count(t->malformed_lines));
	SET(root, "lost", lost);
	return bad;
}

static json_t *
cost_json(const struct st_trace_cost *cost)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "ns", json_real((double)cost->ps / 1e3));
	SET(out, "error_ns", json_real((double)cost->error_ps / 1e3));
	SET(out, "between_ns", json_real((double)cost->least_ps / 1e3));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

json_t *
st_trace_object(const struct st_trace *t, const struct st_profile *p)
{
	json_t *root = json_object(), *strobe = json_object();
	int bad = 0;
	SET(strobe, "version", json_integer(ST_JSON_VERSION));
	SET(strobe, "tool", json_string("trace"));
	SET(root, "strobe", strobe);
	SET(root, "engine", json_string(t->engine));
	SET(root, "run", p ? st_json_run(p) : json_null());
	SET(root, "quantile_error", json_real(ST_TRACE_QUANTILE_ERROR));
	if (t->probe.ps)
		SET(root, "probe", cost_json(&t->probe));
	bad |= add_lists(root, t) | add_lost(root, t, p) | st_trace_add_limits(root, t);
	SET(root, "notes", p ? st_json_texts(p->notes.v, p->notes.n) : json_array());
	if (!bad)
		return root;
	json_decref(root);
	return NULL;
}

st_status
st_trace_json(const struct st_trace *t, const struct st_profile *p, FILE *out, struct st_error *e)
{
	char *text = st_json_document(st_trace_object(t, p), ST_JSON_DOCUMENT, "the trace", e);
	if (!text)
		return ST_FAILED;
	fputs(text, out);
	free(text);
	return ST_OK;
}
