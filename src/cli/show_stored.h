/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments that may be stored profiles, or versions, where they are no files. */
#ifndef STROBE_CLI_SHOW_STORED_H
#define STROBE_CLI_SHOW_STORED_H

#include <stdbool.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * A file that has the profile, to be removed by st_stored_forget, in *path. NULL there: what was
 * named is a file, or there is no store, and the caller says so. Of a version with several profiles
 * it prints a list, and *printed is set. 0, or -1 with *e.
 */
st_status st_show_stored(const char *name, bool json, char **path, bool *printed,
                         struct st_error *e);
/* Writes a stored profile, or the only one of a version, to a file. 0, or -1 with *e. */
st_status st_show_extract(const char *name, const char *file, struct st_error *e);
/* The profile of a file, or a stored one: as strobe show names it, or the only one of a version.
 * NULL with *e. */
struct st_profile *st_show_load(const char *name, struct st_error *e);

#endif
