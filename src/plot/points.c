/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws points with the curve of their model. */
#include <math.h>

#include "plot/charts.h"
#include "report/measurements.h"

struct points_extent {
	double least, most;
};

static struct points_extent
points_extent_of(const double *a, size_t n, const double *b, size_t m)
{
	struct points_extent e = {INFINITY, -INFINITY};
	for (size_t i = 0; i < n + (b ? m : 0); i++) {
		const double v = i < n || !b ? a[i] : b[i - n];
		if (isfinite(v)) {
			e.least = fmin(e.least, v);
			e.most = fmax(e.most, v);
		}
	}
	return e;
}

static void
points_scales(const struct st_plot_points *p, struct st_axis *a)
{
	const struct points_extent x = points_extent_of(p->x, p->n, NULL, 0);
	const struct points_extent y = points_extent_of(p->y, p->n, p->curve_y, p->n_curve);
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
points_band(const struct st_plot_points *p, struct st_axis *a)
{
	st_svg_path_begin(&a->svg, "band");
	for (size_t i = 0; i < p->n_curve; i++)
		if (isfinite(p->curve_high[i]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, p->curve_x[i]),
			               points_within(a, p->curve_high[i]));
	for (size_t i = p->n_curve; i-- > 0;)
		if (isfinite(p->curve_low[i]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, p->curve_x[i]),
			               points_within(a, p->curve_low[i]));
	st_svg_path_end(&a->svg, a->svg.points > 0, NULL);
}

static void
points_curve(const struct st_plot_points *p, struct st_axis *a)
{
	st_svg_path_begin(&a->svg, "curve");
	for (size_t i = 0; i < p->n_curve; i++)
		if (isfinite(p->curve_y[i]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, p->curve_x[i]),
			               st_scale_at(&a->y, p->curve_y[i]));
	st_svg_path_end(&a->svg, 0, NULL);
}

void
st_plot_points(const struct st_plot_points *p, FILE *out)
{
	struct st_axis a;
	st_axis_begin(&a, out, &p->words, NULL, 0);
	points_scales(p, &a);
	st_axis_y(&a, &p->words);
	st_axis_x(&a, &p->words);
	if (p->n_curve && p->curve_low && isfinite(p->curve_low[0]))
		points_band(p, &a);
	for (size_t i = 0; i < p->n; i++) {
		char x[2 * ST_NUMBER_SIZE], y[2 * ST_NUMBER_SIZE], hint[5 * ST_NUMBER_SIZE];
		if (!isfinite(p->x[i]) || !isfinite(p->y[i]))
			continue;
		snprintf(hint, sizeof hint, "%s: %s",
		         st_measured_text(x, p->words.x_unit ? p->words.x_unit : "", p->x[i]),
		         st_measured_text(y, p->words.y_unit ? p->words.y_unit : "", p->y[i]));
		st_svg_circle(&a.svg, st_scale_at(&a.x, p->x[i]), st_scale_at(&a.y, p->y[i]), 3,
		              "point c0", hint);
	}
	if (p->n_curve)
		points_curve(p, &a);
	st_svg_end(&a.svg);
}
