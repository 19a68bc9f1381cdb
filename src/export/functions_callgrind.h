/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes an imported profile of callgrind as a file of callgrind. Such a profile has costs of
 * functions and calls, and no contexts. */
#ifndef STROBE_EXPORT_FUNCTIONS_CALLGRIND_H
#define STROBE_EXPORT_FUNCTIONS_CALLGRIND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct st_profile;

/* Returns whether p was imported from callgrind. */
bool st_export_has_callgrind(const struct st_profile *p);
/* 0, or -1 with *e. */
st_status st_export_callgrind(const struct st_profile *p, FILE *out, struct st_error *e);

#endif
