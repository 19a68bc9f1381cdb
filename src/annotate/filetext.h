/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text file as a whole. */
#ifndef STROBE_ANNOTATE_FILETEXT_H
#define STROBE_ANNOTATE_FILETEXT_H

#include <stddef.h>

#include "base/error.h"

/* n bytes and a NUL, malloc'ed. "-" is standard input; what: for messages, "records". */
st_status st_ann_file_text(const char *path, const char *what, char **text, size_t *n,
                           struct st_error *e);

#endif
