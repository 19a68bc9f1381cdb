/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws lines or stacked areas over numbers. */
#include <math.h>
#include <stdlib.h>

#include "plot/charts.h"

/* Returns the upper edge of a series at i: its value; if stacked, the sum of its value and those of
 * all series before it. */
static double
flow_edge(const struct st_plot_flow *p, size_t series, size_t i)
{
	double sum = 0;
	if (!p->stacked)
		return p->values[series * p->n + i];
	for (size_t s = 0; s <= series; s++) {
		const double v = p->values[s * p->n + i];
		sum += isfinite(v) ? v : 0;
	}
	return sum;
}

static void
flow_scales(const struct st_plot_flow *p, struct st_axis *a)
{
	double least = INFINITY, most = -INFINITY;
	for (size_t s = 0; s < p->n_series; s++)
		for (size_t i = 0; i < p->n; i++) {
			const double v = flow_edge(p, s, i);
			if (isfinite(v)) {
				least = fmin(least, v);
				most = fmax(most, v);
			}
		}
	st_scale_make(&a->y, least, most, ST_SCALE_ZERO | st_axis_steps(p->words.y_unit), a->bottom,
	              a->top);
	st_scale_make(&a->x, p->n ? p->x[0] : NAN, p->n ? p->x[p->n - 1] : NAN,
	              st_axis_steps(p->words.x_unit), a->left, a->right);
}

static void
flow_area(const struct st_plot_flow *p, struct st_axis *a, size_t series)
{
	st_svg_path_begin(&a->svg, st_svg_series("area", series).text);
	for (size_t i = 0; i < p->n; i++)
		st_svg_path_to(&a->svg, st_scale_at(&a->x, p->x[i]),
		               st_scale_at(&a->y, flow_edge(p, series, i)));
	for (size_t i = p->n; i-- > 0;)
		st_svg_path_to(&a->svg, st_scale_at(&a->x, p->x[i]),
		               st_scale_at(&a->y, series ? flow_edge(p, series - 1, i) : 0));
	st_svg_path_end(&a->svg, 1, p->names[series]);
}

/* An x without a value is left out; the line goes on to the next one. */
static void
flow_line(const struct st_plot_flow *p, struct st_axis *a, size_t series)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++)
		n += isfinite(p->values[series * p->n + i]);
	if (n > 1)
		st_svg_path_begin(&a->svg, st_svg_series("line", series).text);
	for (size_t i = 0; i < p->n; i++) {
		const double v = p->values[series * p->n + i];
		if (!isfinite(v))
			continue;
		if (n > 1)
			st_svg_path_to(&a->svg, st_scale_at(&a->x, p->x[i]), st_scale_at(&a->y, v));
		else
			st_svg_circle(&a->svg, st_scale_at(&a->x, p->x[i]), st_scale_at(&a->y, v),
			              3, st_svg_series("point", series).text, p->names[series]);
	}
	if (n > 1)
		st_svg_path_end(&a->svg, 0, p->names[series]);
}

void
st_plot_flow(const struct st_plot_flow *p, FILE *out)
{
	struct st_axis a;
	st_axis_begin(&a, out, &p->words, p->names, p->n_series > 1 ? p->n_series : 0);
	flow_scales(p, &a);
	st_axis_y(&a, &p->words);
	st_axis_x(&a, &p->words);
	for (size_t s = 0; s < p->n_series; s++)
		if (p->stacked)
			flow_area(p, &a, s);
		else
			flow_line(p, &a, s);
	st_svg_end(&a.svg);
}
