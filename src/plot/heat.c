/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws cells coloured by their value. */
#include <math.h>

#include "plot/charts.h"
#include "report/measurements.h"

enum { HEAT_NAMES = 230, HEAT_ROW = 22, HEAT_KEY = 40 };

/* Greater values are darker, so that a print in grey shows the same. */
static void
heat_colour(char *style, size_t size, double share)
{
	static const double stops[][3] = {
	        {255, 250, 205}, {253, 174, 97}, {215, 48, 39}, {80, 0, 60}};
	enum { LAST = sizeof stops / sizeof *stops - 1 };
	const double at = fmin(fmax(share, 0), 1) * LAST;
	const size_t from = at >= LAST ? LAST - 1 : (size_t)at;
	const double part = at - (double)from;
	int colour[3];
	for (size_t i = 0; i < 3; i++)
		colour[i] = (int)lround(stops[from][i] * (1 - part) + stops[from + 1][i] * part);
	snprintf(style, size, "fill:#%02x%02x%02x", colour[0], colour[1], colour[2]);
}

static void
heat_row(const struct st_plot_heat *p, struct st_axis *a, size_t row, double most)
{
	const double y = a->top + (double)row * HEAT_ROW;
	for (size_t i = 0, next; i < p->n_columns; i = next) {
		const double v = p->values[row * p->n_columns + i];
		char style[32], hint[512], text[2 * ST_NUMBER_SIZE], x[2 * ST_NUMBER_SIZE];
		for (next = i + 1;
		     next < p->n_columns && p->values[row * p->n_columns + next] == v;)
			next++;
		if (!isfinite(v) || v == 0)
			continue;
		const double left = st_scale_at(&a->x, p->x[i]);
		heat_colour(style, sizeof style, most > 0 ? v / most : 0);
		snprintf(hint, sizeof hint, "%.200s, from %s: %s", p->rows[row],
		         st_measured_text(x, p->words.x_unit ? p->words.x_unit : "", p->x[i]),
		         st_measured_text(text, p->unit ? p->unit : "", v));
		st_svg_rectangle(&a->svg, left, y, st_scale_at(&a->x, p->x[next]) - left,
		                 HEAT_ROW - 1, "cell", style, hint);
	}
}

/* Draws the scale of colours below the cells. */
static void
heat_key(const struct st_plot_heat *p, struct st_axis *a, double most)
{
	enum { STEPS = 32, STEP = 5 };
	const double y = a->bottom + 44, x = a->left + 60;
	char style[32], text[2 * ST_NUMBER_SIZE];
	st_svg_text(&a->svg, x - 8, y + 10, "right",
	            st_measured_text(text, p->unit ? p->unit : "", 0));
	for (size_t i = 0; i < STEPS; i++) {
		heat_colour(style, sizeof style, (double)i / (STEPS - 1));
		st_svg_rectangle(&a->svg, x + (double)i * STEP, y, STEP, 12, "key", style, NULL);
	}
	st_svg_text(&a->svg, x + STEPS * STEP + 8, y + 10, "left",
	            st_measured_text(text, p->unit ? p->unit : "", most));
}

void
st_plot_heat(const struct st_plot_heat *p, FILE *out)
{
	double most = 0;
	for (size_t i = 0; i < p->n_rows * p->n_columns; i++)
		if (isfinite(p->values[i]))
			most = fmax(most, p->values[i]);
	struct st_axis a = {.left = HEAT_NAMES, .top = 44, .right = ST_PLOT_WIDTH - 24};
	a.bottom = a.top + (double)p->n_rows * HEAT_ROW;
	st_axis_picture(&a, out, a.bottom + 64 + HEAT_KEY, &p->words);
	st_scale_make(&a.x, p->x[0], p->x[p->n_columns], st_axis_steps(p->words.x_unit), a.left,
	              a.right);
	st_axis_x(&a, &p->words);
	for (size_t i = 0; i < p->n_rows; i++) {
		st_axis_short_text(&a.svg, a.left - 8, a.top + (double)i * HEAT_ROW + 15,
		                   HEAT_NAMES - 16, "right", p->rows[i]);
		heat_row(p, &a, i, most);
	}
	heat_key(p, &a, most);
	st_svg_end(&a.svg);
}
