/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The folder in $TMPDIR in which the executed program finds its inputs. A strobe that is killed
 * leaves it there; the next strobe fuzz with the same $TMPDIR removes it.
 */
#ifndef STROBE_FUZZ_SCRATCH_H
#define STROBE_FUZZ_SCRATCH_H

#include <stddef.h>

#include "base/error.h"

/* Creates the folder, and removes those that killed processes have left. *lock: a descriptor, which
 * is locked as long as this process or a child of it has it. On failure, folder is "". */
st_status st_fuzz_scratch_begin(char *folder, size_t size, int *lock, struct st_error *e);
/* Removes the folder with its inputs. */
void st_fuzz_scratch_end(const char *folder, int lock);

#endif
