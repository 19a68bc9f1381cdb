/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot cost, residuals, passed: draws records of calls with their annotations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/analyse.h"
#include "annotate/picture.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/annotate.h"
#include "cli/annotate_kept.h"
#include "cli/plot.h"
#include "plot/charts.h"
#include "stats/robust.h"

enum { POINTS_MOST = 4000, COST_DIGITS = 4, KEY_MOST = 8 };

/* A file of records, and the function and metric of it that are drawn. */
struct cost_side {
	const char *path;
	struct st_ann_data data;
	const struct st_ann_records *r;
	size_t metric;
	struct st_ann_annotation made;
	bool has_made;
	const struct st_ann_annotation *a; /* made, or a kept one; NULL: none */
	struct st_ann_picture picture;
};

struct cost_plot {
	const struct st_plot_arguments *arguments;
	struct st_ann_file kept;
	bool has_kept;
	struct cost_side *sides;
	size_t n;
	bool residuals;
	size_t drawn, points; /* points that are drawn, and all */
	ST_VEC(struct st_plot_panel) panels;
	ST_VEC(char *) texts;
	ST_VEC(void *) columns;
	struct st_text note;
	char why[200]; /* the first reason for which there is no model */
};

static st_status
cost_memory(struct st_error *e)
{
	return st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
}

/* ---- what is drawn ---- */

static st_status
cost_choose_function(struct cost_side *s, const struct st_plot_arguments *a, struct st_error *e)
{
	char names[400] = "";
	size_t fit = 0;
	for (size_t i = 0; i < s->data.functions.n; i++) {
		const struct st_ann_records *r = &s->data.functions.v[i];
		if (a->of && !st_annotate_fits(a->of, r->name))
			continue;
		if (fit++ < 5)
			st_append(names, sizeof names, "%s%.60s", fit > 1 ? ", " : "", r->name);
		s->r = r;
	}
	if (fit == 1)
		return ST_OK;
	if (fit)
		return st_fail(e, ST_EXIT_USAGE,
		               "%s has %s functions, and a picture has one: choose with --of; "
		               "they are %s%s",
		               s->path, ST_NUMBER(fit), names, fit > 5 ? ", ..." : "");
	return st_fail(e, ST_EXIT_USAGE, "no function of %s fits '%s'; there is %s, for example",
	               s->path, a->of ? a->of : "",
	               s->data.functions.n ? s->data.functions.v[0].name : "none");
}

static st_status
cost_choose_metric(struct cost_side *s, const char *name, struct st_error *e)
{
	for (size_t k = 0; k < s->r->metrics.n; k++)
		if (!name || !strcmp(s->r->metrics.v[k].name, name)) {
			s->metric = k;
			return ST_OK;
		}
	return st_fail(e, ST_EXIT_USAGE, "%s of %s has no metric '%s'; it has %s, for example",
	               s->r->name, s->path, name ? name : "",
	               s->r->metrics.n ? s->r->metrics.v[0].name : "none");
}

static st_status
cost_read(struct cost_side *s, const char *path, struct st_error *e)
{
	const struct st_ann_columns columns = {0};
	s->path = path;
	return st_ann_data_read(&s->data, path, &columns, e);
}

/* Without a model the points are drawn alone, and the note has the reason. */
static st_status
cost_annotate(struct cost_plot *p, struct cost_side *s, struct st_error *e)
{
	const struct st_ann_options options = {0};
	const char *const metric = s->r->metrics.v[s->metric].name;
	struct st_error why;
	if (p->arguments->no_model)
		return ST_OK;
	if (p->has_kept) {
		s->a = st_ann_find(&p->kept, s->r->name, metric);
		return s->a ? ST_OK
		            : st_fail(e, ST_EXIT_USAGE, "%s has no annotation %s.%s",
		                      p->arguments->kept, s->r->name, metric);
	}
	s->has_made = !st_ann_analyse(s->r, s->metric, &options, &s->made, &why);
	if (s->has_made)
		s->a = &s->made;
	else
		st_ann_annotation_free(&s->made);
	if (!s->has_made && !*p->why)
		st_append(p->why, sizeof p->why, "%s", why.text);
	return ST_OK;
}

/* All panels have the same axes, so every file has the function, metric and feature of the first.
 */
