/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame of a plot: its title, its axes with their ticks, the names of its series. */
#ifndef STROBE_PLOT_AXIS_H
#define STROBE_PLOT_AXIS_H

#include "plot/scale.h"
#include "plot/svg.h"

/* What stands around the points. Texts may be NULL: nothing stands there. */
struct st_plot_words {
	const char *title;
	const char *x, *y;           /* what the axes have */
	const char *x_unit, *y_unit; /* "ns", "B"; "" or NULL: none */
	const char *note;            /* a sentence below: the model, or what is left out */
};

enum { ST_PLOT_WIDTH = 900, ST_PLOT_HEIGHT = 480 };

struct st_axis {
	struct st_svg svg;
	double left, top, right, bottom; /* of the area of the points */
	struct st_scale x, y;
};

/* The steps in which a unit is round: a flag of scales. */
unsigned st_axis_steps(const char *unit);

/* Begins the picture: size, title, note. names: of series, for which there is space at the right;
 * n_names 0: there is none. */
void st_axis_begin(struct st_axis *a, FILE *out, const struct st_plot_words *w,
                   const char *const *names, size_t n_names);
/* The title and the note alone, of a picture that has begun. */
void st_axis_titles(struct st_axis *a, const struct st_plot_words *w);
/* A text of at most that many pixels. */
void st_axis_short_text(struct st_svg *s, double x, double y, double width, const char *class,
                        const char *text);
/* Draws the axes by the scales, which begin and end where a has its area. */
void st_axis_y(struct st_axis *a, const struct st_plot_words *w);
void st_axis_x(struct st_axis *a, const struct st_plot_words *w);
/* An x axis of n names, each at the middle of its part; `at` says where that is. Names that have no
 * space are left out. */
void st_axis_x_names(struct st_axis *a, const struct st_plot_words *w, const char *const *names,
                     size_t n);
/* The middle of the i-th of n parts of the x axis, and how wide a part is. */
double st_axis_part(const struct st_axis *a, size_t i, size_t n);
double st_axis_part_width(const struct st_axis *a, size_t n);

#endif
