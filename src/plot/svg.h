/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a picture as an SVG file: the few shapes of plots, one after the other, into a stream; the
 * caller checks the stream for errors. Coordinates are in pixels from the upper left corner. A
 * colour is a class of the style sheet at the beginning of the picture, so that a reader can change
 * it in one place.
 */
#ifndef STROBE_PLOT_SVG_H
#define STROBE_PLOT_SVG_H

#include <stddef.h>
#include <stdio.h>

struct st_svg {
	FILE *out;
	double width, height;
	size_t points; /* of the path that is being written */
};

/* The colours of series: classes c0 to c9. */
enum { ST_SVG_COLOURS = 10 };
struct st_svg_class {
	char text[48];
};
/* Returns the class of a shape of the n-th series, "bar c3"; colours repeat after ST_SVG_COLOURS
 * series. */
struct st_svg_class st_svg_series(const char *shape, size_t n);

/* title: describes the picture to readers who cannot see it. */
void st_svg_begin(struct st_svg *s, FILE *out, double width, double height, const char *title);
void st_svg_end(struct st_svg *s);

/* Writes a text; it is escaped, and control characters are replaced. class: "left", "middle" or
 * "right" say which part of the text is at x; "title" and "note" begin at x. */
void st_svg_text(struct st_svg *s, double x, double y, const char *class, const char *text);
/* Writes a text that reads upwards. */
void st_svg_text_upwards(struct st_svg *s, double x, double y, const char *class, const char *text);
void st_svg_line(struct st_svg *s, double x1, double y1, double x2, double y2, const char *class);
/* hint: the text at the pointer; NULL: none. style: further CSS, "fill:#123456"; NULL: none. */
void st_svg_rectangle(struct st_svg *s, double x, double y, double width, double height,
                      const char *class, const char *style, const char *hint);
void st_svg_circle(struct st_svg *s, double x, double y, double radius, const char *class,
                   const char *hint);
/* Draws a line through points, or, if closed, an area. */
void st_svg_path_begin(struct st_svg *s, const char *class);
void st_svg_path_begin_styled(struct st_svg *s, const char *class, const char *style);
void st_svg_path_to(struct st_svg *s, double x, double y);
/* Interrupts the line: the next point begins another part of the path. */
void st_svg_path_gap(struct st_svg *s);
/* Continues to x, y along a cubic curve with two control points. */
void st_svg_path_curve(struct st_svg *s, double x1, double y1, double x2, double y2, double x,
                       double y);
void st_svg_path_end(struct st_svg *s, int closed, const char *hint);

/* Estimates the width of a text in pixels, in the plots' size of letters. */
double st_svg_text_width(const char *text);

#endif