static st_status
cost_check_function(const struct cost_plot *p, const struct cost_side *s, struct st_error *e)
{
	const struct cost_side *first = &p->sides[0];
	if (!strcmp(first->r->name, s->r->name))
		return ST_OK;
	return st_fail(e, ST_EXIT_USAGE,
	               "a picture has one function, but %s has %s and %s has %s: choose with --of",
	               first->path, first->r->name, s->path, s->r->name);
}

static st_status
cost_take_side(struct cost_plot *p, struct cost_side *s, const char *path, struct st_error *e)
{
	const struct cost_side *first = &p->sides[0];
	const char *metric = p->arguments->metric, *x = p->arguments->x;
	if (s != first) {
		metric = first->r->metrics.v[first->metric].name;
		x = first->picture.x ? first->picture.x->path : x;
	}
	return cost_read(s, path, e) || cost_choose_function(s, p->arguments, e) ||
	                       cost_check_function(p, s, e) || cost_choose_metric(s, metric, e) ||
	                       cost_annotate(p, s, e) ||
	                       st_ann_picture_make(s->a, s->r, s->metric, x, &s->picture, e)
	               ? ST_FAILED
	               : ST_OK;
}

/* ---- panels ---- */

/* Keeps a text or a column until the picture is drawn. NULL: no memory. */
static char *
cost_keep_text(struct cost_plot *p, char *text)
{
	char **to = text ? ST_PUSH(&p->texts) : NULL;
	if (!to) {
		free(text);
		return NULL;
	}
	return *to = text;
}

static void *
cost_column(struct cost_plot *p, size_t n, size_t size)
{
	void *v = calloc(n + 1, size), **to = v ? ST_PUSH(&p->columns) : NULL;
	if (!to) {
		free(v);
		return NULL;
	}
	*to = v;
	return v;
}

static const char *
cost_condition_text(struct cost_plot *p, const struct cost_side *s, const struct st_ann_panel *from)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	if (p->n > 1)
		fprintf(text.out, "%s%s", st_base_name(s->path),
		        from->condition || (from->rest && s->a) ? ": " : "");
	if (from->condition)
		st_ann_expr_print(from->condition, text.out, COST_DIGITS);
	else if (from->rest && s->a)
		fputs("no condition holds", text.out);
	return cost_keep_text(p, st_text_end(&text));
}

/* Takes the points of a panel, at most POINTS_MOST, at regular distances. */
static st_status
cost_take_points(struct cost_plot *p, const struct st_ann_panel *from, bool several,
                 struct st_plot_panel *to)
{
	const size_t all = from->points.n, step = all / POINTS_MOST + (all % POINTS_MOST != 0);
	double *x = cost_column(p, all, sizeof *x), *y = cost_column(p, all, sizeof *y);
	size_t *colour = cost_column(p, all, sizeof *colour);
	if (!x || !y || !colour)
		return ST_FAILED;
	for (size_t i = 0; i < all; i += step) {
		x[to->n] = from->points.v[i].x;
		y[to->n] = p->residuals ? from->points.v[i].residual : from->points.v[i].y;
		colour[to->n++] = several ? from->points.v[i].mode : 0;
	}
	to->x = x;
	to->y = y;
	to->colour = colour;
	p->drawn += to->n;
	p->points += all;
	return ST_OK;
}

static char *
cost_curve_hint(const struct cost_side *s, const struct st_ann_curve *c)
{
	struct st_text text;
	if (!st_text_begin(&text))
		return NULL;
	if (!isnan(c->weight))
		fprintf(text.out, "model %zu, probability %.3g", c->mode + 1, c->weight);
	if (!isnan(c->level) && s->picture.second)
		fprintf(text.out, "%s%s = %.5g", isnan(c->weight) ? "" : ", ",
		        s->picture.second->name, c->level);
	return st_text_end(&text);
}

/* The colours of points are those of modes; single models, and levels of a second feature, have
 * further ones. */
static size_t
cost_colour(const struct st_ann_panel *from, size_t curve)
{
	const struct st_ann_curve *c = &from->curves.v[curve];
	if (from->modes > 1)
		return c->mode;
	return isnan(c->level) ? 1 : 1 + curve;
}

