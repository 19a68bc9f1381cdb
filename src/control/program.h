/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a program that is to be run. */
#ifndef STROBE_CONTROL_PROGRAM_H
#define STROBE_CONTROL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Finds the program as execvp would and checks that it can run under the engine. `path` receives
 * its path. -1 with *e, whose code is the exit code that a shell has. */
st_status st_program_find(const char *name, char *path, size_t size, struct st_error *e);
/* The file whose code is executed for it: the program itself, or of a script its interpreter,
 * without symbolic links. *by_env: env is started first, and executes the interpreter. */
st_status st_program_image(const char *name, char *path, size_t size, bool *by_env,
                           struct st_error *e);

#endif
