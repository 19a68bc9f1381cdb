/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "blow/contexts.h"
#include "blow/latency.h"
#include "blow/overhead.h"
#include "report/blow.h"
#include "report/json.h"

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)
#define APPEND(array, value) bad |= json_array_append_new(array, value)

static json_t *
blow_json_or_nothing(json_t *out, int bad)
{
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
json_increase(const struct st_blow_increase *i)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "value", st_json_real(i->at));
	SET(out, "lo", st_json_real(i->low));
	SET(out, "hi", st_json_real(i->high));
	return blow_json_or_nothing(out, bad);
}

/* Null: there are no runs without probes. */
static json_t *
blow_json_overhead(const struct st_blow *b)
{
	const struct st_blow_overhead o = st_blow_overhead_of(b);
	json_t *out = o.pairs ? json_object() : json_null();
	int bad = 0;
	if (!o.pairs)
		return out;
	SET(out, "pairs", st_json_count(o.pairs));
	SET(out, "run_time", json_increase(&o.run));
	SET(out, "cpu_time", json_increase(&o.cpu));
	return blow_json_or_nothing(out, bad);
}

/* Unknown numbers are null. */
static json_t *
blow_json_baseline(const struct st_blow *b)
{
	const struct st_blow_baseline base = st_blow_baseline_of(b);
	json_t *out = json_object();
	int bad = 0;
	SET(out, "runs", st_json_count(base.n));
	SET(out, "total_ns", st_json_real(base.total_ns));
	SET(out, "total_deviation_ns", st_json_real(base.total_sd));
	SET(out, "cpu_ns", st_json_real(base.cpu_ns));
	SET(out, "exit", json_integer(base.exit));
	SET(out, "same_output", json_boolean(base.has_output));
	SET(out, "probes", blow_json_overhead(b));
	return blow_json_or_nothing(out, bad);
}

json_t *
st_blow_slope_json(const struct st_blow_slope *s)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "value", st_json_real(s->at));
	SET(out, "lo", st_json_real(s->low));
	SET(out, "hi", st_json_real(s->high));
	SET(out, "state", json_string(st_blow_measurable_text(s->state)));
	return blow_json_or_nothing(out, bad);
}

/* Adds a row for each virtual speed-up that was tried. */
static int
blow_json_point(const struct st_blow *b, uint32_t point, uint32_t function, json_t *out)
{
	int bad = 0;
	bool tried[101];
	st_blow_percents_tried(b, function, tried);
	for (uint64_t percent = 1; percent <= 100 && !bad; percent++) {
		struct st_blow_gain g;
		if (!tried[percent])
			continue;
		if (st_blow_find_gain(b, point, function, percent, &g))
			return -1;
		if (!g.runs)
			continue;
		g = st_blow_point_gain(b, point, g);
		json_t *row = json_object();
		SET(row, "speedup", json_real((double)percent / 100));
		SET(row, "gain", st_json_real(g.at));
		SET(row, "lo", st_json_real(g.low));
		SET(row, "hi", st_json_real(g.high));
		SET(row, "runs", st_json_count(g.runs));
		SET(row, "noisy", json_boolean(g.noisy));
		SET(row, "progress", st_json_text(st_blow_point_name(b, point)));
		SET(row, "kind", json_string(st_blow_kind_name(b, point)));
		APPEND(out, row);
	}
	return bad;
}

/* The gains of a function, by progress point and virtual speed-up. */
static json_t *
blow_json_virtual(const struct st_blow *b, uint32_t function)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < st_blow_points(b) && !bad; i++)
		bad = blow_json_point(b, st_blow_point_at(b, i), function, out);
	return blow_json_or_nothing(out, bad);
}

