/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads whole files that users name. Devices, files that are too large, and pipes that no process
 * writes to are refused. Hosted code only. */
#ifndef STROBE_BASE_WHOLEFILE_H
#define STROBE_BASE_WHOLEFILE_H

#include "base/error.h"

/* Limits for files that people write, and for those that programs write. */
#define ST_WHOLE_SETTINGS ((size_t)1 << 20)
#define ST_WHOLE_DATA ((size_t)1 << 30)

/*
 * Reads a regular file, a pipe, or standard input ("-"), of at most `most` bytes; a NUL follows
 * them. A named pipe that no process writes to is refused instead of waited for. *bytes is
 * malloc'ed. Fails with *bytes NULL, with the cause in why->text, and with errno: that of the
 * system, EINVAL (no file of these kinds), EFBIG or ENOMEM.
 */
st_status st_whole_read(char **bytes, size_t *n, const char *path, size_t most,
                        struct st_error *why);

#endif
