/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions get noise. */
#ifndef STROBE_BLOW_CORPUS_H
#define STROBE_BLOW_CORPUS_H

#include "blow/blow.h"

/* A function is chosen that meets one of them. */
struct st_blow_criteria {
	bool all;       /* functions are chosen by name: all that were called */
	uint64_t calls; /* called at least so often */
	uint64_t ns;    /* its calls last so long, on average */
};
/* Sets `chosen` of each function; how many there are. */
size_t st_blow_choose(struct st_blow *b, const struct st_blow_criteria *criteria);
/* The mean time of a call, ns; 0: it was not called. */
double st_blow_mean(const struct st_blow_function *f);

#endif