static st_status
cost_take_curves(struct cost_plot *p, const struct cost_side *s, const struct st_ann_panel *from,
                 struct st_plot_panel *to)
{
	struct st_plot_curve *v = cost_column(p, from->curves.n, sizeof *v);
	to->curves = v;
	if (!v)
		return ST_FAILED;
	for (size_t i = 0; i < from->curves.n; i++) {
		const struct st_ann_curve *c = &from->curves.v[i];
		const char *hint = cost_keep_text(p, cost_curve_hint(s, c));
		if (!hint)
			return ST_FAILED;
		v[to->n_curves++] = (struct st_plot_curve){.x = c->x,
		                                           .y = c->y,
		                                           .low = c->low,
		                                           .high = c->high,
		                                           .n = ST_ANN_CURVE,
		                                           .colour = cost_colour(from, i),
		                                           .hint = *hint ? hint : NULL};
	}
	return ST_OK;
}

/* The residuals of a perfect prediction: 0. */
static st_status
cost_take_zero(struct cost_plot *p, const struct st_ann_panel *from, struct st_plot_panel *to)
{
	struct st_plot_curve *v = cost_column(p, 1, sizeof *v);
	double *x = cost_column(p, 2, sizeof *x), *y = cost_column(p, 2, sizeof *y);
	if (!v || !x || !y)
		return ST_FAILED;
	x[0] = INFINITY;
	x[1] = -INFINITY;
	for (size_t i = 0; i < from->points.n; i++) {
		x[0] = fmin(x[0], from->points.v[i].x);
		x[1] = fmax(x[1], from->points.v[i].x);
	}
	*v = (struct st_plot_curve){.x = x, .y = y, .n = 2, .colour = 7};
	to->curves = v;
	to->n_curves = 1;
	return ST_OK;
}

static st_status
cost_add_panels(struct cost_plot *p, const struct cost_side *s)
{
	for (size_t i = 0; i < s->picture.panels.n; i++) {
		const struct st_ann_panel *from = &s->picture.panels.v[i];
		struct st_plot_panel *to = from->points.n ? ST_PUSH(&p->panels) : NULL;
		if (!from->points.n)
			continue;
		if (!to)
			return ST_FAILED;
		*to = (struct st_plot_panel){.title = cost_condition_text(p, s, from)};
		if (!to->title || cost_take_points(p, from, from->modes > 1, to) ||
		    (p->residuals ? cost_take_zero(p, from, to) : cost_take_curves(p, s, from, to)))
			return ST_FAILED;
	}
	return ST_OK;
}

/* ---- words ---- */

static void
cost_note_models(struct cost_plot *p, const struct st_ann_annotation *a)
{
	FILE *const out = p->note.out;
	for (size_t i = 0; i < a->scopes.n; i++)
		for (size_t k = 0; k < a->scopes.v[i].models.n; k++) {
			const struct st_ann_scope *s = &a->scopes.v[i];
			if (s->condition) {
				putc('[', out);
				st_ann_expr_print(s->condition, out, COST_DIGITS);
				fputs("] ", out);
			}
			if (!isnan(s->models.v[k].weight))
				fprintf(out, "{%.3g} ", s->models.v[k].weight);
			st_ann_print_model(&s->models.v[k], out, COST_DIGITS);
			fputs("; ", out);
		}
}

static char *
cost_note(struct cost_plot *p)
{
	bool any = false;
	if (!st_text_begin(&p->note))
		return NULL;
	for (size_t i = 0; i < p->n; i++) {
		if (!p->sides[i].a)
			continue;
		any = true;
		if (p->n > 1)
			fprintf(p->note.out, "%s: ", st_base_name(p->sides[i].path));
		cost_note_models(p, p->sides[i].a);
	}
	if (any && !p->residuals)
		fputs("bands: 95 % of the calls. ", p->note.out);
	bool others = false;
	for (size_t i = 0; i < p->n; i++)
		others |= p->sides[i].picture.others;
	if (others)
		fputs("Further features have their medians. ", p->note.out);
	if (*p->why)
		fprintf(p->note.out, "No model: %s. ", p->why);
	if (p->drawn < p->points)
		fprintf(p->note.out, "%s of %s drawn. ", ST_NUMBER(p->drawn),
		        ST_COUNT(p->points, "call is", "calls are"));
	return st_text_end(&p->note);
}

/* The second feature of the first file that has curves for its levels; NULL: none has. */
static const struct st_ann_feature *
cost_leveled(const struct cost_plot *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->sides[i].picture.panels.n; k++) {
			const struct st_ann_panel *panel = &p->sides[i].picture.panels.v[k];
			if (panel->curves.n && !isnan(panel->curves.v[0].level))
				return p->sides[i].picture.second;
		}
	return NULL;
}

