/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From values to pixels, with ticks at round values. */
#ifndef STROBE_PLOT_SCALE_H
#define STROBE_PLOT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

enum { ST_SCALE_TICKS = 16 };

struct st_scale {
	double low, high; /* values at both ends; of a logarithmic one above 0 */
	double from, to;  /* pixels there */
	bool logarithmic;
	double ticks[ST_SCALE_TICKS];
	size_t n_ticks;
};

enum {
	ST_SCALE_ZERO = 1,        /* 0 belongs to it */
	ST_SCALE_LOGARITHMIC = 2, /* steps of 10; only where all values are above 0 */
	ST_SCALE_BINARY = 4,      /* round values are powers of two, as bytes have them */
	ST_SCALE_WHOLE = 8,       /* only whole numbers */
};

/* Of values from least to most, widened to the ticks around them. */
void st_scale_make(struct st_scale *s, double least, double most, unsigned how, double from,
                   double to);
double st_scale_at(const struct st_scale *s, double value);

#endif
