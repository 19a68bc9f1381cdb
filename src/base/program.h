/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a program is that a command names. */
#ifndef STROBE_BASE_PROGRAM_H
#define STROBE_BASE_PROGRAM_H

#include <stddef.h>

/* Finds a program as execvp does: a name with a slash is a path, others are looked up in PATH.
 * Returns 0, or ENOENT or EACCES. */
int st_path_find(const char *name, char *path, size_t size);

#endif
