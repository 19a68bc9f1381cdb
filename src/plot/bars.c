/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws bars over named parts, beside each other or stacked. */
#include <math.h>

#include "base/text.h"
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

/* NULL: the spread of the value is unknown. */
static const struct st_plot_value *
bars_spread(const struct st_plot_bars *p, size_t series, size_t part)
{
	return p->spread ? &p->spread[series * p->n_parts + part] : NULL;
}

/* Whether a line shows the spread of each bar. */
static bool
bars_have_lines(const struct st_plot_bars *p)
{
	return p->spread && (!p->stacked || p->n_series == 1);
}

static void
bars_extend(double *least, double *most, double low, double high)
{
	if (!isfinite(low) || !isfinite(high))
		return;
	*least = fmin(*least, low);
	*most = fmax(*most, high);
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
			const struct st_plot_value *spread = bars_spread(p, s, i);
			if (spread && bars_have_lines(p)) {
				bars_extend(&least, &most, spread->low, spread->high);
				bars_extend(&least, &most, spread->least, spread->most);
			}
		}
		least = fmin(least, stack.below);
		most = fmax(most, stack.above);
	}
	st_scale_make(&a->y, least, most, ST_SCALE_ZERO | st_axis_steps(p->words.y_unit), a->bottom,
	              a->top);
}

static void
bars_line(struct st_axis *a, double x, double low, double high, const char *class)
{
	if (isfinite(low) && isfinite(high))
		st_svg_line(&a->svg, x, st_scale_at(&a->y, low), x, st_scale_at(&a->y, high),
		            class);
}

/* Writes the value, its interval and its range:
 * "a, f: 20 ns (95 % interval: 18 ns to 22 ns; values: 15 ns to 30 ns)". */
static void
bars_hint(const struct st_plot_bars *p, size_t series, size_t part, char *hint, size_t size)
{
	char text[2 * ST_NUMBER_SIZE], from[2 * ST_NUMBER_SIZE], to[2 * ST_NUMBER_SIZE];
	const char *unit = p->words.y_unit ? p->words.y_unit : "";
	const struct st_plot_value *spread = bars_spread(p, series, part);
	const bool interval = spread && isfinite(spread->low) && isfinite(spread->high);
	const bool range = spread && isfinite(spread->least) && isfinite(spread->most);
	st_append(hint, size, "%.120s, %.120s: %s", p->parts[part], p->names[series],
	          st_measured_text(text, unit, bars_value(p, series, part)));
	if (interval)
		st_append(hint, size, " (95 %% interval: %s to %s%s",
		          st_measured_text(from, unit, spread->low),
		          st_measured_text(to, unit, spread->high), range ? "" : ")");
	if (range)
		st_append(hint, size, "%svalues: %s to %s)", interval ? "; " : " (",
		          st_measured_text(from, unit, spread->least),
		          st_measured_text(to, unit, spread->most));
}

/* Where a bar is: the pixel at its left and its width, and the values at its ends. */
struct bars_place {
	double x, width, from, to;
};

static void
bars_rectangle(const struct st_plot_bars *p, struct st_axis *a, size_t series, size_t part,
               const struct bars_place *at)
{
	const double y = st_scale_at(&a->y, fmax(at->from, at->to));
	const double height = st_scale_at(&a->y, fmin(at->from, at->to)) - y;
	char hint[512] = "";
	bars_hint(p, series, part, hint, sizeof hint);
	st_svg_rectangle(&a->svg, at->x, y, at->width, height, st_svg_series("bar", series).text,
	                 NULL, hint);
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
	const struct st_plot_value *spread = bars_spread(p, series, part);
	*end = base + v;
	if (v != 0)
		bars_rectangle(p, a, series, part, &(struct bars_place){x, width, base, base + v});
	if (!spread || !bars_have_lines(p))
		return;
	bars_line(a, x + width / 2, spread->least, spread->most, "reach");
	bars_line(a, x + width / 2, spread->low, spread->high, "certain");
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
