/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot/axis.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/measurements.h"
#include "report/text.h"

enum {
	LEFT = 100,
	TOP = 44,
	MARGIN = 24,
	BOTTOM = 64,
	LEGEND = 200,
	LEGEND_LINE = 18,
	NOTE_LINE = 14
};
/* Pixels of a character: of most texts, and of the title, which is larger and bold. */
#define CHARACTER 6.7
#define TITLE_CHARACTER 9.2

unsigned
st_axis_steps(const char *unit)
{
	return unit && !strcmp(unit, "B") ? ST_SCALE_BINARY : 0;
}

void
st_axis_short_text(struct st_svg *s, double x, double y, double width, const char *class,
                   const char *text)
{
	char *copy = st_printable(text);
	if (copy) {
		st_shorten(copy, width < 30 ? 4 : (size_t)(width / CHARACTER));
		st_svg_text(s, x, y, class, copy);
	}
	free(copy);
}

static void
axis_legend(struct st_axis *a, const char *const *names, size_t n)
{
	const double x = a->right + 16;
	const size_t most = (size_t)((a->bottom - a->top) / LEGEND_LINE);
	for (size_t i = 0; i < n && i < most; i++) {
		const double y = a->top + (double)i * LEGEND_LINE;
		if (i + 1 == most && n > most) {
			char more[48];
			snprintf(more, sizeof more, "and %s more", ST_NUMBER(n - i));
			st_svg_text(&a->svg, x, y + 11, "note", more);
			return;
		}
		st_svg_rectangle(&a->svg, x, y + 2, 10, 10, st_svg_series("key", i).text, NULL,
		                 names[i]);
		st_axis_short_text(&a->svg, x + 16, y + 11, LEGEND - 40, "left", names[i]);
	}
}

/* Breaks a text into lines of whole words, each with a zero at its end. Returns their number. */
static size_t
axis_break_lines(char *text, size_t columns)
{
	size_t lines = 1;
	char *line = text, *space = NULL; /* space: the last one that can end the line */
	for (char *end = text;; end++) {
		const char after = *end;
		if (after && after != ' ')
			continue;
		*end = '\0';
		const bool fits = st_columns(line) <= columns;
		*end = after;
		if (!fits && space) {
			*space = '\0';
			line = space + 1;
			lines++;
		}
		if (!after)
			return lines;
		space = end;
	}
}

void
st_axis_picture(struct st_axis *a, FILE *out, double height, const struct st_plot_words *w)
{
	const double space = ST_PLOT_WIDTH - 2 * MARGIN;
	char *note = w->note ? st_printable(w->note) : NULL, *line = note;
	const size_t lines = note ? axis_break_lines(note, (size_t)(space / CHARACTER)) : 0;
	st_svg_begin(&a->svg, out, ST_PLOT_WIDTH,
	             height + (lines > 1 ? (double)(lines - 1) * NOTE_LINE : 0),
	             w->title ? w->title : "");
	if (w->title)
		st_axis_short_text(&a->svg, MARGIN, 26, space * CHARACTER / TITLE_CHARACTER,
		                   "title", w->title);
	for (size_t i = 0; i < lines; i++) {
		st_axis_short_text(&a->svg, MARGIN, height - 8 + (double)i * NOTE_LINE, space,
		                   "note", line);
		line += strlen(line) + 1;
	}
	free(note);
}

void
st_axis_begin(struct st_axis *a, FILE *out, const struct st_plot_words *w, const char *const *names,
              size_t n_names)
{
	*a = (struct st_axis){.left = LEFT,
	                      .top = TOP,
	                      .right = ST_PLOT_WIDTH - (n_names ? LEGEND : MARGIN),
	                      .bottom = ST_PLOT_HEIGHT - BOTTOM};
	st_axis_picture(a, out, ST_PLOT_HEIGHT, w);
	axis_legend(a, names, n_names);
}

void
st_axis_y(struct st_axis *a, const struct st_plot_words *w)
{
	char text[2 * ST_NUMBER_SIZE];
	for (size_t i = 0; i < a->y.n_ticks; i++) {
		const double y = st_scale_at(&a->y, a->y.ticks[i]);
		st_svg_line(&a->svg, a->left, y, a->right, y, "grid");
		st_svg_text(&a->svg, a->left - 8, y + 4, "right",
		            st_measured_text(text, w->y_unit ? w->y_unit : "", a->y.ticks[i]));
	}
	st_svg_line(&a->svg, a->left, a->top, a->left, a->bottom, "axis");
	if (w->y)
		st_svg_text_upwards(&a->svg, 18, (a->top + a->bottom) / 2, "middle", w->y);
}

static void
axis_x_title(struct st_axis *a, const struct st_plot_words *w)
{
	st_svg_line(&a->svg, a->left, a->bottom, a->right, a->bottom, "axis");
	if (w->x)
		st_svg_text(&a->svg, (a->left + a->right) / 2, a->bottom + 38, "middle", w->x);
}

void
st_axis_x(struct st_axis *a, const struct st_plot_words *w)
{
	char text[2 * ST_NUMBER_SIZE];
	for (size_t i = 0; i < a->x.n_ticks; i++) {
		const double x = st_scale_at(&a->x, a->x.ticks[i]);
		st_svg_line(&a->svg, x, a->top, x, a->bottom, "grid");
		st_svg_text(&a->svg, x, a->bottom + 18, "middle",
		            st_measured_text(text, w->x_unit ? w->x_unit : "", a->x.ticks[i]));
	}
	axis_x_title(a, w);
}

double
st_axis_part_width(const struct st_axis *a, size_t n)
{
	return (a->right - a->left) / (double)(n ? n : 1);
}

double
st_axis_part(const struct st_axis *a, size_t i, size_t n)
{
	return a->left + ((double)i + 0.5) * st_axis_part_width(a, n);
}

void
st_axis_x_names(struct st_axis *a, const struct st_plot_words *w, const char *const *names,
                size_t n)
{
	double free_from = 0;
	for (size_t i = 0; i < n; i++) {
		const double x = st_axis_part(a, i, n), half = st_svg_text_width(names[i]) / 2;
		const double width = st_axis_part_width(a, n);
		if (x - half < free_from && 2 * half > width)
			continue;
		st_axis_short_text(&a->svg, x, a->bottom + 18, width > 2 * half ? width : 2 * half,
		                   "middle", names[i]);
		free_from = x + half + 6;
	}
	axis_x_title(a, w);
}
