/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws panels beside each other, with the same axes: points, curves and bands. */
#include <math.h>

#include "plot/charts.h"
#include "report/measurements.h"

enum {
	PANEL_LEFT = 96,
	PANEL_RIGHT = 24,
	PANEL_TOP = 44,
	PANEL_TITLE = 22,
	PANEL_GAP = 68, /* between two panels: the labels of the y axis */
	PANEL_FOOT = 56,
	PANEL_HEIGHT = 250,
	PANEL_TALL = 370, /* if there is one row */
	PANEL_NOTE = 24,
	PANEL_KEY = 22
};

struct panel_extent {
	double x_least, x_most, y_least, y_most;
};

static void
panel_take(double *least, double *most, double value)
{
	if (!isfinite(value))
		return;
	*least = fmin(*least, value);
	*most = fmax(*most, value);
}

static struct panel_extent
panels_extent(const struct st_plot_panels *p)
{
	struct panel_extent e = {INFINITY, -INFINITY, INFINITY, -INFINITY};
	for (size_t i = 0; i < p->n_panels; i++) {
		const struct st_plot_panel *panel = &p->panels[i];
		for (size_t k = 0; k < panel->n; k++) {
			panel_take(&e.x_least, &e.x_most, panel->x[k]);
			panel_take(&e.y_least, &e.y_most, panel->y[k]);
		}
		for (size_t c = 0; c < panel->n_curves; c++)
			for (size_t k = 0; k < panel->curves[c].n; k++) {
				panel_take(&e.x_least, &e.x_most, panel->curves[c].x[k]);
				panel_take(&e.y_least, &e.y_most, panel->curves[c].y[k]);
			}
	}
	return e;
}

static double
panel_within(const struct st_axis *a, double y)
{
	return isfinite(y) ? fmin(fmax(st_scale_at(&a->y, y), a->top), a->bottom) : NAN;
}

static void
panel_band(struct st_axis *a, const struct st_plot_curve *c)
{
	bool any = false;
	for (size_t i = 0; c->low && i < c->n; i++)
		any |= isfinite(c->low[i]) && isfinite(c->high[i]);
	if (!any)
		return;
	st_svg_path_begin(&a->svg, st_svg_series("band", c->colour).text);
	for (size_t i = 0; i < c->n; i++)
		if (isfinite(c->high[i]) && isfinite(c->low[i]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, c->x[i]),
			               panel_within(a, c->high[i]));
	for (size_t i = c->n; i-- > 0;)
		if (isfinite(c->low[i]) && isfinite(c->high[i]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, c->x[i]),
			               panel_within(a, c->low[i]));
	st_svg_path_end(&a->svg, 1, c->hint);
}

static void
panel_curve(struct st_axis *a, const struct st_plot_curve *c)
{
	bool any = false;
	for (size_t i = 0; i < c->n; i++)
		any |= isfinite(c->y[i]);
	if (!any)
		return;
	st_svg_path_begin(&a->svg, st_svg_series("line", c->colour).text);
	for (size_t i = 0; i < c->n; i++) {
		if (!isfinite(c->y[i])) {
			st_svg_path_gap(&a->svg);
			continue;
		}
		if (c->steps && i && isfinite(c->y[i - 1]))
			st_svg_path_to(&a->svg, st_scale_at(&a->x, c->x[i]),
			               st_scale_at(&a->y, c->y[i - 1]));
		st_svg_path_to(&a->svg, st_scale_at(&a->x, c->x[i]), st_scale_at(&a->y, c->y[i]));
	}
	st_svg_path_end(&a->svg, 0, c->hint);
}

