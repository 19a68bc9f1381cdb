/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annotations: their parts, finding and freeing them. */
#include "annotate/annotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word, *name;
	unsigned parameters;
} ann_distributions[] = {
#define D(id, word, name, parameters) {word, name, parameters},
        ST_ANN_DISTRIBUTIONS(D)
#undef D
};

static const char *const ann_selections[] = {
#define S(id, name) name,
        ST_ANN_SELECTIONS(S)
#undef S
};

const char *
st_ann_distribution_name(enum st_ann_distribution d)
{
	return ann_distributions[d].name;
}

const char *
st_ann_distribution_word(enum st_ann_distribution d)
{
	return ann_distributions[d].word;
}

unsigned
st_ann_distribution_parameters(enum st_ann_distribution d)
{
	return ann_distributions[d].parameters;
}

const char *
st_ann_selection_name(enum st_ann_selection s)
{
	return ann_selections[s];
}

struct st_ann_model
st_ann_model_new(void)
{
	return (struct st_ann_model){.weight = NAN, .r2 = NAN, .r2_cv = NAN, .fit_p = NAN};
}

static void
ann_model_free(struct st_ann_model *m)
{
	st_ann_expr_free(m->a);
	st_ann_expr_free(m->b);
	free(m->se.v);
	free(m->branches);
	*m = (struct st_ann_model){0};
}

static void
ann_scope_free(struct st_ann_scope *s)
{
	st_ann_expr_free(s->condition);
	for (size_t i = 0; i < s->models.n; i++)
		ann_model_free(&s->models.v[i]);
	free(s->models.v);
	*s = (struct st_ann_scope){0};
}

static void
ann_declaration_free(struct st_ann_declaration *d)
{
	free(d->type);
	free(d->name);
	free(d->path);
	free(d->also);
}

void
st_ann_annotation_free(struct st_ann_annotation *a)
{
	free(a->function);
	free(a->metric);
	free(a->image);
	free(a->unit);
	free(a->date);
	free(a->note);
	for (size_t i = 0; i < a->parameters.n; i++)
		free(a->parameters.v[i]);
	for (size_t i = 0; i < a->declarations.n; i++)
		ann_declaration_free(&a->declarations.v[i]);
	for (size_t i = 0; i < a->scopes.n; i++)
		ann_scope_free(&a->scopes.v[i]);
	free(a->parameters.v);
	free(a->declarations.v);
	free(a->scopes.v);
	*a = (struct st_ann_annotation){0};
}

void
st_ann_file_free(struct st_ann_file *f)
{
	for (size_t i = 0; i < f->list.n; i++)
		st_ann_annotation_free(&f->list.v[i]);
	free(f->list.v);
	*f = (struct st_ann_file){0};
}

static void
ann_see_name(void *arg, const char *name)
{
	(void)name;
	*(bool *)arg = true;
}

bool
st_ann_has_laws(const struct st_ann_annotation *a)
{
	for (size_t i = 0; i < a->scopes.n; i++) {
		const struct st_ann_scope *s = &a->scopes.v[i];
		bool depends = false;
		if (s->models.n == 1)
			st_ann_each_name(s->models.v[0].a, ann_see_name, &depends);
		if (!depends)
			return false;
	}
	return true;
}

const struct st_ann_annotation *
st_ann_find(const struct st_ann_file *f, const char *function, const char *metric)
{
	for (size_t i = 0; i < f->list.n; i++)
		if (!strcmp(f->list.v[i].function, function) &&
		    !strcmp(f->list.v[i].metric, metric))
			return &f->list.v[i];
	return NULL;
}
