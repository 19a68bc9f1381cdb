/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A picture as an SVG file: the few shapes that plots are made of, written one after the other into
 * a stream that may be full; the caller looks at it. Coordinates are in pixels from the upper left
 * corner. A colour is a class of the style sheet that the picture begins with, so that it can be
 * changed in one place.
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
/* The class of the n-th series' shapes, with another one before it; colours come again after
 * ST_SVG_COLOURS of them. */
struct st_svg_class st_svg_series(const char *shape, size_t n);

/* title: what the picture shows, for readers that cannot see it. */
void st_svg_begin(struct st_svg *s, FILE *out, double width, double height, const char *title);
void st_svg_end(struct st_svg *s);

/* Text is escaped, and control characters are taken out. class: "left", "middle" or "right" say
 * where x is; "title" and "note" are others. */
void st_svg_text(struct st_svg *s, double x, double y, const char *class, const char *text);
/* The same, upwards. */
void st_svg_text_upwards(struct st_svg *s, double x, double y, const char *class, const char *text);
void st_svg_line(struct st_svg *s, double x1, double y1, double x2, double y2, const char *class);
/* hint: what is shown at the pointer; NULL: nothing. style: further CSS, "fill:#123456"; or NULL.
 */
void st_svg_rectangle(struct st_svg *s, double x, double y, double width, double height,
                      const char *class, const char *style, const char *hint);
void st_svg_circle(struct st_svg *s, double x, double y, double radius, const char *class,
                   const char *hint);
/* A line through points, or, closed, an area. */
void st_svg_path_begin(struct st_svg *s, const char *class);
void st_svg_path_to(struct st_svg *s, double x, double y);
/* From here on another part of the path begins. */
void st_svg_path_gap(struct st_svg *s);
void st_svg_path_end(struct st_svg *s, int closed, const char *hint);

/* About how wide a text of the plots' size is. */
double st_svg_text_width(const char *text);

#endif
