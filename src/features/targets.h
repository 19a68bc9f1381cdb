/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions that the user has chosen by name. */
#ifndef STROBE_FEATURES_TARGETS_H
#define STROBE_FEATURES_TARGETS_H

#include "base/vec.h"
#include "symbol/symbol.h"

struct st_targets {
	ST_VEC(uint64_t) entries; /* link-time addresses, ascending */
};

/* Adds the functions of an image of which any name matches the pattern; * matches all. -1: memory
 * is exhausted. The caller frees *t in any case. */
st_status st_targets_find(struct st_targets *t, struct st_image *image, const char *pattern);
void st_targets_free(struct st_targets *t);

#endif
