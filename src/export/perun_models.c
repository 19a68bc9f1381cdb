/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The models that a profile keeps, as Perun has them. */
#include <jansson.h>
#include <string.h>

#include "export/perun.h"
#include "profile/profile.h"
#include "report/json.h"

static bool
perun_has_kind(const char *kind)
{
	static const char *const kinds[] = {"constant",  "linear", "logarithmic",
	                                    "quadratic", "power",  "exponential"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i], kind))
			return true;
	return false;
}

/* initial-guess is initial_guess. */
static json_t *
perun_method_json(const char *method)
{
	return json_string(!strcmp(method, "initial-guess") ? "initial_guess" : method);
}

static json_t *
perun_model_json(const struct st_kept *k, size_t model)
{
	const struct st_kept_model *m = &k->models.v[model];
	const struct st_kept_answer *a = &k->answers.v[m->answer - 1];
	json_t *coefficients = json_array();
	const struct st_kept_range range = st_kept_coefficients_of(k, model);
	for (size_t i = range.begin; i < range.end; i++) {
		const struct st_kept_coefficient *c = &k->coefficients.v[i];
		json_array_append_new(coefficients,
		                      json_pack("{so, so}", "name", st_json_text(c->name), "value",
		                                st_json_real(c->value)));
	}
	return json_pack("{so, ss, so, so, so, so, so}", "uid", st_json_text(a->uid), "model",
	                 m->kind, "r_square", st_json_real(m->r_square), "x_start",
	                 st_json_real(m->x_start), "x_end", st_json_real(m->x_end), "method",
	                 perun_method_json(a->method), "coeffs", coefficients);
}

char *
st_perun_models_json(const struct st_profile *p)
{
	const char *extra = st_profile_extra_named(p, "models");
	json_t *all = extra ? json_loads(extra, 0, NULL) : json_array();
	if (!json_is_array(all)) {
		json_decref(all);
		return extra ? strdup(extra) : NULL;
	}
	int bad = 0;
	/* Models that came from Perun are in the extra already. */
	for (size_t i = 0; i < p->kept.models.n && !bad; i++) {
		const struct st_kept_model *m = &p->kept.models.v[i];
		const char *source = p->kept.answers.v[m->answer - 1].source;
		if (strcmp(source, ST_KEPT_PERUN) != 0 && perun_has_kind(m->kind))
			bad |= json_array_append_new(all, perun_model_json(&p->kept, i));
	}
	char *text = bad ? NULL : json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(all);
	return text;
}