/* Adds what is measured of the point without noise. */
static int
blow_json_measured(const struct st_blow *b, uint32_t point, json_t *row)
{
	int bad = 0;
	const enum st_blow_point_kind kind = st_blow_point_kind(b, point);
	if (kind == ST_BLOW_LATENCY) {
		const struct st_blow_mean_latency l = st_blow_latency_of(b, point);
		SET(row, "latency_ns", l.runs ? json_real(l.ns) : json_null());
		SET(row, "deviation", st_json_real(l.sd));
		SET(row, "in_flight", l.runs ? json_real(l.in_flight) : json_null());
		SET(row, "calls_per_second", l.runs ? json_real(l.rate) : json_null());
	} else if (kind != ST_BLOW_NO_POINT) {
		const struct st_blow_rate rate = st_blow_rate_of(b, point);
		SET(row, kind == ST_BLOW_SOURCE ? "per_second" : "calls_per_second",
		    rate.runs ? json_real(rate.at) : json_null());
		SET(row, "deviation", st_json_real(rate.sd));
	}
	return bad;
}

/* Where the gains of a function bend, by progress point. */
static json_t *
blow_json_bends(const struct st_blow *b, uint32_t function)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < st_blow_points(b) && b->causal && !bad; i++) {
		const uint32_t point = st_blow_point_at(b, i);
		struct st_blow_bend bend;
		bad = st_blow_find_bend(b, point, function, &bend) ? -1 : 0;
		if (bad || !bend.percent)
			continue;
		json_t *row = json_object();
		SET(row, "progress", st_json_text(st_blow_point_name(b, point)));
		SET(row, "speedup", json_real((double)bend.percent / 100));
		SET(row, "before", st_json_real(bend.before));
		SET(row, "after", st_json_real(bend.after));
		APPEND(out, row);
	}
	return blow_json_or_nothing(out, bad);
}

static json_t *
blow_json_progress(const struct st_blow *b)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < st_blow_points(b); i++) {
		const uint32_t point = st_blow_point_at(b, i);
		json_t *row = json_object();
		SET(row, "name", st_json_text(st_blow_point_name(b, point)));
		SET(row, "kind", json_string(st_blow_kind_name(b, point)));
		SET(row, "inferred", json_boolean(st_blow_point_is_inferred(b, point)));
		bad |= blow_json_measured(b, point, row);
		APPEND(out, row);
	}
	return blow_json_or_nothing(out, bad);
}

/* Runs or windows without noise, compared with each other. */
static json_t *
blow_json_control(const struct st_blow *b)
{
	struct st_blow_gain g;
	if (st_blow_find_control(b, st_blow_point_at(b, 0), &g))
		return NULL;
	json_t *out = json_object();
	int bad = 0;
	SET(out, "gain", st_json_real(g.at));
	SET(out, "lo", st_json_real(g.low));
	SET(out, "hi", st_json_real(g.high));
	return blow_json_or_nothing(out, bad);
}

/* The criteria that the function meets; what names it directly is none of them. */
static json_t *
blow_json_criteria(const struct st_blow_function *f)
{
	json_t *out = json_array();
	int bad = 0;
	for (int i = 0; i < ST_BLOW_CRITERION_COUNT; i++)
		if (f->met >> i & 1)
			APPEND(out, json_string(st_blow_criterion_name((enum st_blow_criterion)i)));
	return blow_json_or_nothing(out, bad);
}

/* Sets the names of an entry of the list of functions (ST_BLOW_NONE: null): of a context the
 * function that is called, and its caller. */
static int
blow_json_names(const struct st_blow *b, uint32_t function, json_t *out)
{
	int bad = 0;
	if (function == ST_BLOW_NONE) {
		SET(out, "function", json_null());
		return bad;
	}
	const struct st_blow_function *f = &b->functions.v[function];
	const bool is_context = f->traits & ST_BLOW_IS_CONTEXT;
	SET(out, "function", st_json_text(is_context ? b->functions.v[f->callee].name : f->name));
	if (is_context)
		SET(out, "context", st_json_text(st_blow_caller_name(b, f)));
	return bad;
}

