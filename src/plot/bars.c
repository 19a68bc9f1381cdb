/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws bars over named parts, beside each other or stacked. */
#include <math.h>

#include "plot/charts.h"
#include "report/measurements.h"

/* The ends of the stacks of a part, above and below 0. */
struct bars_stack {
	double above, below;
};

static double
bars_value(const struct st_plot_bars *p, size_t series, size_t part)
{
	const double v = p->values[series * p->n_parts + part];
	return isfinite(v) ? v : 0;
}

static void
bars_scale(const struct st_plot_bars *p, struct st_axis *a)
{
	double least = 0, most = 0;
	for (size_t i = 0; i < p->n_parts; i++) {
		struct bars_stack stack = {0, 0};
		for (size_t s = 0; s < p->n_series; s++) {
			const double v = bars_value(p, s, i);
			stack.above = p->stacked ? stack.above + fmax(v, 0) : fmax(stack.above, v);
			stack.below = p->stacked ? stack.below + fmin(v, 0) : fmin(stack.below, v);
		}
		least = fmin(least, stack.below);
		most = fmax(most, stack.above);
	}
	st_scale_make(&a->y, least, most, ST_SCALE_ZERO | st_axis_steps(p->words.y_unit), a->bottom,
	              a->top);
}

static void
bars_draw(const struct st_plot_bars *p, struct st_axis *a, size_t series, size_t part,
          struct bars_stack *stack)
{
	const double v = bars_value(p, series, part);
	const double all = st_axis_part_width(a, p->n_parts) * 0.8;
	const double width = p->stacked ? all : all / (double)p->n_series;
	const double x = st_axis_part(a, part, p->n_parts) - all / 2 +
	                 (p->stacked ? 0 : width * (double)series);
	double *end = v < 0 ? &stack->below : &stack->above;
	const double base = p->stacked ? *end : 0;
	char hint[512], text[2 * ST_NUMBER_SIZE];
	*end = base + v;
	if (v == 0)
		return;
	const double y = st_scale_at(&a->y, fmax(base, base + v));
	snprintf(hint, sizeof hint, "%.120s, %.120s: %s", p->parts[part], p->names[series],
	         st_measured_text(text, p->words.y_unit ? p->words.y_unit : "", v));
	st_svg_rectangle(&a->svg, x, y, width, st_scale_at(&a->y, fmin(base, base + v)) - y,
	                 st_svg_series("bar", series).text, NULL, hint);
}

void
st_plot_bars(const struct st_plot_bars *p, FILE *out)
{
	struct st_axis a;
	st_axis_begin(&a, out, &p->words, p->names, p->n_series > 1 ? p->n_series : 0);
	bars_scale(p, &a);
	st_axis_y(&a, &p->words);
	for (size_t i = 0; i < p->n_parts; i++) {
		struct bars_stack stack = {0, 0};
		for (size_t s = 0; s < p->n_series; s++)
			bars_draw(p, &a, s, i, &stack);
	}
	st_axis_x_names(&a, &p->words, p->parts, p->n_parts);
	st_svg_end(&a.svg);
}
