/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models as JSON: docs/json.md. */

#include "report/json.h"
#include "report/kept.h"
#include "report/model.h"

enum { VERSION = 1 };

static json_t *
interval_json(const struct st_interval *in)
{
	json_t *out = json_array();
	json_array_append_new(out, st_json_real(in->low));
	json_array_append_new(out, st_json_real(in->high));
	return out;
}

static json_t *
coefficients_json(const struct st_regression *m, double level)
{
	json_t *out = json_array();
	for (size_t i = 0; i < st_growth_parameters(m->kind); i++) {
		const struct st_interval in = st_regression_parameter(m, i, level);
		const char name[] = {'b', (char)('0' + i), 0};
		json_array_append_new(
		        out, json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", name, "value",
		                       st_json_real(m->b[i]), "error", st_json_real(m->se[i]),
		                       "interval", interval_json(&in), "p", st_json_real(m->p[i])));
	}
	return out;
}

static json_t *
predictions_json(const struct st_model_report *r, const struct st_regression *m)
{
	json_t *out = json_array();
	for (size_t i = 0; i < r->n_at; i++) {
		const double level = r->choice->level, x = r->at[i];
		const struct st_interval curve = st_regression_band(m, x, level, false),
		                         point = st_regression_band(m, x, level, true);
		json_array_append_new(out, json_pack("{s:f, s:o, s:o, s:o}", "x", x, "y",
		                                     st_json_real(curve.at), "curve",
		                                     interval_json(&curve), "point",
		                                     interval_json(&point)));
	}
	return out;
}

static json_t *
regression_json(const struct st_model_report *r, const struct st_regression *m)
{
	const struct st_choice *c = r->choice;
	json_t *out = json_object();
	json_object_set_new(
	        out, "uid",
	        st_json_text(r->subject->function ? r->subject->function : r->subject->y));
	json_object_set_new(out, "model", json_string(st_growth_name(m->kind)));
	json_object_set_new(out, "method", json_string(st_way_name(r->way)));
	json_object_set_new(out, "r_square", st_json_real(m->r_square_perun));
	json_object_set_new(out, "r_squared", st_json_real(m->r_square));
	json_object_set_new(out, "r_squared_cv", st_json_real(m->r_square_cv));
	json_object_set_new(out, "aicc", st_json_real(c->aicc[m->kind]));
	json_object_set_new(out, "bic", st_json_real(m->bic));
	json_object_set_new(out, "weight", st_json_real(c->weight[m->kind]));
	json_object_set_new(out, "residual_sd", st_json_real(m->s));
	json_object_set_new(out, "points", json_integer((json_int_t)m->n));
	json_object_set_new(out, "left_out", json_integer((json_int_t)m->left_out));
	json_object_set_new(out, "x_start", st_json_real(m->x_start));
	json_object_set_new(out, "x_end", st_json_real(m->x_end));
	json_object_set_new(out, "coeffs", coefficients_json(m, c->level));
	if (r->n_at)
		json_object_set_new(out, "predictions", predictions_json(r, m));
	return out;
}

static json_t *
answer_json(const struct st_model_report *r)
{
	const struct st_choice *c = r->choice;
	json_t *out = json_object(), *plausible = json_array();
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		if (c->plausible & 1u << kind)
			json_array_append_new(plausible, json_string(st_growth_name(kind)));
	json_object_set_new(out, "model",
	                    c->told ? json_string(st_growth_name(c->best)) : json_null());
	json_object_set_new(out, "plausible", plausible);
	json_object_set_new(out, "growth", st_json_real(c->growth.at));
	json_object_set_new(out, "growth_interval", interval_json(&c->growth));
	return out;
}

static json_t *
exponent_json(const struct st_exponent *b)
{
	if (!b->known)
		return json_null();
	json_t *out = json_object();
	json_object_set_new(out, "value", st_json_real(b->b.at));
	json_object_set_new(out, "interval", interval_json(&b->b));
	json_object_set_new(out, "offset", b->has_offset ? st_json_real(b->offset) : json_null());
	return out;
}

json_t *
st_model_json(const struct st_model_report *r)
{
	const struct st_choice *c = r->choice;
	const enum st_growth by_r_square = st_choice_by_r_square(c);
	json_t *out = json_object(), *models = json_array();
	json_object_set_new(out, "file", st_json_text(r->subject->file));
	json_object_set_new(out, "function",
	                    r->subject->function ? st_json_text(r->subject->function)
	                                         : json_null());
	json_object_set_new(out, "x", st_json_text(r->subject->x));
	json_object_set_new(out, "y", st_json_text(r->subject->y));
	json_object_set_new(out, "rows_left_out", json_integer((json_int_t)r->subject->left_out));
	json_object_set_new(out, "points_compared", json_integer((json_int_t)c->common));
	json_object_set_new(out, "level", json_real(c->level));
	json_object_set_new(out, "noise",
	                    json_string(c->proportional ? "proportional" : "additive"));
	json_object_set_new(out, "answer", answer_json(r));
	json_object_set_new(out, "exponent", exponent_json(&c->exponent));
	json_object_set_new(out, "best_by_r_square",
	                    by_r_square < ST_GROWTH_COUNT ? json_string(st_growth_name(by_r_square))
	                                                  : json_null());
	for (enum st_growth kind = 0; kind < ST_GROWTH_COUNT; kind++)
		if (c->fitted & 1u << kind)
			json_array_append_new(models, regression_json(r, &c->models[kind]));
	json_object_set_new(out, "models", models);
	if (r->kept)
		json_object_set_new(out, "kept", st_kept_source_json(r->kept));
	json_object_set_new(out, "smooth", st_smooth_json(r));
	return out;
}

char *
st_model_document(json_t *subjects, struct st_error *e)
{
	json_t *root =
	        json_pack("{s:{s:i, s:i}}", "strobe", "version", ST_JSON_VERSION, "model", VERSION);
	if (json_object_set_new(root, "subjects", subjects)) {
		json_decref(root);
		root = NULL;
	}
	return st_json_document(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17), "the models", e);
}
