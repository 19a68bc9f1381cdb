/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws lines over named parts, each value with its interval and its range. */
#include <math.h>

#include "plot/charts.h"
#include "report/measurements.h"

static void
extent_add(double *least, double *most, double value)
{
	if (!isfinite(value))
		return;
	*least = fmin(*least, value);
	*most = fmax(*most, value);
}

static void
lines_scale(const struct st_plot_lines *p, struct st_axis *a)
{
	double least = INFINITY, most = -INFINITY;
	for (size_t i = 0; i < p->n_series * p->n_parts; i++) {
		const struct st_plot_value *v = &p->values[i];
		extent_add(&least, &most, v->middle);
		extent_add(&least, &most, v->low);
		extent_add(&least, &most, v->high);
		extent_add(&least, &most, v->least);
		extent_add(&least, &most, v->most);
	}
	/* Without this, a change of one percent would fill the height of the plot. */
	const unsigned zero = least > 0 && least > most / 2 ? 0 : ST_SCALE_ZERO;
	if (!zero && most - least < most / 50) {
		least *= 0.98;
		most *= 1.02;
	}
	st_scale_make(&a->y, least, most, zero | st_axis_steps(p->words.y_unit), a->bottom, a->top);
}

/* Series are drawn beside each other, so that their intervals do not overlap. */
static double
lines_x(const struct st_plot_lines *p, const struct st_axis *a, size_t series, size_t part)
{
	const double width = st_axis_part_width(a, p->n_parts) * 0.6;
	const double shift = p->n_series > 1 ? (double)series / (double)(p->n_series - 1) - 0.5 : 0;
	return st_axis_part(a, part, p->n_parts) + shift * fmin(width, 24);
}

static void
lines_value(const struct st_plot_lines *p, struct st_axis *a, size_t series, size_t part)
{
	const struct st_plot_value *v = &p->values[series * p->n_parts + part];
	const double x = lines_x(p, a, series, part);
	char middle[2 * ST_NUMBER_SIZE], low[2 * ST_NUMBER_SIZE], high[2 * ST_NUMBER_SIZE];
	char hint[512];
	const char *unit = p->words.y_unit ? p->words.y_unit : "";
	if (!isfinite(v->middle))
		return;
	if (isfinite(v->least) && isfinite(v->most))
		st_svg_line(&a->svg, x, st_scale_at(&a->y, v->least), x,
		            st_scale_at(&a->y, v->most), st_svg_series("range", series).text);
	if (isfinite(v->low) && isfinite(v->high))
		st_svg_line(&a->svg, x, st_scale_at(&a->y, v->low), x, st_scale_at(&a->y, v->high),
		            st_svg_series("interval", series).text);
	int n = snprintf(hint, sizeof hint, "%.120s, %.120s: %s", p->parts[part], p->names[series],
	                 st_measured_text(middle, unit, v->middle));
	if (isfinite(v->low) && isfinite(v->high))
		snprintf(hint + n, sizeof hint - (size_t)n, " (%s to %s)",
		         st_measured_text(low, unit, v->low),
		         st_measured_text(high, unit, v->high));
	st_svg_circle(&a->svg, x, st_scale_at(&a->y, v->middle), 3.5,
	              st_svg_series("point", series).text, hint);
}

/* Connects neighbours; a part without a value interrupts the line. */
static void
lines_between(const struct st_plot_lines *p, struct st_axis *a, size_t series)
{
	bool any = false;
	for (size_t i = 1; i < p->n_parts && !any; i++)
		any = isfinite(p->values[series * p->n_parts + i].middle) &&
		      isfinite(p->values[series * p->n_parts + i - 1].middle);
	if (!any)
		return;
	st_svg_path_begin(&a->svg, st_svg_series("line", series).text);
	for (size_t i = 0; i < p->n_parts; i++) {
		const double value = p->values[series * p->n_parts + i].middle;
		if (isfinite(value))
			st_svg_path_to(&a->svg, lines_x(p, a, series, i),
			               st_scale_at(&a->y, value));
		else
			st_svg_path_gap(&a->svg);
	}
	st_svg_path_end(&a->svg, 0, NULL);
}

void
st_plot_lines(const struct st_plot_lines *p, FILE *out)
{
	struct st_axis a;
	st_axis_begin(&a, out, &p->words, p->names, p->n_series > 1 ? p->n_series : 0);
	lines_scale(p, &a);
	st_axis_y(&a, &p->words);
	st_axis_x_names(&a, &p->words, p->parts, p->n_parts);
	for (size_t s = 0; s < p->n_series; s++)
		lines_between(p, &a, s);
	for (size_t s = 0; s < p->n_series; s++)
		for (size_t i = 0; i < p->n_parts; i++)
			lines_value(p, &a, s, i);
	st_svg_end(&a.svg);
}
