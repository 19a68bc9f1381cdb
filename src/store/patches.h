/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patch ids of versions, each computed once: of a thousand commits they take a second. */
#ifndef STROBE_STORE_PATCHES_H
#define STROBE_STORE_PATCHES_H

#include "store/store.h"

/* malloc'ed; *out NULL: the version has none. 0, or -1 with *e. */
st_status st_patch_of(struct st_store *s, const char *name, char **out, struct st_error *e);

#endif
