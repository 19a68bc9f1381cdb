/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/perun_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile.h"

/* Series by the text that Perun's models have for them. */
struct perun_uids {
	char **v;
	size_t n;
};

static void
perun_uids_free(struct perun_uids *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->v[i]);
	free(u->v);
}

static st_status
perun_uids_make(struct perun_uids *u, const struct st_profile *p)
{
	*u = (struct perun_uids){.v = calloc(p->measurements.series.n + 1, sizeof *u->v)};
	for (size_t i = 0; u->v && i < p->measurements.series.n; i++)
		if (!(u->v[u->n++] = st_series_uid(&p->measurements.series.v[i])))
			return ST_FAILED;
	return u->v ? ST_OK : ST_FAILED;
}

/* A uid that is an object has parts, which are joined as those of a series. malloc'ed. */
static char *
perun_model_uid(const json_t *uid)
{
	static const char *const parts[] = {"bin", "file", "source", "module", "class", "function"};
	struct st_text text;
	const char *between = "";
	if (json_is_string(uid))
		return strdup(json_string_value(uid));
	FILE *out = st_text_begin(&text);
	if (!out)
		return NULL;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const char *part = json_string_value(json_object_get(uid, parts[i]));
		fprintf(out, "%s%s", part ? between : "", part ? part : "");
		between = part ? ":" : between;
	}
	const json_int_t line = json_integer_value(json_object_get(uid, "line"));
	if (line)
		fprintf(out, "%s%" JSON_INTEGER_FORMAT, between, line);
	return st_text_end(&text);
}

static double
perun_model_number(const json_t *model, const char *key)
{
	const json_t *value = json_object_get(model, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool
perun_has_formula(const json_t *model)
{
	const json_t *coefficients = json_object_get(model, "coeffs"),
	             *uid = json_object_get(model, "uid");
	size_t i;
	json_t *c;
	json_array_foreach(coefficients, i, c)
	{
		if (!json_is_string(json_object_get(c, "name")) ||
		    !json_is_number(json_object_get(c, "value")))
			return false;
	}
	return json_array_size(coefficients) && (json_is_string(uid) || json_is_object(uid)) &&
	       json_is_string(json_object_get(model, "model"));
}

/* "initial_guess" is Perun's name of the way initial-guess. */
static const char *
perun_method(struct st_profile *p, const json_t *model)
{
	const char *name = json_string_value(json_object_get(model, "method"));
	char *copy = name ? strdup(name) : NULL;
	for (char *c = copy; c && *c; c++)
		*c = *c == '_' ? '-' : *c;
	const char *method = copy ? st_profile_text(p, copy) : "full";
	free(copy);
	return method;
}

static struct st_kept_answer
perun_answer(struct st_perun *x, const struct perun_uids *uids, const char *uid,
             const json_t *model)
{
	const struct st_profile *p = x->in->p;
	size_t at = 0;
	while (at < uids->n && strcmp(uids->v[at], uid) != 0)
		at++;
	const struct st_series *s = at < uids->n ? &p->measurements.series.v[at] : NULL;
	const char *feature = s ? st_series_default_feature(s) : NULL;
	return (struct st_kept_answer){.uid = uid,
	                               .metric = s ? s->key.metric : "amount",
	                               .unit = s ? s->key.unit : "",
	                               .x = feature ? feature
	                                    : s     ? "sequence"
	                                            : ST_FEATURE_SIZE,
	                               .source = ST_KEPT_PERUN,
	                               .method = perun_method(x->in->p, model),
	                               .segments = 1,
	                               .level = NAN,
	                               .growth = NAN,
	                               .growth_low = NAN,
	                               .growth_high = NAN,
	                               .exponent = NAN,
	                               .exponent_low = NAN,
	                               .exponent_high = NAN,
	                               .exponent_offset = NAN};
}

/* Whether the model belongs to the answer that was added last: models of one uid, way and range of
 * x, each of another kind, are one answer. */
static bool
perun_is_same_answer(const struct st_profile *p, const struct st_kept_answer *a,
                     const struct st_kept_model *m)
{
	const struct st_kept *k = &p->kept;
	const struct st_kept_answer *last = k->answers.n ? &k->answers.v[k->answers.n - 1] : NULL;
	if (!last || strcmp(last->uid, a->uid) != 0 || strcmp(last->method, a->method) != 0)
		return false;
	for (size_t i = k->models.n; i && k->models.v[i - 1].answer == (int64_t)k->answers.n; i--) {
		const struct st_kept_model *other = &k->models.v[i - 1];
		if (!strcmp(other->kind, m->kind) ||
		    !(other->x_start == m->x_start && other->x_end == m->x_end))
			return false;
	}
	return true;
}

static st_status
perun_add_coefficients(struct st_profile *p, const json_t *coefficients)
{
	size_t i;
	json_t *c;
	json_array_foreach(coefficients, i, c)
	{
		const struct st_kept_coefficient row = {
		        .model = (int64_t)p->kept.models.n,
		        .name = json_string_value(json_object_get(c, "name")),
		        .value = perun_model_number(c, "value"),
		        .error = NAN,
		        .low = NAN,
		        .high = NAN,
		        .p = NAN,
		        .inverse0 = NAN,
		        .inverse1 = NAN,
		        .inverse2 = NAN,
		        .inverse3 = NAN};
		if (st_kept_put_coefficient(p, &row))
			return ST_FAILED;
	}
	return ST_OK;
}

static st_status
perun_add_model(struct st_perun *x, const struct perun_uids *uids, const char *uid,
                const json_t *model)
{
	struct st_profile *p = x->in->p;
	const struct st_kept_answer answer = perun_answer(x, uids, uid, model);
	struct st_kept_model row = {.kind = json_string_value(json_object_get(model, "model")),
	                            .x_start = perun_model_number(model, "x_start"),
	                            .x_end = perun_model_number(model, "x_end"),
	                            .r_square = perun_model_number(model, "r_square"),
	                            .r_squared = NAN,
	                            .r_squared_cv = NAN,
	                            .aicc = NAN,
	                            .weight = NAN,
	                            .own_aicc = NAN,
	                            .bic = NAN,
	                            .residual_sd = NAN,
	                            .sse = NAN,
	                            .tss = NAN,
	                            .squares = NAN,
	                            .scatter_level = NAN,
	                            .curve0 = NAN,
	                            .curve1 = NAN,
	                            .centre = NAN,
	                            .log0 = NAN,
	                            .log1 = NAN,
	                            .log_r_square = NAN};
	if (!perun_is_same_answer(p, &answer, &row) && st_kept_put_answer(p, &answer))
		return ST_FAILED;
	row.answer = (int64_t)p->kept.answers.n;
	if (st_kept_put_model(p, &row))
		return ST_FAILED;
	return perun_add_coefficients(p, json_object_get(model, "coeffs"));
}

st_status
st_perun_models(struct st_perun *x)
{
	const json_t *models = json_object_get(x->root, "models");
	struct perun_uids uids = {0};
	size_t i;
	json_t *model;
	st_status status = json_array_size(models) && perun_uids_make(&uids, x->in->p)
	                           ? st_import_no_memory(x->in, x->e)
	                           : ST_OK;
	json_array_foreach(models, i, model)
	{
		if (status || !perun_has_formula(model))
			continue;
		char *uid = perun_model_uid(json_object_get(model, "uid"));
		if (!uid || perun_add_model(x, &uids, uid, model))
			status = st_import_no_memory(x->in, x->e);
		free(uid);
	}
	perun_uids_free(&uids);
	return status;
}
