/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the calls of threads over time: a lane for each thread, with a row for each level of
 * nesting, and a rectangle for each call. */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "plot/charts.h"
#include "report/measurements.h"

enum { TIMELINE_NAMES = 130, TIMELINE_ROW = 16, TIMELINE_GAP = 8, TIMELINE_KEY = 20 };
/* A rectangle of less would not be seen. */
#define TIMELINE_LEAST 0.4

/* Colours that a print in grey and colour-blind readers tell apart. */
static const char *const timeline_styles[ST_PLOT_CALL_KINDS] = {
        [ST_PLOT_CALL] = "fill:#8fb8de",
        [ST_PLOT_CALL_MARKED] = "fill:#e67e00",
        [ST_PLOT_CALL_WAITS] = "fill:url(#waits)",
};

static void
timeline_define_hatching(struct st_axis *a)
{
	fputs("<defs><pattern id=\"waits\" width=\"5\" height=\"5\" "
	      "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
	      "<rect width=\"5\" height=\"5\" fill=\"#eee\"/>"
	      "<rect width=\"2\" height=\"5\" fill=\"#888\"/></pattern></defs>\n",
	      a->svg.out);
}

static void
timeline_call(const struct st_plot_timeline *p, struct st_axis *a, const double *tops,
              const struct st_plot_call *call)
{
	char hint[512], begin[ST_NUMBER_SIZE * 2], span[ST_NUMBER_SIZE * 2], calls[64] = "";
	const double from = st_scale_at(&a->x, call->begin), to = st_scale_at(&a->x, call->end);
	if (call->calls > 1)
		snprintf(calls, sizeof calls, "%s calls of ", ST_NUMBER(call->calls));
	snprintf(hint, sizeof hint, "%s%.200s: at %s, %s (%.3f to %.3f us), %.100s", calls,
	         call->name, st_measured_text(begin, "ns", call->begin),
	         st_measured_text(span, "ns", call->end - call->begin), call->begin / 1e3,
	         call->end / 1e3, p->lanes[call->lane].name);
	st_svg_rectangle(&a->svg, from, tops[call->lane] + (double)call->level * TIMELINE_ROW,
	                 fmax(to - from, TIMELINE_LEAST), TIMELINE_ROW - 2, "frame",
	                 timeline_styles[call->kind], hint);
}

static void
timeline_key(const struct st_plot_timeline *p, struct st_axis *a)
{
	double x = a->left;
	const double y = a->bottom + 52;
	for (size_t i = 0; i < ST_PLOT_CALL_KINDS; i++) {
		if (!p->keys[i])
			continue;
		st_svg_rectangle(&a->svg, x, y, 12, 12, "key", timeline_styles[i], NULL);
		const double width = fmin(st_svg_text_width(p->keys[i]), 420);
		st_axis_short_text(&a->svg, x + 18, y + 11, width + 20, "left", p->keys[i]);
		x += width + 46;
	}
}

st_status
st_plot_timeline(const struct st_plot_timeline *p, FILE *out)
{
	struct st_axis a = {.left = TIMELINE_NAMES, .top = 44, .right = ST_PLOT_WIDTH - 24};
	double *tops = calloc(p->n_lanes + 1, sizeof *tops);
	if (!tops)
		return ST_FAILED;
	double at = a.top + TIMELINE_GAP / 2.0;
	for (size_t i = 0; i < p->n_lanes; i++) {
		tops[i] = at;
		at += (double)p->lanes[i].rows * TIMELINE_ROW + TIMELINE_GAP;
	}
	a.bottom = at;
	st_axis_picture(&a, out, a.bottom + 64 + TIMELINE_KEY + 8, &p->words);
	timeline_define_hatching(&a);
	st_scale_make(&a.x, 0, p->end > 0 ? p->end : 1, 0, a.left, a.right);
	st_axis_x(&a, &p->words);
	for (size_t i = 0; i < p->n_lanes; i++) {
		st_axis_short_text(&a.svg, a.left - 8, tops[i] + 11, TIMELINE_NAMES - 16, "right",
		                   p->lanes[i].name);
		st_svg_line(&a.svg, 0, tops[i] - TIMELINE_GAP / 2.0, a.right,
		            tops[i] - TIMELINE_GAP / 2.0, "grid");
	}
	for (size_t i = 0; i < p->n_calls; i++)
		timeline_call(p, &a, tops, &p->calls[i]);
	timeline_key(p, &a);
	st_svg_end(&a.svg);
	free(tops);
	return ST_OK;
}
