/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flame graphs: frames as wide as what they and all below them have, callers above callees. */
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
	double own;               /* of the metric, without what is below */
	double before;            /* of a difference: the same of the first side */
};

struct st_flame {
	const char *title, *metric, *unit;
	const struct st_flame_frame *frames;
	size_t n;
	/* Of a difference frames are as wide as on the side that has more, and coloured by the
	 * change: red is more, blue is less. shares: of what each side has as a whole. */
	bool difference, shares;
};

/* ST_FAILED: memory is exhausted. */
st_status st_plot_flame(const struct st_flame *f, FILE *out);

#endif