/* The names of the colours: models, or levels of the second feature. Returns their number. */
static size_t
cost_key(struct cost_plot *p, const char **names)
{
	static const char *const levels[] = {"least", "median", "greatest"};
	const struct st_ann_feature *second = cost_leveled(p);
	size_t modes = 0, n = 0;
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->sides[i].picture.panels.n; k++) {
			const struct st_ann_panel *panel = &p->sides[i].picture.panels.v[k];
			modes = panel->modes > modes ? panel->modes : modes;
		}
	for (; modes > 1 && n < modes && n < KEY_MOST; n++)
		if (!(names[n] = cost_keep_text(p, st_text_of("model %zu", n + 1))))
			return 0;
	if (modes > 1 || !second || p->residuals)
		return n;
	names[n++] = "calls";
	for (size_t i = 0; i < ST_ANN_LEVELS; i++, n++)
		if (!(names[n] = cost_keep_text(p, st_text_of("%s %s", levels[i], second->name))))
			return 0;
	return n;
}

static const char *
cost_unit(const char *unit)
{
	return !strcmp(unit, "bytes") ? "B" : unit;
}

static st_status
cost_write(struct cost_plot *p, FILE *out, struct st_error *e)
{
	const struct cost_side *first = &p->sides[0];
	const struct st_ann_metric *m = &first->r->metrics.v[first->metric];
	const char *names[KEY_MOST + ST_ANN_LEVELS + 1];
	const size_t n_names = cost_key(p, names);
	char *note = cost_note(p),
	     *title = st_text_of("%s of %s%s", m->name, first->r->name,
	                         p->residuals ? ": distance from the models" : "");
	if (note && title) {
		const struct st_plot_panels plot = {
		        .words = {.title = p->arguments->title ? p->arguments->title : title,
		                  .x = first->picture.x ? first->picture.x->path : "call",
		                  .y = m->name,
		                  .y_unit = cost_unit(m->unit),
		                  .note = note},
		        .panels = p->panels.v,
		        .n_panels = p->panels.n,
		        .names = names,
		        .n_names = n_names,
		        .logarithmic = p->arguments->logarithmic};
		st_plot_panels(&plot, out);
	}
	const bool bad = !note || !title;
	free(note);
	free(title);
	return bad ? cost_memory(e) : ST_OK;
}

/* ---- the kinds ---- */

static void
cost_free(struct cost_plot *p)
{
	for (size_t i = 0; p->sides && i < p->n; i++) {
		st_ann_picture_free(&p->sides[i].picture);
		if (p->sides[i].has_made)
			st_ann_annotation_free(&p->sides[i].made);
		st_ann_data_free(&p->sides[i].data);
	}
	for (size_t i = 0; i < p->texts.n; i++)
		free(p->texts.v[i]);
	for (size_t i = 0; i < p->columns.n; i++)
		free(p->columns.v[i]);
	free(p->texts.v);
	free(p->columns.v);
	free(p->panels.v);
	free(p->sides);
	st_ann_file_free(&p->kept);
}

static st_status
cost_begin(struct cost_plot *p, const struct st_plot_arguments *a, struct st_error *e)
{
	*p = (struct cost_plot){.arguments = a};
	if (!a->files.n)
		return st_fail(e, ST_EXIT_USAGE,
		               "no records to draw: strobe plot %s RECORDS, which strobe annotate "
		               "-o RECORDS makes",
		               a->kind);
	if (a->kept && st_ann_read(a->kept, &p->kept, e))
		return ST_FAILED;
	p->has_kept = a->kept != NULL;
	p->sides = calloc(a->files.n, sizeof *p->sides);
	if (!p->sides)
		return cost_memory(e);
	p->n = a->files.n;
	return ST_OK;
}

static st_status
cost_draw(const struct st_plot_arguments *a, bool residuals, FILE *out, struct st_error *e)
{
	struct cost_plot p;
	st_status status = cost_begin(&p, a, e);
	p.residuals = residuals;
	for (size_t i = 0; i < p.n && !status; i++)
		status = cost_take_side(&p, &p.sides[i], a->files.v[i], e);
	if (!status && residuals && !p.sides[0].a)
		status = st_fail(e, ST_EXIT_FAILED, "there are no distances without a model: %s",
		                 *p.why ? p.why : "leave out --no-model");
	for (size_t i = 0; i < p.n && !status; i++)
		if (cost_add_panels(&p, &p.sides[i]))
			status = cost_memory(e);
	if (!status && !p.panels.n)
		status =
		        st_fail(e, ST_EXIT_FAILED, "no record of %s has a value of %s and of %s",
		                p.sides[0].r->name, p.sides[0].r->metrics.v[p.sides[0].metric].name,
		                p.sides[0].picture.x ? p.sides[0].picture.x->name : "a feature");
	if (!status)
		status = cost_write(&p, out, e);
	cost_free(&p);
	return status;
}

