/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the counts and samples of source lines, calls and jumps as a file of callgrind, so that
 * KCachegrind and callgrind_annotate show the source with them. */
#ifndef STROBE_EXPORT_CODE_CALLGRIND_H
#define STROBE_EXPORT_CODE_CALLGRIND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct st_profile;

/* Returns whether p has counts of source lines and functions, and no contexts that were counted. */
bool st_export_has_code(const struct st_profile *p);
/* 0, or -1 with *e. */
st_status st_export_code_callgrind(const struct st_profile *p, FILE *out, struct st_error *e);

#endif
