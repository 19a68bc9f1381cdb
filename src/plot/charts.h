/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plots of plain numbers. Each function writes a whole picture into a stream; the caller checks the
 * stream for errors. A value of NAN is left out. */
#ifndef STROBE_PLOT_CHARTS_H
#define STROBE_PLOT_CHARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "plot/axis.h"

/* A value with its spread. NAN: unknown; a middle of NAN: there is no value. */
struct st_plot_value {
	double middle, low, high; /* the value, and its 95 % interval */
	double least, most;       /* of the values that it summarizes */
};

/* Lines over named parts, such as versions: values[series * n_parts + part]. */
struct st_plot_lines {
	struct st_plot_words words;
	const char *const *parts;
	size_t n_parts;
	const char *const *names; /* of the series */
	size_t n_series;
	const struct st_plot_value *values;
};
void st_plot_lines(const struct st_plot_lines *p, FILE *out);

/* The points of a series, with the curve of their model and its band. */
struct st_plot_point_series {
	const char *name;
	const double *x, *y;
	size_t n;
	const double *curve_x, *curve_y, *curve_low, *curve_high; /* of n_curve points */
	size_t n_curve;
};

struct st_plot_points {
	struct st_plot_words words;
	bool logarithmic; /* both axes, if all points are above 0 */
	const struct st_plot_point_series *series;
	size_t n_series; /* several have a legend, and a colour each */
	const char *const *names;
};
void st_plot_points(const struct st_plot_points *p, FILE *out);

/* Panels with points and curves, three in a row. All have the same axes. */
struct st_plot_curve {
	const double *x, *y;
	const double *low, *high; /* the band; NULL, or NAN: none */
	size_t n;
	size_t colour; /* number of a series */
	bool steps;    /* y changes at each x; otherwise lines connect the points */
	const char *hint;
};
struct st_plot_panel {
	const char *title;
	const double *x, *y;
	const size_t *colour; /* of each point */
	size_t n;
	const struct st_plot_curve *curves;
	size_t n_curves;
};
struct st_plot_panels {
	struct st_plot_words words;
	const struct st_plot_panel *panels;
	size_t n_panels;
	const char *const *names; /* of the colours, from the first one on */
	size_t n_names;
	bool logarithmic; /* both axes, if all values are above 0 */
};
void st_plot_panels(const struct st_plot_panels *p, FILE *out);

/* Bars over named parts, beside each other or stacked: values[series * n_parts + part]. */
struct st_plot_bars {
	struct st_plot_words words;
	const char *const *parts;
	size_t n_parts;
	const char *const *names;
	size_t n_series;
	const double *values;
	/* Indexed as values are; NULL: none is known. Lines show it at bars that stand on the axis:
	 * at the end of a bar in a stack they would seem to belong to the whole stack. */
	const struct st_plot_value *spread;
	bool stacked;
};
void st_plot_bars(const struct st_plot_bars *p, FILE *out);

/* Lines, or stacked areas, over numbers that ascend: values[series * n + i]. */
struct st_plot_flow {
	struct st_plot_words words;
	const double *x;
	size_t n;
	const char *const *names;
	size_t n_series;
	const double *values;
	bool stacked;
};
void st_plot_flow(const struct st_plot_flow *p, FILE *out);

/* Cells coloured by their value, a row for each name, the first one at the top; a column ends where
 * the next begins: x has n_columns + 1 numbers. values[row * n_columns + column], NAN: no cell. */
struct st_plot_heat {
	struct st_plot_words words;
	const char *const *rows;
	size_t n_rows;
	const double *x;
	size_t n_columns;
	const double *values;
	const char *unit; /* of the values */
};
void st_plot_heat(const struct st_plot_heat *p, FILE *out);

/* A line for each series through its points, by ascending x: those of the i-th series are
 * points[first[i]] to points[first[i + 1] - 1]. */
struct st_plot_curve_point {
	double x, y, low, high; /* low and high: its interval; NAN: none */
};
struct st_plot_curves {
	struct st_plot_words words;
	const char *const *names;
	size_t n_series;
	const size_t *first; /* n_series + 1 numbers */
	const struct st_plot_curve_point *points;
	double zero; /* the corner of the plot includes it on both axes */
};
void st_plot_curves(const struct st_plot_curves *p, FILE *out);

/* Calls of threads over time. Each lane has rows for the levels of nesting. */
enum st_plot_call_kind {
	ST_PLOT_CALL,
	ST_PLOT_CALL_MARKED, /* of the function that the picture is about */
	ST_PLOT_CALL_WAITS,  /* its thread waits for another one */
	ST_PLOT_CALL_KINDS
};
struct st_plot_lane {
	const char *name;
	size_t rows;
};
struct st_plot_call {
	size_t lane, level;
	double begin, end; /* ns, from 0 on */
	const char *name;
	uint64_t calls; /* more than one: calls that were merged into one rectangle */
	enum st_plot_call_kind kind;
};
struct st_plot_timeline {
	struct st_plot_words words;
	const struct st_plot_lane *lanes;
	size_t n_lanes;
	const struct st_plot_call *calls;
	size_t n_calls;
	double end;                           /* ns; of all calls */
	const char *keys[ST_PLOT_CALL_KINDS]; /* what the colours mean; NULL: not shown */
};
/* -1: memory is exhausted. */
st_status st_plot_timeline(const struct st_plot_timeline *p, FILE *out);

#endif
