/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plot/flame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/svg.h"
#include "report/measurements.h"

enum { FLAME_WIDTH = 1200, FLAME_LINE = 18, FLAME_TOP = 56, FLAME_MARGIN = 10 };
/* Frames that are narrower (in pixels) or deeper (in callers) are not drawn. */
#define FLAME_LEAST 0.3
enum { FLAME_DEEPEST = 400 };

/* The position and the sums of a frame. */
struct flame_place {
	double now, before; /* with all frames below it */
	double width;       /* in units of the metric */
	double left, pixels;
	uint32_t depth;
	bool drawn;
};

struct flame_drawing {
	const struct st_flame *f;
	struct flame_place *places;
	uint32_t *order; /* of frames: by parent, then by name */
	double now, before, width;
	double scale_before; /* with shares, scales the first side's total to that of the second;
	                        else 1 */
	size_t left_out;
	uint32_t deepest;
	struct st_svg svg;
};

static int
flame_order(const void *a, const void *b, void *of)
{
	const struct st_flame_frame *frames = of;
	const struct st_flame_frame *x = &frames[*(const uint32_t *)a],
	                            *y = &frames[*(const uint32_t *)b];
	if (x->parent != y->parent)
		return x->parent == ST_FLAME_ROOT   ? -1
		       : y->parent == ST_FLAME_ROOT ? 1
		       : x->parent < y->parent      ? -1
		                                    : 1;
	const int names = strcmp(x->name, y->name);
	return names ? names : (x > y) - (x < y);
}

/* Adds each frame to its parent, from the leaves up: children come after their parents. */
static void
flame_sum(struct flame_drawing *d)
{
	const struct st_flame *f = d->f;
	for (size_t i = f->n; i-- > 0;) {
		struct flame_place *p = &d->places[i];
		p->now += f->frames[i].own;
		p->before += f->frames[i].before;
		if (f->frames[i].parent != ST_FLAME_ROOT) {
			d->places[f->frames[i].parent].now += p->now;
			d->places[f->frames[i].parent].before += p->before;
		} else {
			d->now += p->now;
			d->before += p->before;
		}
	}
}

static void
flame_widen(struct flame_drawing *d)
{
	const struct st_flame *f = d->f;
	d->scale_before = f->shares && d->before > 0 && d->now > 0 ? d->now / d->before : 1;
	for (size_t i = f->n; i-- > 0;) {
		struct flame_place *p = &d->places[i];
		const double before = f->difference ? p->before * d->scale_before : 0;
		p->width = fmax(p->width, fmax(p->now, before));
		if (f->frames[i].parent != ST_FLAME_ROOT)
			d->places[f->frames[i].parent].width += p->width;
		else
			d->width += p->width;
	}
}

/* Places frames from the roots down; roots come first in the order. next: of each frame, the left
 * edge of its next child. */
static void
flame_place_all(struct flame_drawing *d, double *next)
{
	const struct st_flame *f = d->f;
	const double scale = d->width > 0 ? (FLAME_WIDTH - 2 * FLAME_MARGIN) / d->width : 0;
	double roots = FLAME_MARGIN;
	for (size_t k = 0; k < f->n; k++) {
		const uint32_t i = d->order[k], parent = f->frames[i].parent;
		struct flame_place *p = &d->places[i];
		double *left = parent == ST_FLAME_ROOT ? &roots : &next[parent];
		p->left = next[i] = *left;
		p->pixels = p->width * scale;
		p->depth = parent == ST_FLAME_ROOT ? 1 : d->places[parent].depth + 1;
		p->drawn = p->pixels >= FLAME_LEAST && p->depth <= FLAME_DEEPEST &&
		           (parent == ST_FLAME_ROOT || d->places[parent].drawn);
		*left += p->pixels;
		d->left_out += !p->drawn && p->width > 0;
		if (p->drawn && p->depth > d->deepest)
			d->deepest = p->depth;
	}
}

/* Functions of one image have one hue; saturation and lightness differ by name. */
static void
flame_colour(char *style, size_t size, const struct st_flame_frame *frame)
{
	uint32_t image = 2166136261u, name = 2166136261u;
	for (const char *p = frame->image ? frame->image : ""; *p; p++)
		image = (image ^ (uint8_t)*p) * 16777619u;
	for (const char *p = frame->name; *p; p++)
		name = (name ^ (uint8_t)*p) * 16777619u;
	snprintf(style, size, "fill:hsl(%u,%u%%,%u%%)", frame->image ? image % 360 : 40,
	         55 + name % 20, 68 + name / 32 % 12);
}

