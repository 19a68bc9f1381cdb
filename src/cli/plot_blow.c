/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe plot causal: the experiments of a campaign of strobe blow, a line for each function. */
#include <stdlib.h>

#include "base/parse.h"
#include "base/text.h"
#include "cli/plot.h"
#include "plot/charts.h"
#include "report/blow.h"

enum { CAUSAL_LINES = 9 };

struct causal_plot {
	const struct st_blow *b;
	struct st_blow_curves curves;
	ST_VEC(struct st_plot_curve_point) points;
	ST_VEC(char *) names;
	ST_VEC(size_t) first;
};

static st_status
causal_take_points(struct causal_plot *c)
{
	for (size_t i = 0; i < c->curves.points.n; i++) {
		const struct st_blow_dot *dot = &c->curves.points.v[i];
		struct st_plot_curve_point *point = ST_PUSH(&c->points);
		if (!point)
			return ST_FAILED;
		*point = (struct st_plot_curve_point){dot->x, dot->y, dot->low, dot->high};
	}
	return ST_OK;
}

static st_status
causal_take_lines(struct causal_plot *c)
{
	for (size_t i = 0; i < c->curves.lines.n; i++) {
		const struct st_blow_line *line = &c->curves.lines.v[i];
		const char *name = c->b->functions.v[line->function].name;
		size_t *first = ST_PUSH(&c->first);
		char **slot = first ? ST_PUSH(&c->names) : NULL;
		if (!slot)
			return ST_FAILED;
		*first = line->first;
		*slot = line->thread == ST_BLOW_NONE
		                ? st_text_of("%s", name)
		                : st_text_of("%s, thread %u", name, line->thread);
		if (!*slot)
			return ST_FAILED;
	}
	size_t *end = ST_PUSH(&c->first);
	if (!end)
		return ST_FAILED;
	*end = c->points.n;
	return ST_OK;
}

static st_status
causal_draw(const struct st_plot_arguments *a, const struct causal_plot *c, FILE *out,
            struct st_error *e)
{
	char *title = a->title ? st_text_of("%s", a->title)
	                       : st_text_of("causal profiles of %s (%s)",
	                                    st_base_name(a->files.v[0]), st_blow_mode(c->b));
	const struct st_plot_curves curves = {.words = {.title = title,
	                                                .x = c->curves.x,
	                                                .y = c->curves.y,
	                                                .note = c->curves.note},
	                                      .names = (const char *const *)c->names.v,
	                                      .n_series = c->names.n,
	                                      .first = c->first.v,
	                                      .points = c->points.v,
	                                      .zero = c->curves.zero};
	if (title)
		st_plot_curves(&curves, out);
	free(title);
	return title ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
}

/* Removes the points beyond --up-to. */
static st_status
causal_cut(const struct st_plot_arguments *a, struct causal_plot *c, struct st_error *e)
{
	double most;
	const char *end;
	if (!a->up_to)
		return ST_OK;
	if (st_parse_real(a->up_to, &most, &end) || *end)
		return st_fail(e, ST_EXIT_USAGE,
		               "--up-to takes a number, a value of the x axis, not '%s'", a->up_to);
	st_blow_curves_cut(&c->curves, most);
	if (!c->curves.lines.n)
		return st_fail(
		        e, ST_EXIT_USAGE,
		        "no experiment is at most %s on the x axis: --up-to leaves out all of "
		        "them",
		        a->up_to);
	return ST_OK;
}

static st_status
causal_draw_campaign(const struct st_plot_arguments *a, const struct st_blow *b, FILE *out,
                     struct st_error *e)
{
	struct causal_plot c = {.b = b};
	const size_t most = a->top < 0 ? CAUSAL_LINES : a->top ? (size_t)a->top : SIZE_MAX;
	st_status status = st_blow_curves_make(b, st_blow_point_at(b, 0), a->of, most, &c.curves)
	                           ? st_fail(e, ST_EXIT_FAILED, "no memory left for the picture")
	                           : ST_OK;
	if (!status && c.curves.lines.n)
		status = causal_cut(a, &c, e);
	if (!status && (causal_take_points(&c) || causal_take_lines(&c)))
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for the picture");
	if (!status && !c.names.n)
		status = st_fail(e, ST_EXIT_FAILED,
		                 "%s has no experiment to draw%s%s: strobe blow --from lists its "
		                 "functions",
		                 a->files.v[0], a->of ? " with " : "", a->of ? a->of : "");
	if (!status)
		status = causal_draw(a, &c, out, e);
	for (size_t i = 0; i < c.names.n; i++)
		free(c.names.v[i]);
	free(c.names.v);
	free(c.first.v);
	free(c.points.v);
	st_blow_curves_free(&c.curves);
	return status;
}

st_status
st_plot_campaign(const struct st_plot_arguments *a, FILE *out, struct st_error *e,
                 st_status (*draw)(const struct st_plot_arguments *a, const struct st_blow *b,
                                   FILE *out, struct st_error *e))
{
	struct st_blow b;
	if (st_plot_count_files(a, 1, 1, e))
		return ST_FAILED;
	struct st_profile *p = st_profile_load(a->files.v[0], e);
	if (!p)
		return ST_FAILED;
	st_status status = st_blow_read(&b, p, e);
	if (!status) {
		status = draw(a, &b, out, e);
		st_blow_free(&b);
	}
	st_profile_free(p);
	return status;
}

st_status
st_plot_causal(const struct st_plot_arguments *a, FILE *out, struct st_error *e)
{
	return st_plot_campaign(a, out, e, causal_draw_campaign);
}
