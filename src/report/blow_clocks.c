/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On-CPU time and waiting time apart, of functions and in slopes. */
#include "blow/clocks.h"

#include <math.h>

#include "base/number.h"
#include "report/blow.h"
#include "report/json.h"

#define SET(object, key, value) bad |= json_object_set_new(object, key, value)

/* ---- text ---- */

void
st_blow_waiting_cell(struct st_table *t, const struct st_blow *b, uint32_t function)
{
	const struct st_blow_waiting w = st_blow_waiting_of(b, function);
	if (w.runs)
		st_table_cell(t, "%.1f", w.share * 100);
	else
		st_table_cell(t, "-");
}

static void
share_cells(struct st_table *t, const struct st_blow_waiting *w)
{
	if (!w->runs) {
		st_table_cell(t, "-");
		st_table_cell(t, "-");
		st_table_cell(t, w->open ? "cannot tell: a call was open at the end" : "-");
		return;
	}
	st_table_cell(t, "%.3f", w->cpu_ns / 1e6);
	st_table_cell(t, "%.3f", w->wait_ns / 1e6);
	if (isnan(w->low))
		st_table_cell(t, "%.1f (1 run)", w->share * 100);
	else
		st_table_cell(t, "%.1f (%.1f to %.1f)", w->share * 100, w->low * 100,
		              w->high * 100);
}

static void
part_cell(struct st_table *t, const struct st_blow_slope *s)
{
	if (s->state || isnan(s->at))
		st_table_cell(t, "-");
	else if (isnan(s->low))
		st_table_cell(t, "%.4f", s->at);
	else
		st_table_cell(t, "%.4f (%.4f to %.4f)", s->at, s->low, s->high);
}

st_status
st_blow_clocks_print(const struct st_blow *b, const struct st_blow_rows *rows,
                     const struct st_blow_view *view, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"id", false},           {"CPU ms", false},      {"waiting ms", false},
	        {"wait %", true},        {"slope on CPU", true}, {"slope waiting", true},
	        {"effect on CPU", true}, {"function", true}};
	struct st_table *t =
	        b->clocked.n ? st_table_new(columns, sizeof columns / sizeof *columns) : NULL;
	st_status status = b->clocked.n && !t ? ST_FAILED : ST_OK;
	for (size_t i = 0; t && !status && i < rows->list.n && (!view->top || i < view->top); i++) {
		const uint32_t function = rows->list.v[i].function;
		const struct st_blow_waiting w = st_blow_waiting_of(b, function);
		const struct st_blow_slope *slope = &rows->list.v[i].finding.slope,
		                           on_cpu = st_blow_slope_part(slope, &w, true),
		                           waits = st_blow_slope_part(slope, &w, false);
		struct st_blow_effects effects;
		status = st_blow_find_effects(b, function, &effects);
		if (status)
			break;
		st_table_cell(t, "%zu", i + 1);
		share_cells(t, &w);
		part_cell(t, &on_cpu);
		part_cell(t, &waits);
		part_cell(t, &effects.cpu);
		st_blow_name_cell(t, b->functions.v[function].name, view->full);
	}
	if (t && !status) {
		fprintf(out,
		        "\non the CPU and waiting, with 95 %% intervals; times without noise, from "
		        "%s that read both clocks:\n",
		        ST_COUNT(b->clock_runs, "run", "runs"));
		st_table_print(t, out, (struct st_style){0});
	}
	if (t)
		st_table_free(t);
	return status;
}

/* ---- JSON ---- */

static json_t *
json_waiting(const struct st_blow_waiting *w)
{
	json_t *out = json_object();
	int bad = 0;
	SET(out, "runs", st_json_count(w->runs));
	SET(out, "cpu_ns", st_json_real(w->cpu_ns));
	SET(out, "wait_ns", st_json_real(w->wait_ns));
	SET(out, "value", st_json_real(w->share));
	SET(out, "lo", st_json_real(w->low));
	SET(out, "hi", st_json_real(w->high));
	SET(out, "state",
	    json_string(w->runs   ? "measured"
	                : w->open ? "a call was open at the end of the process"
	                          : "not measured"));
	if (!bad)
		return out;
	json_decref(out);
	return NULL;
}

/* The parts of the slope, and the effects; null: the mode has no slopes. */
static int
set_parts(const struct st_blow *b, uint32_t function, const struct st_blow_slope *slope,
          const struct st_blow_waiting *w, json_t *target)
{
	const struct st_blow_slope on_cpu = st_blow_slope_part(slope, w, true),
	                           waits = st_blow_slope_part(slope, w, false);
	struct st_blow_effects effects;
	int bad = 0;
	if (st_blow_find_effects(b, function, &effects))
		return -1;
	SET(target, "slope_cpu", st_blow_slope_json(&on_cpu));
	SET(target, "slope_waiting", st_blow_slope_json(&waits));
	SET(target, "effect_cpu", st_blow_slope_json(&effects.cpu));
	SET(target, "effect_waiting", st_blow_slope_json(&effects.waiting));
	return bad;
}

int
st_blow_clocks_json(const struct st_blow *b, const struct st_blow_row *r, json_t *target)
{
	const char *const names[] = {"slope_cpu", "slope_waiting", "effect_cpu", "effect_waiting"};
	const struct st_blow_waiting w = st_blow_waiting_of(b, r->function);
	int bad = 0;
	SET(target, "waiting", json_waiting(&w));
	if (!b->causal && !b->speedup && !b->live)
		return bad | set_parts(b, r->function, &r->finding.slope, &w, target);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		SET(target, names[i], json_null());
	return bad;
}