/* change: -1 (blue: nothing is left) to 1 (red: all is new); 0 is grey. */
static void
flame_change_colour(char *style, size_t size, double change)
{
	const double part = fmin(fmax(change, -1), 1);
	const int light = 90 - (int)lround(40 * fabs(part));
	if (fabs(part) < 0.005)
		snprintf(style, size, "fill:#e4e4e4");
	else
		snprintf(style, size, "fill:hsl(%d,75%%,%d%%)", part > 0 ? 8 : 215, light);
}

static void
flame_hint(const struct flame_drawing *d, const char *name, double now, double before, char *hint,
           size_t size)
{
	char a[2 * ST_NUMBER_SIZE], b[2 * ST_NUMBER_SIZE];
	const char *unit = d->f->unit ? d->f->unit : "";
	if (!d->f->difference)
		snprintf(hint, size, "%.600s: %s, %.2f %%", name, st_measured_text(b, unit, now),
		         d->now > 0 ? 100 * now / d->now : 0);
	else
		snprintf(hint, size, "%.600s: %s before, %s now; %.2f %%, %.2f %%", name,
		         st_measured_text(a, unit, before), st_measured_text(b, unit, now),
		         d->before > 0 ? 100 * before / d->before : 0,
		         d->now > 0 ? 100 * now / d->now : 0);
}

static void
flame_draw(struct flame_drawing *d, const struct st_flame_frame *frame, const char *name,
           const struct flame_place *p)
{
	const double y = FLAME_TOP + (double)p->depth * FLAME_LINE;
	const double before = p->before * d->scale_before, wide = fmax(p->now, before);
	char style[48], hint[1024];
	if (d->f->difference)
		flame_change_colour(style, sizeof style, wide > 0 ? (p->now - before) / wide : 0);
	else
		flame_colour(style, sizeof style, frame);
	flame_hint(d, name, p->now, p->before, hint, sizeof hint);
	st_svg_rectangle(&d->svg, p->left, y, p->pixels, FLAME_LINE, "frame", style, hint);
	const size_t columns = (size_t)(p->pixels / 6.2);
	char *label = columns >= 4 ? st_printable(name) : NULL;
	if (label) {
		st_shorten(label, columns);
		st_svg_text(&d->svg, p->left + 3, y + 13, "label", label);
	}
	free(label);
}

static void
flame_write(struct flame_drawing *d, FILE *out)
{
	const struct st_flame *f = d->f;
	const double height = FLAME_TOP + (double)(d->deepest + 1) * FLAME_LINE + 34;
	char note[256] = "";
	st_svg_begin(&d->svg, out, FLAME_WIDTH, height, f->title);
	st_svg_text(&d->svg, FLAME_MARGIN, 24, "title", f->title);
	snprintf(note, sizeof note, "Width: %.60s.%s", f->metric,
	         f->difference ? " Red: more than before; blue: less; as wide as on the side that "
	                         "has more."
	                       : "");
	st_svg_text(&d->svg, FLAME_MARGIN, 44, "note", note);
	const struct st_flame_frame all = {.name = "all"};
	flame_draw(d, &all, "all",
	           &(struct flame_place){.now = d->now,
	                                 .before = d->before,
	                                 .left = FLAME_MARGIN,
	                                 .pixels = FLAME_WIDTH - 2 * FLAME_MARGIN});
	for (size_t k = 0; k < f->n; k++) {
		const uint32_t i = d->order[k];
		if (d->places[i].drawn)
			flame_draw(d, &f->frames[i], f->frames[i].name, &d->places[i]);
	}
	if (d->left_out) {
		snprintf(note, sizeof note, "%s too narrow or too deep to be drawn.",
		         ST_COUNT(d->left_out, "frame is", "frames are"));
		st_svg_text(&d->svg, FLAME_MARGIN, height - 10, "note", note);
	}
	st_svg_end(&d->svg);
}

st_status
st_plot_flame(const struct st_flame *f, FILE *out)
{
	struct flame_drawing d = {.f = f,
	                          .places = calloc(f->n + 1, sizeof *d.places),
	                          .order = calloc(f->n + 1, sizeof *d.order)};
	double *next = calloc(f->n + 1, sizeof *next);
	const st_status status = d.places && d.order && next ? ST_OK : ST_FAILED;
	if (!status) {
		for (size_t i = 0; i < f->n; i++)
			d.order[i] = (uint32_t)i;
		qsort_r(d.order, f->n, sizeof *d.order, flame_order, (void *)(uintptr_t)f->frames);
		flame_sum(&d);
		flame_widen(&d);
		flame_place_all(&d, next);
		flame_write(&d, out);
	}
	free(next);
	free(d.places);
	free(d.order);
	return status;
}
