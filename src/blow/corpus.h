/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The corpus: the functions that get noise. */
#ifndef STROBE_BLOW_CORPUS_H
#define STROBE_BLOW_CORPUS_H

#include "blow/blow.h"

struct st_patterns;

/* A function that was called and takes a probe is chosen if it meets one of these. */
struct st_blow_criteria {
	bool all;                           /* choose all: the user has named the functions */
	uint64_t calls;                     /* least number of calls */
	uint64_t ns;                        /* least mean time of a call */
	const struct st_patterns *progress; /* progress points, which are not chosen; may be NULL */
};
/* Sets `chosen` and `progress` of each function. Returns the number of chosen functions. */
size_t st_blow_choose(struct st_blow *b, const struct st_blow_criteria *criteria);
/* Whether a pattern fits one of a function's names. NULL has no patterns. */
bool st_blow_is_progress(const char *name, const char *raw_name,
                         const struct st_patterns *progress);
/* The mean time of a call in ns; 0 if there was no call. */
double st_blow_mean(const struct st_blow_function *f);

#endif
