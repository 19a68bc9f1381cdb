/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a line for each series through its points, and the intervals of the points. */
#include <math.h>
#include <stdio.h>

#include "plot/charts.h"

static void
curves_scales(const struct st_plot_curves *p, struct st_axis *a)
{
	double x[] = {p->zero, p->zero}, y[] = {p->zero, p->zero};
	for (size_t i = 0; i < p->first[p->n_series]; i++) {
		const struct st_plot_curve_point *at = &p->points[i];
		x[0] = fmin(x[0], at->x);
		x[1] = fmax(x[1], at->x);
		/* A value of NAN is none: fmin and fmax leave it out. */
		y[0] = fmin(y[0], fmin(at->y, at->low));
		y[1] = fmax(y[1], fmax(at->y, at->high));
	}
	st_scale_make(&a->x, x[0], x[1], 0, a->left, a->right);
	st_scale_make(&a->y, y[0], y[1], 0, a->bottom, a->top);
}

static void
curves_series(const struct st_plot_curves *p, struct st_axis *a, size_t series)
{
	const size_t from = p->first[series], to = p->first[series + 1];
	char hint[256];
	if (to - from > 1) {
		st_svg_path_begin(&a->svg, st_svg_series("line", series).text);
		for (size_t i = from; i < to; i++)
			st_svg_path_to(&a->svg, st_scale_at(&a->x, p->points[i].x),
			               st_scale_at(&a->y, p->points[i].y));
		st_svg_path_end(&a->svg, 0, p->names[series]);
	}
	for (size_t i = from; i < to; i++) {
		const struct st_plot_curve_point *at = &p->points[i];
		const double x = st_scale_at(&a->x, at->x);
		if (!isnan(at->low) && !isnan(at->high))
			st_svg_line(&a->svg, x, st_scale_at(&a->y, at->low), x,
			            st_scale_at(&a->y, at->high),
			            st_svg_series("line", series).text);
		snprintf(hint, sizeof hint, "%.200s: %.4g, %.4g", p->names[series], at->x, at->y);
		st_svg_circle(&a->svg, x, st_scale_at(&a->y, at->y), 3,
		              st_svg_series("point", series).text, hint);
	}
}

void
st_plot_curves(const struct st_plot_curves *p, FILE *out)
{
	struct st_axis a;
	st_axis_begin(&a, out, &p->words, p->names, p->n_series);
	curves_scales(p, &a);
	st_axis_y(&a, &p->words);
	st_axis_x(&a, &p->words);
	for (size_t s = 0; s < p->n_series; s++)
		curves_series(p, &a, s);
	st_svg_end(&a.svg);
}
