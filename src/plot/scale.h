/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts values to pixels, with ticks at round values. */
#ifndef STROBE_PLOT_SCALE_H
#define STROBE_PLOT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

enum { ST_SCALE_TICKS = 16 };

struct st_scale {
	double low, high; /* values at both ends; above 0 if logarithmic */
	double from, to;  /* pixels at both ends */
	bool logarithmic;
	double ticks[ST_SCALE_TICKS];
	size_t n_ticks;
};

enum {
	ST_SCALE_ZERO = 1,        /* the scale includes 0 */
	ST_SCALE_LOGARITHMIC = 2, /* powers of 10; ignored unless all values are above 0 */
	ST_SCALE_BINARY = 4,      /* ticks at multiples of a power of two, for bytes */
};

/* Makes the scale of values from least to most, widened to the ticks around them. */
void st_scale_make(struct st_scale *s, double least, double most, unsigned how, double from,
                   double to);
double st_scale_at(const struct st_scale *s, double value);

#endif
