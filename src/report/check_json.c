/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes findings as JSON, which docs/json.md describes. */

#include "report/check.h"
#include "report/json.h"

static json_t *
text_json(const char *text)
{
	return text ? st_json_text(text) : json_null();
}

/* The name of the model if models were compared, otherwise the value. */
static json_t *
end_json(double value, const char *model)
{
	return model ? json_string(model) : st_json_real(value);
}

static const char *
image_of_finding(const struct st_check_subjects *s, const struct st_finding *f)
{
	const uint32_t image = f->subject ? f->subject->image : f->total->image;
	return image == ST_NO_IMAGE ? NULL : s->images.v[image];
}

static json_t *
finding_json(const struct st_check_report *r, const struct st_finding *f)
{
	const struct st_check_subjects *s = r->result->subjects;
	const struct st_check_metric *metric = &s->metrics.v[f->metric];
	const char *image = image_of_finding(s, f);
	const bool renamed = f->subject && f->subject->renamed;
	json_t *o = json_object();
	json_object_set_new(o, "location", text_json(image));
	json_object_set_new(o, "function",
	                    text_json(f->subject ? st_check_shown(f->subject) : NULL));
	if (renamed)
		json_object_set_new(o, "function_before", text_json(f->subject->item[ST_A]->shown));
	json_object_set_new(o, "metric", text_json(metric->name));
	json_object_set_new(o, "unit", text_json(metric->unit));
	json_object_set_new(o, "method", json_string(st_check_method_name(r->method)));
	json_object_set_new(o, "change", json_string(st_finding_name(f->kind)));
	json_object_set_new(o, "type", text_json(f->type ? f->type : metric->name));
	json_object_set_new(o, "from", end_json(f->from, f->from_model));
	json_object_set_new(o, "to", end_json(f->to, f->to_model));
	json_object_set_new(o, "rate", st_json_real(f->rate.at));
	json_object_set_new(o, "relative_rate", st_json_real(f->relative));
	json_object_set_new(o, "share_of_base", st_json_real(f->share_from));
	json_object_set_new(o, "share_of_target", st_json_real(f->share_to));
	json_object_set_new(o, "confidence", st_json_real(f->confidence));
	json_object_set_new(o, "confidence_kind", text_json(f->confidence_kind));
	json_object_set_new(o, "p", st_json_real(f->p));
	json_object_set_new(o, "q", st_json_real(f->q));
	json_object_set_new(
	        o, "interval",
	        json_pack("[oo]", st_json_real(f->rate.low), st_json_real(f->rate.high)));
	json_object_set_new(o, "calls_from", st_json_real(f->calls_from));
	json_object_set_new(o, "calls_to", st_json_real(f->calls_to));
	json_object_set_new(o, "x",
	                    json_pack("[oo]", st_json_real(f->x_low), st_json_real(f->x_high)));
	json_object_set_new(o, "cause", text_json(f->cause));
	return o;
}

void
st_check_json_begin(struct st_check_json *j)
{
	*j = (struct st_check_json){
	        .methods = json_array(), .changes = json_array(), .groups = json_array()};
}

static json_t *
group_json(const struct st_check_report *r, size_t listed)
{
	const struct st_check_result *result = r->result;
	json_t *totals = json_array();
	size_t unknown = 0, unchanged = 0;
	for (size_t i = 0; i < result->totals.n; i++)
		json_array_append_new(totals, finding_json(r, &result->totals.v[i]));
	for (size_t i = 0; i < result->findings.n; i++) {
		unknown += result->findings.v[i].kind == ST_FINDING_UNKNOWN;
		unchanged += result->findings.v[i].kind == ST_FINDING_NO_CHANGE;
	}
	return json_pack("{so, ss, so, so, so, sI, sI, so, sI, sI, sI, sI, sI, sI, so}", "command",
	                 text_json(r->title), "method", st_check_method_name(r->method), "rule",
	                 r->rule ? json_integer((json_int_t)r->rule) : json_null(), "base",
	                 text_json(r->names[ST_A]), "target", text_json(r->names[ST_B]),
	                 "base_profiles", (json_int_t)result->subjects->sides[ST_A]->profiles.n,
	                 "target_profiles", (json_int_t)result->subjects->sides[ST_B]->profiles.n,
	                 "totals", totals, "listed", (json_int_t)listed, "unknown",
	                 (json_int_t)unknown, "unchanged", (json_int_t)unchanged, "models_kept",
	                 (json_int_t)result->models_kept, "tests", (json_int_t)result->tests,
	                 "runs_needed", (json_int_t)result->runs_needed, "machines",
	                 text_json(r->machines));
}

st_status
st_check_json_add(struct st_check_json *j, const struct st_check_report *r, struct st_error *e)
{
	size_t listed = 0;
	if (!j->used[r->method])
		json_array_append_new(j->methods, json_string(st_check_method_name(r->method)));
	j->used[r->method] = true;
	for (size_t i = 0; i < r->result->findings.n; i++) {
		const struct st_finding *f = &r->result->findings.v[i];
		if (!st_check_is_listed(r, f))
			continue;
		json_t *o = finding_json(r, f);
		json_object_set_new(o, "group",
		                    json_integer((json_int_t)json_array_size(j->groups)));
		json_array_append_new(j->changes, o);
		listed++;
	}
	return json_array_append_new(j->groups, group_json(r, listed))
	               ? st_fail(e, ST_EXIT_FAILED, "no memory left for the JSON")
	               : ST_OK;
}

char *
st_check_json_end(struct st_check_json *j, char *const *left_out, size_t n, st_status failed,
                  struct st_error *e)
{
	if (failed) {
		json_decref(j->methods);
		json_decref(j->changes);
		json_decref(j->groups);
		return NULL;
	}
	json_t *skipped = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(skipped, st_json_text(left_out[i]));
	json_t *total = json_array_get(json_object_get(json_array_get(j->groups, 0), "totals"), 0);
	json_t *root = json_pack(
	        "{s{siss}, sO?, so, so, sO?, so, so}", "strobe", "version", ST_JSON_VERSION, "tool",
	        "check", "method", json_array_get(j->methods, 0), "methods", j->methods, "changes",
	        j->changes, "total", total, "groups", j->groups, "left_out", skipped);
	return st_json_document(root, ST_JSON_DOCUMENT, "the result of the check", e);
}