static json_t *
blow_json_target(const struct st_blow *b, const struct st_blow_row *r)
{
	const struct st_blow_function *f = &b->functions.v[r->function];
	json_t *out = json_object();
	int bad = 0;
	bad |= blow_json_names(b, r->function, out);
	SET(out, "symbol", st_json_text(f->raw_name));
	SET(out, "image", st_json_text(f->image));
	SET(out, "offset", st_json_count(f->offset));
	if (f->traits & (ST_BLOW_IS_INSIDE | ST_BLOW_IS_CONTEXT))
		SET(out, "location", st_json_text(f->raw_name));
	SET(out, "line", f->traits & ST_BLOW_IS_LINE ? st_json_text(f->raw_name) : json_null());
	if (!(f->traits & ST_BLOW_IS_CONTEXT))
		SET(out, "context", json_null());
	if (f->traits & ST_BLOW_IS_BLOCK)
		SET(out, "block", st_json_text(f->raw_name));
	SET(out, "criteria", blow_json_criteria(f));
	SET(out, "fitness",
	    b->causal ? json_null() : st_json_real(st_blow_shown_fitness(&r->finding)));
	SET(out, "experiments", st_json_count(r->finding.experiments));
	SET(out, "time_share", st_json_real(r->finding.share));
	SET(out, "calls", st_json_real(r->finding.calls));
	SET(out, "mean_ns", st_json_real(r->finding.mean_ns));
	bad |= st_blow_clocks_json(b, r, out);
	SET(out, "threads", st_blow_threads_json(b, r->function));
	SET(out, "virtual", b->causal ? blow_json_virtual(b, r->function) : json_array());
	SET(out, "bends", blow_json_bends(b, r->function));
	SET(out, "slope",
	    b->causal || b->speedup ? json_null() : st_blow_slope_json(&r->finding.slope));
	return blow_json_or_nothing(out, bad);
}

static json_t *
blow_json_noise(const struct st_blow_run *r, bool speedup)
{
	const struct st_blow_sample s = speedup ? st_blow_noise_of(r) : st_blow_sum(r, r->function);
	json_t *out = json_object();
	int bad = 0;
	SET(out, "type", json_string(st_blow_noise_name(r->noise.type)));
	SET(out, "strength", st_json_count(r->noise.strength));
	SET(out, "unit", json_string(st_blow_noise_unit(r->noise.type)));
	SET(out, "calls", st_json_count(s.noises));
	SET(out, "measured_ns", st_json_count(s.noise_ns));
	return blow_json_or_nothing(out, bad);
}

int
st_blow_experiment_json(const struct st_blow *b, const struct st_blow_run *r, json_t *out)
{
	int bad = blow_json_names(b, r->function, out);
	SET(out, "noise",
	    r->function == ST_BLOW_NONE ? json_null() : blow_json_noise(r, b->speedup));
	return bad;
}

/* The options of the campaign with their values, as texts. */
static json_t *
blow_json_options(const struct st_profile *p)
{
	json_t *out = json_object();
	int bad = 0;
	for (size_t i = 0; i < p->run.tool_options.n; i++)
		SET(out, p->run.tool_options.v[i].name,
		    st_json_text(p->run.tool_options.v[i].value));
	return blow_json_or_nothing(out, bad);
}

static json_t *
blow_json_run(const struct st_blow *b, size_t number)
{
	const struct st_blow_run *r = &b->runs.v[number];
	const bool quiet = r->function == ST_BLOW_NONE;
	json_t *out = json_object();
	int bad = 0;
	SET(out, "experiment", st_json_count(number));
	bad |= st_blow_experiment_json(b, r, out);
	SET(out, "total_ns", st_json_count(r->total_ns));
	SET(out, "function_ns",
	    quiet ? json_null() : st_json_count(st_blow_sum(r, r->function).ns));
	SET(out, "cpu_ns", st_json_count(r->cpu_ns));
	SET(out, "exit", json_integer(r->exit));
	SET(out, "fault", r->fault ? json_string(st_blow_fault_name(r->fault)) : json_null());
	return blow_json_or_nothing(out, bad);
}

