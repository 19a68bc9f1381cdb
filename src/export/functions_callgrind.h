/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An imported profile of callgrind, which has costs of functions and calls but no contexts, as a
 * file of callgrind again. */
#ifndef STROBE_EXPORT_FUNCTIONS_CALLGRIND_H
#define STROBE_EXPORT_FUNCTIONS_CALLGRIND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct st_profile;

/* Whether it is such a profile. */
bool st_export_has_callgrind(const struct st_profile *p);
/* 0, or -1 with *e. */
st_status st_export_callgrind(const struct st_profile *p, FILE *out, struct st_error *e);

#endif
