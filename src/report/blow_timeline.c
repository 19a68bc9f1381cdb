/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calls of the recorded experiment as JSON, in the form of the timeline of a trace
 * (docs/report.md), which the page draws, too. */
#include "blow/timeline.h"
#include "report/blow.h"
#include "report/json.h"

/* Takes the value over, as json_object_set_new does. */
#define SET(object, key, value) bad |= json_object_set_new(object, key, value)
#define APPEND(array, value) bad |= json_array_append_new(array, value)

static json_t *
timeline_or_nothing(json_t *out, int bad)
{
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

static json_t *
blow_timeline_functions(const struct st_blow_timeline *t)
{
	static const char *const kinds[ST_BLOW_KINDS] = {"other", "blown", "waits"};
	json_t *out = json_array();
	int bad = 0;
	for (size_t i = 0; i < t->functions.n; i++) {
		const struct st_blow_named *f = &t->functions.v[i];
		json_t *row = json_object();
		SET(row, "name", st_json_text(f->name));
		SET(row, "image", *f->image ? st_json_text(f->image) : json_null());
		SET(row, "kind", json_string(kinds[f->kind]));
		APPEND(out, row);
	}
	return timeline_or_nothing(out, bad);
}

/* The slices from *at on that are of one thread and level. Of each four numbers: the time since the
 * end of the one before, its duration, its function (-1: several), its calls. */
static json_t *
blow_timeline_row(const struct st_blow_timeline *t, size_t *at)
{
	const struct st_blow_slice *first = &t->slices.v[*at];
	json_t *out = json_array();
	uint64_t end = 0;
	int bad = 0;
	for (; *at < t->slices.n; ++*at) {
		const struct st_blow_slice *s = &t->slices.v[*at];
		if (s->thread != first->thread || s->level != first->level)
			break;
		const uint64_t begin = s->begin_ns < end ? end : s->begin_ns;
		APPEND(out, st_json_count(begin - end));
		APPEND(out, st_json_count(s->end_ns < begin ? 0 : s->end_ns - begin));
		APPEND(out,
		       json_integer(s->function == ST_LANE_SEVERAL ? -1 : (json_int_t)s->function));
		APPEND(out, st_json_count(s->calls));
		end = s->end_ns < begin ? begin : s->end_ns;
	}
	return timeline_or_nothing(out, bad);
}

static json_t *
blow_timeline_lanes(const struct st_blow_timeline *t)
{
	json_t *out = json_array();
	size_t at = 0;
	int bad = 0;
	for (size_t i = 0; i < t->threads.n; i++) {
		json_t *lane = json_object(), *rows = json_array();
		while (at < t->slices.n && t->slices.v[at].thread == i)
			APPEND(rows, blow_timeline_row(t, &at));
		SET(lane, "pid", st_json_count((uint64_t)t->threads.v[0]));
		SET(lane, "tid", st_json_count((uint64_t)t->threads.v[i]));
		SET(lane, "name", json_string(""));
		SET(lane, "rows", rows);
		APPEND(out, lane);
	}
	return timeline_or_nothing(out, bad);
}

static json_t *
blow_timeline_experiment(const struct st_blow *b)
{
	const struct st_blow_timeline *t = b->timeline;
	json_t *out = json_object();
	int bad = 0;
	SET(out, "function", st_json_text(b->functions.v[t->function].name));
	SET(out, "type", json_string(st_blow_noise_name(t->noise.type)));
	SET(out, "strength", st_json_count(t->noise.strength));
	SET(out, "unit", json_string(st_blow_noise_unit(t->noise.type)));
	SET(out, "indicator", st_json_real(t->indicator));
	SET(out, "total_ns", st_json_count(t->total_ns));
	SET(out, "fault", t->fault ? json_string(st_blow_fault_name(t->fault)) : json_null());
	return timeline_or_nothing(out, bad);
}

json_t *
st_blow_timeline_json(const struct st_blow *b)
{
	const struct st_blow_timeline *t = b->timeline;
	json_t *out = json_object();
	uint64_t end = 0, merged = 0, slices = 0;
	int bad = 0;
	for (size_t i = 0; i < t->slices.n; i++) {
		const struct st_blow_slice *s = &t->slices.v[i];
		end = s->end_ns > end ? s->end_ns : end;
		slices += s->calls > 1;
		merged += s->calls > 1 ? s->calls : 0;
	}
	SET(out, "experiment", blow_timeline_experiment(b));
	SET(out, "calls", st_json_count(t->calls));
	SET(out, "begin_ns", st_json_count(0));
	SET(out, "end_ns", st_json_count(end));
	SET(out, "width_ns", st_json_count(t->width_ns));
	SET(out, "merged_calls", st_json_count(merged));
	SET(out, "merged_slices", st_json_count(slices));
	SET(out, "too_deep", st_json_count(t->too_deep));
	SET(out, "lost", st_json_count(t->lost));
	SET(out, "functions", blow_timeline_functions(t));
	SET(out, "lanes", blow_timeline_lanes(t));
	return timeline_or_nothing(out, bad);
}