static json_t *
blow_json_fault(const struct st_blow *b, size_t number)
{
	const struct st_blow_run *r = &b->runs.v[number];
	json_t *out = json_object();
	int bad = 0;
	SET(out, "kind", json_string(st_blow_fault_name(r->fault)));
	SET(out, "experiment", st_json_count(number));
	bad |= st_blow_experiment_json(b, r, out);
	SET(out, "exit", json_integer(r->exit));
	bad |= st_blow_note_json(r->note, out);
	return blow_json_or_nothing(out, bad);
}

/* The functions whose probes would cost too much. */
static json_t *
blow_json_left_out(const struct st_blow *b)
{
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < b->functions.n; i++) {
		const struct st_blow_function *f = &b->functions.v[i];
		if (!(f->traits & ST_BLOW_IS_FREQUENT))
			continue;
		json_t *row = json_object();
		SET(row, "function", st_json_text(f->name));
		SET(row, "calls", st_json_count(f->calls));
		SET(row, "time_share", st_json_real(st_blow_selected_share(b, f)));
		APPEND(out, row);
	}
	return blow_json_or_nothing(out, bad);
}

/* The campaign as a run: its own processor time, and where that was spent, are not measured. */
static json_t *
blow_json_whole(const struct st_profile *p)
{
	json_t *out = st_json_run(p);
	int bad = out ? 0 : -1;
	SET(out, "cpu_seconds", json_null());
	SET(out, "cache_share", json_null());
	return blow_json_or_nothing(out, bad);
}

static json_t *
blow_json_object(const struct st_blow *b, const struct st_profile *p,
                 const struct st_blow_rows *rows, const struct st_blow_view *view)
{
	json_t *out = json_object(), *strobe = json_object(), *targets = json_array(),
	       *runs = json_array(), *faults = json_array();
	int bad = 0;
	SET(strobe, "version", json_integer(ST_JSON_VERSION));
	SET(strobe, "tool", json_string(ST_BLOW_TOOL));
	SET(out, "strobe", strobe);
	SET(out, "run", blow_json_whole(p));
	SET(out, "mode", json_string(st_blow_mode(b)));
	SET(out, "options", blow_json_options(p));
	SET(out, "windows", json_boolean(b->live));
	SET(out, "left_out", blow_json_left_out(b));
	SET(out, "notes", st_json_texts(p->notes.v, p->notes.n));
	SET(out, "baseline", blow_json_baseline(b));
	for (size_t i = 0; i < rows->list.n; i++)
		APPEND(targets, blow_json_target(b, &rows->list.v[i]));
	SET(out, "progress", blow_json_progress(b));
	SET(out, "control", blow_json_control(b));
	SET(out, "targets", targets);
	SET(out, "threads", st_blow_created_json(b));
	if (view->wishes)
		SET(out, "what_if", st_blow_what_if_json(b, view->wishes));
	for (size_t i = 0; i < b->runs.n; i++) {
		APPEND(runs, blow_json_run(b, i));
		if (b->runs.v[i].fault)
			APPEND(faults, blow_json_fault(b, i));
	}
	SET(out, "faults", faults);
	SET(out, "experiments", runs);
	SET(out, "curves", st_blow_curves_json(b));
	SET(out, "timeline", b->timeline ? st_blow_timeline_json(b) : json_null());
	return blow_json_or_nothing(out, bad);
}

json_t *
st_blow_object(const struct st_blow *b, const struct st_profile *p, const struct st_blow_view *view)
{
	struct st_blow_rows rows;
	json_t *out = st_blow_order(b, ST_BLOW_BY_SLOPE, &rows)
	                      ? NULL
	                      : blow_json_object(b, p, &rows, view);
	free(rows.list.v);
	return out;
}

st_status
st_blow_json(const struct st_blow *b, const struct st_profile *p, const struct st_blow_view *view,
             FILE *out, struct st_error *e)
{
	char *text = st_json_document(st_blow_object(b, p, view), ST_JSON_DOCUMENT,
	                              "the experiments", e);
	if (!text)
		return ST_FAILED;
	fputs(text, out);
	free(text);
	return ST_OK;
}