static void
panel_points(struct st_axis *a, const struct st_plot_panels *p, const struct st_plot_panel *panel)
{
	for (size_t i = 0; i < panel->n; i++) {
		char x[2 * ST_NUMBER_SIZE], y[2 * ST_NUMBER_SIZE], hint[5 * ST_NUMBER_SIZE];
		if (!isfinite(panel->x[i]) || !isfinite(panel->y[i]))
			continue;
		snprintf(hint, sizeof hint, "%s: %s",
		         st_measured_text(x, p->words.x_unit ? p->words.x_unit : "", panel->x[i]),
		         st_measured_text(y, p->words.y_unit ? p->words.y_unit : "", panel->y[i]));
		st_svg_circle(&a->svg, st_scale_at(&a->x, panel->x[i]),
		              st_scale_at(&a->y, panel->y[i]), 2.5,
		              st_svg_series("point", panel->colour[i]).text, hint);
	}
}

static void
panel_draw(struct st_axis *a, const struct st_plot_panels *p, size_t i, bool first)
{
	const struct st_plot_panel *panel = &p->panels[i];
	struct st_plot_words words = p->words;
	words.y = first ? words.y : NULL;
	if (panel->title)
		st_axis_short_text(&a->svg, a->left, a->top - 8, a->right - a->left, "label left",
		                   panel->title);
	st_axis_y(a, &words);
	st_axis_x(a, &words);
	for (size_t c = 0; c < panel->n_curves; c++)
		panel_band(a, &panel->curves[c]);
	panel_points(a, p, panel);
	for (size_t c = 0; c < panel->n_curves; c++)
		panel_curve(a, &panel->curves[c]);
}

/* The names of the series, in one line. */
static void
panels_key(struct st_axis *a, const struct st_plot_panels *p, double y)
{
	double x = PANEL_LEFT;
	for (size_t i = 0; i < p->n_names; i++) {
		const double width = st_svg_text_width(p->names[i]);
		if (x + width + 40 > ST_PLOT_WIDTH)
			return;
		st_svg_rectangle(&a->svg, x, y - 9, 10, 10, st_svg_series("key", i).text, NULL,
		                 p->names[i]);
		st_svg_text(&a->svg, x + 15, y, "left", p->names[i]);
		x += width + 34;
	}
}

void
st_plot_panels(const struct st_plot_panels *p, FILE *out)
{
	const size_t columns = p->n_panels < 3 ? p->n_panels : 3,
	             rows = columns ? (p->n_panels + columns - 1) / columns : 0;
	const double height = rows > 1 ? PANEL_HEIGHT : PANEL_TALL,
	             space = ST_PLOT_WIDTH - PANEL_LEFT - PANEL_RIGHT,
	             width = (space - (double)(columns - 1) * PANEL_GAP) / (double)columns;
	const struct panel_extent e = panels_extent(p);
	const unsigned logarithmic =
	        p->logarithmic && e.x_least > 0 && e.y_least > 0 ? ST_SCALE_LOGARITHMIC : 0;
	const double row = PANEL_TITLE + height + PANEL_FOOT;
	struct st_axis a = {0};
	st_axis_picture(&a, out,
	                PANEL_TOP + (double)rows * row + (p->n_names ? PANEL_KEY : 0) + PANEL_NOTE,
	                &p->words);
	for (size_t i = 0; i < p->n_panels; i++) {
		const size_t line = i / columns;
		a.left = PANEL_LEFT + (double)(i % columns) * (width + PANEL_GAP);
		a.right = a.left + width;
		a.top = PANEL_TOP + PANEL_TITLE + (double)line * row;
		a.bottom = a.top + height;
		st_scale_make(&a.x, e.x_least, e.x_most,
		              logarithmic | st_axis_steps(p->words.x_unit), a.left, a.right);
		st_scale_make(&a.y, e.y_least, e.y_most,
		              logarithmic | (e.y_least >= 0 ? ST_SCALE_ZERO : 0) |
		                      st_axis_steps(p->words.y_unit),
		              a.bottom, a.top);
		panel_draw(&a, p, i, i % columns == 0);
	}
	panels_key(&a, p, PANEL_TOP + (double)rows * row + 6);
	st_svg_end(&a.svg);
}
