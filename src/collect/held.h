/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps open what a process executes and nobody finds by its path: files that were deleted or
 * replaced, files in memory, files below another root. They are as long there as the process has
 * them mapped.
 */
#ifndef STROBE_COLLECT_HELD_H
#define STROBE_COLLECT_HELD_H

#include <stddef.h>
#include <sys/types.h>

#include "control/run.h"

struct st_held_look {
	uint32_t *n_seen; /* mappings, of each process of the run */
	size_t n;
	double last; /* when all were looked at: files are deleted while they are mapped */
};

/* Looks at a process' mappings now. */
void st_held_look_at(pid_t pid);
/* The same of all processes that have new ones since it was called last; once a second, of all. */
void st_held_look(struct st_held_look *l, const struct st_process *processes, size_t n);
void st_held_free(struct st_held_look *l);

#endif
