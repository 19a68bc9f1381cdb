/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The models of repeated measurements that the page draws through their points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/kept.h"
#include "model/choice.h"
#include "profile/measurements.h"
#include "report/json.h"
#include "report/model.h"
#include "report/page.h"

/* A page is no place for the models of a million series. */
enum { MOST_MODELS = 300, CURVE_POINTS = 65 };
#define PAGE_SEQUENCE "sequence"

struct page_points {
	double *x, *y;
	size_t n;
};

static st_status
take_points(struct page_points *out, const struct st_series *s, const double *feature)
{
	*out = (struct page_points){malloc((s->n + 1) * sizeof(double)),
	                            malloc((s->n + 1) * sizeof(double)), 0};
	for (size_t i = 0; out->x && out->y && i < s->n; i++) {
		const double x = feature ? feature[i] : (double)(i + 1);
		if (!isfinite(x) || !isfinite(s->values[i]))
			continue;
		out->x[out->n] = x;
		out->y[out->n++] = s->values[i];
	}
	return out->x && out->y ? ST_OK : ST_FAILED;
}

static json_t *
curve_json(const struct st_regression *m)
{
	json_t *curve = json_array();
	for (size_t i = 0; i < CURVE_POINTS; i++) {
		const double share = (double)i / (CURVE_POINTS - 1);
		const double x = m->x_start * (1 - share) + m->x_end * share;
		const double y = st_regression_at(m, x);
		if (isfinite(y))
			json_array_append_new(curve,
			                      json_pack("[o, o]", json_real(x), json_real(y)));
	}
	return curve;
}

/* The choice that the profile keeps of these points, or a new one. */
static st_status
choose_page_model(const struct st_profile *p, const struct st_series *s, const char *name,
                  const struct st_points *points, struct st_choice *c)
{
	struct st_error e;
	return st_kept_find(p, s, name, points, c)
	               ? ST_OK
	               : st_choice_make(c, points, ST_GROWTHS_ALL, ST_NOISE_AUTO, 0.95, &e);
}

/* Adds the model of a series by a feature, NULL: by the order of its values; where the points do
 * not determine one, nothing. */
static void
add_model(json_t *out, const struct st_profile *p, size_t index, const char *name,
          const double *feature)
{
	const struct st_series *s = &p->measurements.series.v[index];
	struct page_points taken;
	struct st_choice *c = malloc(sizeof *c);
	if (c && !take_points(&taken, s, feature)) {
		const struct st_points points = {.x = taken.x, .y = taken.y, .n = taken.n};
		if (!choose_page_model(p, s, name, &points, c) && c->best < ST_GROWTH_COUNT) {
			char *caption = st_model_caption(c);
			json_array_append_new(
			        out, json_pack("{s:I, s:o, s:o, s:o}", "series", (json_int_t)index,
			                       "x", st_json_text(name), "caption",
			                       st_json_text(caption ? caption : ""), "curve",
			                       curve_json(&c->models[c->best])));
			free(caption);
		}
	}
	if (c) {
		free(taken.x);
		free(taken.y);
	}
	free(c);
}

json_t *
st_page_models(const struct st_profile *p)
{
	const struct st_measurements *m = &p->measurements;
	json_t *out = m->series.n ? json_array() : NULL;
	for (size_t i = 0; out && i < m->series.n; i++) {
		const struct st_series *s = &m->series.v[i];
		const char *usual = st_series_default_feature(s);
		if (usual && json_array_size(out) < MOST_MODELS)
			add_model(out, p, i, usual, st_series_feature(s, usual));
		for (size_t f = 0; f < s->features.n && json_array_size(out) < MOST_MODELS; f++)
			if (!usual || strcmp(s->features.v[f].name, usual) != 0)
				add_model(out, p, i, s->features.v[f].name, s->features.v[f].v);
		if (json_array_size(out) < MOST_MODELS)
			add_model(out, p, i, PAGE_SEQUENCE, NULL);
	}
	return out;
}
