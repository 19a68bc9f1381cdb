/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the frame of a plot: its title, its axes with their ticks, and the names of its series. */
#ifndef STROBE_PLOT_AXIS_H
#define STROBE_PLOT_AXIS_H

#include "plot/scale.h"
#include "plot/svg.h"

/* The texts around a plot. NULL: the text is left out. */
struct st_plot_words {
	const char *title;
	const char *x, *y;           /* titles of the axes */
	const char *x_unit, *y_unit; /* "ns", "B"; "" or NULL: none */
	const char *note;            /* sentences below the plot */
};

enum { ST_PLOT_WIDTH = 900, ST_PLOT_HEIGHT = 480 };

struct st_axis {
	struct st_svg svg;
	double left, top, right, bottom; /* pixels; the area of the points */
	struct st_scale x, y;
};

/* Returns the flag of scales for the round values of a unit. */
unsigned st_axis_steps(const char *unit);

/* Begins the picture: writes its size, title and note, and the names of its series at the right.
 * n_names 0: the plot takes that space, too. */
void st_axis_begin(struct st_axis *a, FILE *out, const struct st_plot_words *w,
                   const char *const *names, size_t n_names);
/* Begins a picture of that height: writes its size, title and note. A note of several lines makes
 * the picture higher. */
void st_axis_picture(struct st_axis *a, FILE *out, double height, const struct st_plot_words *w);
/* Writes a text, shortened to the width in pixels. */
void st_axis_short_text(struct st_svg *s, double x, double y, double width, const char *class,
                        const char *text);
/* Draw the axes. The scales have to be made before, from and to the edges of the area. */
void st_axis_y(struct st_axis *a, const struct st_plot_words *w);
void st_axis_x(struct st_axis *a, const struct st_plot_words *w);
/* Draws an x axis of n names, each at st_axis_part. Names that have no space are left out. */
void st_axis_x_names(struct st_axis *a, const struct st_plot_words *w, const char *const *names,
                     size_t n);
/* Return the middle of the i-th of n parts of the x axis, and the width of a part, in pixels. */
double st_axis_part(const struct st_axis *a, size_t i, size_t n);
double st_axis_part_width(const struct st_axis *a, size_t n);

#endif
