/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints annotations and predictions as JSON: docs/json.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/annotation.h"
#include "report/json.h"

static json_t *
annotation_text(const char *text)
{
	return text ? st_json_text(text) : json_null();
}

/* Prints an expression with all digits; NULL becomes null. */
static json_t *
annotation_expr(const struct st_ann_expr *x)
{
	struct st_text text;
	if (!x)
		return json_null();
	if (!st_text_begin(&text))
		return NULL;
	st_ann_expr_print(x, text.out, 0);
	char *v = st_text_end(&text);
	json_t *out = v ? st_json_text(v) : NULL;
	free(v);
	return out;
}

/* Makes an array of names that are separated by commas. */
static json_t *
annotation_also(const char *also)
{
	json_t *out = json_array();
	char *copy = strdup(also ? also : ""), *rest = copy;
	for (char *name; copy && *copy && (name = strsep(&rest, ","));)
		json_array_append_new(out, st_json_text(name + strspn(name, " ")));
	free(copy);
	return out;
}

static json_t *
annotation_feature(const struct st_ann_declaration *d)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", st_json_text(d->name), "path",
	                 st_json_text(d->path), "kind", st_json_text(d->type), "low",
	                 st_json_real(d->low), "high", st_json_real(d->high), "also",
	                 annotation_also(d->also));
}

struct annotation_terms {
	const struct st_ann_model *m;
	json_t *list;
};

static st_status
annotation_term(void *arg, double coefficient, const struct st_ann_expr *term)
{
	struct annotation_terms *t = arg;
	const size_t at = json_array_size(t->list);
	json_t *name = term ? annotation_expr(term) : json_string("1");
	json_t *out =
	        json_pack("{s:o, s:o, s:o}", "term", name, "coefficient", st_json_real(coefficient),
	                  "se", at < t->m->se.n ? st_json_real(t->m->se.v[at]) : json_null());
	return json_array_append_new(t->list, out) ? ST_FAILED : ST_OK;
}

static json_t *
annotation_terms_json(const struct st_ann_model *m)
{
	struct annotation_terms t = {m, json_array()};
	if (m->a && st_ann_each_addend(m->a, annotation_term, &t)) {
		json_decref(t.list);
		return NULL;
	}
	return t.list;
}

static json_t *
annotation_model(const struct st_ann_scope *s, const struct st_ann_model *m)
{
	return json_pack(
	        "{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:f, s:o}",
	        "condition", annotation_expr(s->condition), "probability", st_json_real(m->weight),
	        "distribution", st_ann_distribution_name(m->distribution), "class",
	        annotation_text(*m->class ? m->class : NULL), "mean", annotation_expr(m->a), "sd",
	        annotation_expr(m->b), "terms", annotation_terms_json(m), "r2", st_json_real(m->r2),
	        "r2_cv", st_json_real(m->r2_cv), "fit_p", st_json_real(m->fit_p), "n",
	        m->n ? json_integer((json_int_t)m->n) : json_null(), "selection",
	        st_ann_selection_name(m->selection), "dropped", m->dropped, "branch",
	        annotation_text(m->branches));
}

json_t *
st_annotation_json(const struct st_ann_annotation *a)
{
	json_t *features = json_array(), *models = json_array();
	for (size_t i = 0; i < a->declarations.n; i++)
		json_array_append_new(features, annotation_feature(&a->declarations.v[i]));
	for (size_t i = 0; i < a->scopes.n; i++)
		for (size_t k = 0; k < a->scopes.v[i].models.n; k++)
			json_array_append_new(
			        models,
			        annotation_model(&a->scopes.v[i], &a->scopes.v[i].models.v[k]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
	                 "function", st_json_text(a->function), "image", annotation_text(a->image),
	                 "metric", st_json_text(a->metric), "unit", annotation_text(a->unit),
	                 "records", a->records ? json_integer((json_int_t)a->records) : json_null(),
	                 "processes",
	                 a->processes ? json_integer((json_int_t)a->processes) : json_null(),
	                 "between_processes", st_json_real(a->between), "pace",
	                 st_json_real(a->pace > 0 ? a->pace : NAN), "overhead",
	                 st_json_real(a->overhead), "date", annotation_text(a->date), "note",
	                 annotation_text(a->note), "features", features, "models", models);
}

json_t *
st_prediction_json(const struct st_ann_prediction *p)
{
	json_t *interval = json_null();
	if (isfinite(p->low) && isfinite(p->high))
		interval = json_pack("[f, f]", p->low, p->high);
	return json_pack("{s:o, s:o, s:o, s:b, s:f}", "mean", st_json_real(p->mean), "sd",
	                 st_json_real(p->sd), "interval", interval, "inside", p->inside, "left_out",
	                 p->left_out);
}
