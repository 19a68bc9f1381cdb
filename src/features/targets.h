/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that somebody names. */
#ifndef STROBE_FEATURES_TARGETS_H
#define STROBE_FEATURES_TARGETS_H

#include "base/vec.h"
#include "symbol/symbol.h"

struct st_targets {
	ST_VEC(uint64_t) entries; /* link-time addresses, ascending */
};

/* The functions of an image that a pattern fits, by any of their names; * is for all. Adds to what
 * is there. -1: memory is exhausted. The caller frees in any case. */
st_status st_targets_find(struct st_targets *t, struct st_image *image, const char *pattern);
void st_targets_free(struct st_targets *t);

#endif
