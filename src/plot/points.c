/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws points with the curve of their model. */
#include <math.h>

#include "plot/charts.h"
#include "report/measurements.h"

struct points_extent {
	double least, most;
};

static void
points_extend(struct points_extent *e, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i])) {
			e->least = fmin(e->least, v[i]);
			e->most = fmax(e->most, v[i]);
		}
}

static void
points_scales(const struct st_plot_points *p, struct st_axis *a)
{
	struct points_extent x = {INFINITY, -INFINITY}, y = x;
	for (size_t i = 0; i < p->n_series; i++) {
		const struct st_plot_point_series *s = &p->series[i];
		points_extend(&x, s->x, s->n);
		points_extend(&y, s->y, s->n);
		points_extend(&y, s->curve_y, s->n_curve);
	}
	const bool logarithmic = p->logarithmic && x.least > 0 && y.least > 0;
	const unsigned how = logarithmic ? ST_SCALE_LOGARITHMIC : 0;
	st_scale_make(&a->x, x.least, x.most, how | st_axis_steps(p->words.x_unit), a->left,
	              a->right);
	st_scale_make(&a->y, y.least, y.most,
	              how | (y.least >= 0 ? ST_SCALE_ZERO : 0) | st_axis_steps(p->words.y_unit),
	              a->bottom, a->top);
}

/* Clips a value of the band to the plot, because a band may be far wider than the points. */
static double
points_within(const struct st_axis *a, double y)
{
	return fmin(fmax(st_scale_at(&a->y, y), a->top), a->bottom);
}

static void
points_band(const struct st_plot_point_series *s, const char *class, struct st_axis *a)
{
	if (!s->n_curve || !s->curve_low || !isfinite(s->curve_low[0]))
		return;
	st_svg_path_begin(&a->svg, class);
	for (size_t i = 0; i < s->n_curve; i++)
		if (isfinite(s->curve_high[i]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, s->curve_x[i]),
			               points_within(a, s->curve_high[i]));
	for (size_t i = s->n_curve; i-- > 0;)
		if (isfinite(s->curve_low[i]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, s->curve_x[i]),
			               points_within(a, s->curve_low[i]));
	st_svg_path_end(&a->svg, a->svg.points > 0, NULL);
}

static void
points_curve(const struct st_plot_point_series *s, const char *class, struct st_axis *a)
{
	if (!s->n_curve)
		return;
	st_svg_path_begin(&a->svg, class);
	for (size_t i = 0; i < s->n_curve; i++)
		if (isfinite(s->curve_y[i]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, s->curve_x[i]),
			               st_scale_at(&a->y, s->curve_y[i]));
	st_svg_path_end(&a->svg, 0, NULL);
}

static void
points_circles(const struct st_plot_points *p, size_t series, struct st_axis *a)
{
	const struct st_plot_point_series *s = &p->series[series];
	for (size_t i = 0; i < s->n; i++) {
		char x[2 * ST_NUMBER_SIZE], y[2 * ST_NUMBER_SIZE], hint[256];
		if (!isfinite(s->x[i]) || !isfinite(s->y[i]))
			continue;
		snprintf(hint, sizeof hint, "%.150s%s%s: %s", p->n_series > 1 ? s->name : "",
		         p->n_series > 1 ? ", " : "",
		         st_measured_text(x, p->words.x_unit ? p->words.x_unit : "", s->x[i]),
		         st_measured_text(y, p->words.y_unit ? p->words.y_unit : "", s->y[i]));
		st_svg_circle(&a->svg, st_scale_at(&a->x, s->x[i]), st_scale_at(&a->y, s->y[i]), 3,
		              st_svg_series("point", series).text, hint);
	}
}

void
st_plot_points(const struct st_plot_points *p, FILE *out)
{
	struct st_axis a;
	const bool one = p->n_series == 1;
	st_axis_begin(&a, out, &p->words, p->names, one ? 0 : p->n_series);
	points_scales(p, &a);
	st_axis_y(&a, &p->words);
	st_axis_x(&a, &p->words);
	for (size_t i = 0; i < p->n_series; i++)
		points_band(&p->series[i], one ? "band" : st_svg_series("band", i).text, &a);
	for (size_t i = 0; i < p->n_series; i++)
		points_circles(p, i, &a);
	for (size_t i = 0; i < p->n_series; i++)
		points_curve(&p->series[i], one ? "curve" : st_svg_series("line", i).text, &a);
	st_svg_end(&a.svg);
}
