/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures of annotated metrics as data of the page. */
#include <stdlib.h>

#include "base/text.h"
#include "report/annotation.h"
#include "report/json.h"

enum { PICTURE_POINTS_MOST = 3000, PICTURE_DIGITS = 6 };

/* Points are [x, y, distance from the model, mode], at most PICTURE_POINTS_MOST at regular
 * distances. */
static json_t *
picture_points_json(const struct st_ann_panel *p)
{
	const size_t step =
	        p->points.n / PICTURE_POINTS_MOST + (p->points.n % PICTURE_POINTS_MOST != 0);
	json_t *list = json_array();
	for (size_t i = 0; i < p->points.n; i += step) {
		const struct st_ann_point *q = &p->points.v[i];
		json_array_append_new(list, json_pack("[o, o, o, o]", st_json_real(q->x),
		                                      st_json_real(q->y), st_json_real(q->residual),
		                                      st_json_count(q->mode)));
	}
	return list;
}

static json_t *
picture_curves_json(const struct st_ann_panel *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->curves.n; i++) {
		const struct st_ann_curve *c = &p->curves.v[i];
		json_t *points = json_array();
		for (size_t k = 0; k < ST_ANN_CURVE; k++)
			json_array_append_new(
			        points, json_pack("[o, o, o, o]", st_json_real(c->x[k]),
			                          st_json_real(c->y[k]), st_json_real(c->low[k]),
			                          st_json_real(c->high[k])));
		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "mode",
		                                      st_json_count(c->mode), "weight",
		                                      st_json_real(c->weight), "level",
		                                      st_json_real(c->level), "points", points));
	}
	return list;
}

static json_t *
picture_condition_json(const struct st_ann_expr *condition)
{
	struct st_text text;
	if (!condition || !st_text_begin(&text))
		return json_null();
	st_ann_expr_print(condition, text.out, PICTURE_DIGITS);
	char *v = st_text_end(&text);
	json_t *json = v ? st_json_text(v) : NULL;
	free(v);
	return json;
}

static json_t *
picture_feature_json(const struct st_ann_feature *f)
{
	return f ? st_json_text(f->path) : json_null();
}

json_t *
st_annotation_picture_json(const struct st_ann_records *r, size_t metric,
                           const struct st_ann_annotation *a, const char *why,
                           const struct st_ann_picture *p)
{
	const struct st_ann_metric *m = &r->metrics.v[metric];
	json_t *panels = json_array();
	for (size_t i = 0; i < p->panels.n; i++) {
		const struct st_ann_panel *panel = &p->panels.v[i];
		if (panel->points.n)
			json_array_append_new(
			        panels,
			        json_pack("{s:o, s:b, s:o, s:o, s:o, s:o}", "condition",
			                  picture_condition_json(panel->condition), "rest",
			                  panel->rest && a, "modes", st_json_count(panel->modes),
			                  "calls", st_json_count(panel->points.n), "points",
			                  picture_points_json(panel), "curves",
			                  picture_curves_json(panel)));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "function",
	                 st_json_text(r->name), "metric", st_json_text(m->name), "unit",
	                 st_json_text(m->unit), "records", st_json_count(r->n), "x",
	                 picture_feature_json(p->x), "second", picture_feature_json(p->second),
	                 "others", p->others, "passed", st_json_real(p->passed), "annotation",
	                 a ? st_annotation_json(a) : json_null(), "why",
	                 why ? st_json_text(why) : json_null(), "panels", panels);
}