st_status
st_plot_cost(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	return cost_draw(a, false, out, e);
}

st_status
st_plot_residuals(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	return cost_draw(a, true, out, e);
}

/* ---- passed ---- */

/* The distribution of the shares of calls that are as predicted, over functions and metrics, in
 * percent. */
static st_status
passed_curve(struct cost_plot *p, struct cost_side *s, size_t colour, struct st_plot_curve *to,
             struct st_error *e)
{
	size_t n = 0, most = 0;
	for (size_t i = 0; i < s->data.functions.n; i++)
		most += s->data.functions.v[i].metrics.n;
	double *x = cost_column(p, most + 2, sizeof *x), *y = cost_column(p, most + 2, sizeof *y);
	if (!x || !y)
		return cost_memory(e);
	for (size_t i = 0; i < s->data.functions.n; i++) {
		const struct st_ann_records *r = &s->data.functions.v[i];
		for (size_t k = 0; k < r->metrics.n; k++) {
			const char *const metric = r->metrics.v[k].name;
			const struct st_ann_annotation *a = st_ann_find(&p->kept, r->name, metric);
			struct st_ann_picture picture = {0};
			if (!a ||
			    (p->arguments->of && !st_annotate_fits(p->arguments->of, r->name)) ||
			    (p->arguments->metric && strcmp(p->arguments->metric, metric)))
				continue;
			const st_status bad = st_ann_picture_make(a, r, k, NULL, &picture, e);
			if (!bad && !isnan(picture.passed))
				x[++n] = 100 * picture.passed;
			st_ann_picture_free(&picture);
			if (bad)
				return ST_FAILED;
		}
	}
	if (!n)
		return st_fail(e, ST_EXIT_FAILED,
		               "no annotation with a spread is of a function and a metric of %s",
		               s->path);
	st_sort_values(x + 1, n);
	x[n + 1] = 100;
	for (size_t i = 0; i <= n + 1; i++)
		y[i] = 100 * (double)(i > n ? n : i) / (double)n;
	*to = (struct st_plot_curve){.x = x,
	                             .y = y,
	                             .n = n + 2,
	                             .colour = colour,
	                             .steps = true,
	                             .hint = st_base_name(s->path)};
	return ST_OK;
}

static void
passed_write(struct cost_plot *p, struct st_plot_curve *curves, const char **names, FILE *out)
{
	const struct st_plot_panel panel = {.curves = curves, .n_curves = p->n};
	const struct st_plot_panels plot = {
	        .words = {.title = p->arguments->title ? p->arguments->title
	                                               : "Calls as the annotations predict",
	                  .x = "calls in the central 95 % of the prediction (%)",
	                  .y = "functions and metrics with that many or fewer (%)",
	                  .note = "A curve further to the left or higher has more calls that the "
	                          "annotations do not predict."},
	        .panels = &panel,
	        .n_panels = 1,
	        .names = names,
	        .n_names = p->n > 1 ? p->n : 0};
	st_plot_panels(&plot, out);
}

st_status
st_plot_passed(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	struct cost_plot p;
	char *folder = NULL;
	st_status status = cost_begin(&p, a, e);
	if (!status && !a->kept)
		status = st_annotations_read(&p.kept, &folder, e);
	free(folder);
	struct st_plot_curve *curves = cost_column(&p, p.n, sizeof *curves);
	const char **names = cost_column(&p, p.n, sizeof *names);
	if (!status && (!curves || !names))
		status = cost_memory(e);
	for (size_t i = 0; i < p.n && !status; i++) {
		names[i] = st_base_name(a->files.v[i]);
		status = cost_read(&p.sides[i], a->files.v[i], e) ||
		                         passed_curve(&p, &p.sides[i], i, &curves[i], e)
		                 ? ST_FAILED
		                 : ST_OK;
	}
	if (!status)
		passed_write(&p, curves, names, out);
	cost_free(&p);
	return status;
}
