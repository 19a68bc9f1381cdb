/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flame graphs: the width of a frame is the value of its function and of all frames below it;
 * callers are above callees. */
#ifndef STROBE_PLOT_FLAME_H
#define STROBE_PLOT_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

enum { ST_FLAME_ROOT = UINT32_MAX };

/* A parent comes before its children. */
struct st_flame_frame {
	const char *name, *image; /* image NULL: unknown; it decides the colour */
	uint32_t parent;          /* ST_FLAME_ROOT: none */
	double own;               /* value of the metric, without the frames below */
	double before;            /* with difference: own in the first profile */
};

struct st_flame {
	const char *title, *metric, *unit;
	const struct st_flame_frame *frames;
	size_t n;
	/* difference: frames are as wide as on the side that has more, and coloured by the change:
	 * red is more, blue is less. shares: values are compared as shares of the total of their
	 * side. */
	bool difference, shares;
};

/* ST_FAILED: memory is exhausted. */
st_status st_plot_flame(const struct st_flame *f, FILE *out);

#endif
