/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the waiting times of the tool locks as folded stacks: a line for each call stack that
 * waited, with the kind of what it waited for at its end, and the nanoseconds. */
#ifndef STROBE_EXPORT_LOCK_STACKS_H
#define STROBE_EXPORT_LOCK_STACKS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct st_profile;

/* Returns whether the profile has such stacks. */
bool st_export_has_lock_stacks(const struct st_profile *p);
/* 0, or -1 with *e: memory is exhausted. */
st_status st_export_lock_stacks(const struct st_profile *p, FILE *out, struct st_error *e);

#endif
