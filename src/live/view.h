/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live view as lines of text. */
#ifndef STROBE_LIVE_VIEW_H
#define STROBE_LIVE_VIEW_H

#include <stdio.h>

#include "live/counts.h"

struct st_live_look {
	const char *command;  /* of strobe's */
	const char *what;     /* is measured */
	const char *keys;     /* what they do; NULL: there are none */
	size_t width, height; /* at most this many columns and lines */
	bool colour;
	bool only_places;         /* there are no contexts */
	bool of_all;              /* the hottest of all, not since the look before */
	double elapsed, interval; /* seconds: since the beginning; since the look before */
	double tsc_hz;
	unsigned files; /* that may be opened for names */
};

/* Lines, each with its end. False: some names will be known only next time. */
bool st_live_view(struct st_live *l, const struct st_live_look *look, FILE *out);

#endif
