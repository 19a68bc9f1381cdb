/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a text file into memory. */
#ifndef STROBE_ANNOTATE_FILETEXT_H
#define STROBE_ANNOTATE_FILETEXT_H

#include <stddef.h>

#include "base/error.h"

/* *text gets n bytes and a NUL, malloc'ed. "-" is standard input. `what` names the contents in
 * messages: "records". */
st_status st_ann_file_text(const char *path, const char *what, char **text, size_t *n,
                           struct st_error *e);

#endif
