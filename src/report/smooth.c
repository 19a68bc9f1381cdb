/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models without a formula: for people, and as JSON (docs/json.md). */
#include <math.h>

#include "report/json.h"
#include "report/model.h"

enum { CURVE_POINTS = 101 };

static void
smooth_cell(struct st_table *t, const char *format, double value)
{
	char text[64];
	snprintf(text, sizeof text, format, value);
	st_table_cell(t, "%s", isfinite(value) ? text : "-");
}

static void
print_smooth_table(const struct st_model_report *r, FILE *out)
{
	static const struct st_table_column columns[] = {
	        {"r^2", false},    {"cross-val.", false}, {"s", false},        {"degrees", false},
	        {"points", false}, {"model", true},       {"parameters", true}};
	struct st_table *t = st_table_new(columns, 7);
	for (size_t i = 0; t && i < r->n_smooths; i++) {
		const struct st_smooth *m = &r->smooths[i];
		char text[200];
		smooth_cell(t, "%.5f", m->r_square);
		smooth_cell(t, "%.5f", m->r_square_cv);
		smooth_cell(t, "%.4g", m->s);
		smooth_cell(t, "%.2f", m->degrees);
		st_table_count(t, m->with_value);
		st_table_cell(t, "%s", st_smooth_name(m));
		st_table_cell(t, "%s", st_smooth_describe(m, text, sizeof text));
	}
	fputs("\nwithout a formula (degrees: of freedom that the curve takes)\n", out);
	st_table_print(t, out, r->style);
	st_table_free(t);
}

static void
print_smooth_predictions(const struct st_model_report *r, struct st_smooth *m, FILE *out)
{
	const struct st_table_column columns[] = {{r->subject->x, false}, {r->subject->y, false},
	                                          {"curve from", false},  {"to", false},
	                                          {"point from", false},  {"to", false}};
	struct st_table *t = st_table_new(columns, 6);
	for (size_t i = 0; t && i < r->n_at; i++) {
		const double x = r->at[i], level = r->choice->level;
		const struct st_interval curve = st_smooth_band(m, x, level, false),
		                         point = st_smooth_band(m, x, level, true);
		st_table_cell(t, "%.7g", x);
		smooth_cell(t, "%.7g", curve.at);
		smooth_cell(t, "%.7g", curve.low);
		smooth_cell(t, "%.7g", curve.high);
		smooth_cell(t, "%.7g", point.low);
		smooth_cell(t, "%.7g", point.high);
	}
	fprintf(out, "\n%s at these x, with %.4g %% bands of the curve and of a new point\n",
	        st_smooth_name(m), 100 * r->choice->level);
	st_table_print(t, out, r->style);
	st_table_free(t);
}

void
st_smooth_print(const struct st_model_report *r, FILE *out)
{
	if (!r->n_smooths)
		return;
	print_smooth_table(r, out);
	for (size_t i = 0; r->n_at && i < r->n_smooths; i++)
		print_smooth_predictions(r, &r->smooths[i], out);
}

static json_t *
band_json(struct st_smooth *m, double x, double level)
{
	const struct st_interval curve = st_smooth_band(m, x, level, false),
	                         point = st_smooth_band(m, x, level, true);
	return json_pack("{s:f, s:o, s:[o, o], s:[o, o]}", "x", x, "y", st_json_real(curve.at),
	                 "curve", st_json_real(curve.low), st_json_real(curve.high), "point",
	                 st_json_real(point.low), st_json_real(point.high));
}

/* The value at the middle of each bin. */
static json_t *
bins_json(struct st_smooth *m)
{
	json_t *out = json_array();
	const double width = (m->x_end - m->x_start) / (double)m->choice.bins;
	for (size_t i = 0; i < m->choice.bins; i++) {
		const double middle = m->x_start + width * ((double)i + 0.5);
		const struct st_interval at = st_smooth_band(m, middle, 0.95, false);
		json_array_append_new(out, st_json_real(at.at));
	}
	return out;
}

static json_t *
smooth_object(const struct st_model_report *r, struct st_smooth *m)
{
	json_t *out = json_object(), *curve = json_array(), *at = json_array();
	char text[200];
	json_object_set_new(
	        out, "uid",
	        st_json_text(r->subject->function ? r->subject->function : r->subject->y));
	json_object_set_new(out, "model", json_string(st_smooth_name(m)));
	json_object_set_new(out, "parameters",
	                    json_string(st_smooth_describe(m, text, sizeof text)));
	json_object_set_new(out, "r_square", st_json_real(m->r_square));
	json_object_set_new(out, "r_squared_cv", st_json_real(m->r_square_cv));
	json_object_set_new(out, "residual_sd", st_json_real(m->s));
	json_object_set_new(out, "degrees", st_json_real(m->degrees));
	json_object_set_new(out, "points", json_integer((json_int_t)m->with_value));
	json_object_set_new(out, "x_start", st_json_real(m->x_start));
	json_object_set_new(out, "x_end", st_json_real(m->x_end));
	if (m->choice.method == ST_SMOOTH_REGRESSOGRAM)
		json_object_set_new(out, "bucket_stats", bins_json(m));
	if (m->choice.method == ST_SMOOTH_MOVING)
		json_object_set_new(out, "window_width",
		                    json_integer((json_int_t)m->choice.window));
	if (m->choice.method == ST_SMOOTH_KERNEL)
		json_object_set_new(out, "bandwidth", st_json_real(m->choice.bandwidth));
	for (int i = 0; i < CURVE_POINTS; i++) {
		const double share = i / (CURVE_POINTS - 1.0);
		const double x = i + 1 < CURVE_POINTS ? m->x_start + share * (m->x_end - m->x_start)
		                                      : m->x_end;
		json_array_append_new(curve, band_json(m, x, r->choice->level));
	}
	json_object_set_new(out, "curve", curve);
	for (size_t i = 0; i < r->n_at; i++)
		json_array_append_new(at, band_json(m, r->at[i], r->choice->level));
	json_object_set_new(out, "predictions", at);
	return out;
}

json_t *
st_smooth_json(const struct st_model_report *r)
{
	json_t *out = json_array();
	for (size_t i = 0; i < r->n_smooths; i++)
		json_array_append_new(out, smooth_object(r, &r->smooths[i]));
	return out;
}
