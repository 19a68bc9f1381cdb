/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the rows of a result are. */
#ifndef STROBE_CLI_ROWS_H
#define STROBE_CLI_ROWS_H

#include "base/error.h"
#include "profile/profile.h"

/* The file with the rows of a stream of the profile, which was read from a file: beside that, if it
 * has been moved. malloc'ed. NULL and *e when there are none. */
char *st_find_rows(const struct st_profile *p, const char *profile, const char *stream,
                   struct st_error *e);

#endif
