/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that the user has chosen by name. */
#ifndef STROBE_FEATURES_TARGETS_H
#define STROBE_FEATURES_TARGETS_H

#include "base/error.h"
#include "base/vec.h"
#include "symbol/types.h"

struct st_targets {
	ST_VEC(uint64_t) entries; /* link-time addresses, ascending */
};

/* Adds the functions of an image of which any name matches the pattern; * matches all. -1: memory
 * is exhausted. The caller frees *t in any case. */
st_status st_targets_find(struct st_targets *t, struct st_image *image, const char *pattern);
void st_targets_free(struct st_targets *t);

/* Places where functions are inlined, for the message that no function matches a pattern. */
struct st_inlined_note {
	char text[512];
	size_t n;
};

/* Takes up to three places from the first image that has any. */
void st_inlined_note_take(struct st_inlined_note *note, struct st_image *image,
                          const char *pattern);
/* Sets the message why no function of the program matches the pattern. Returns ST_FAILED. */
st_status st_targets_missing(const struct st_inlined_note *note, const char *program,
                             const char *pattern, struct st_error *e);

#endif
