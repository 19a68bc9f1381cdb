/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the state of the machine while calls are recorded: wire/machine.h. */
#ifndef STROBE_RECORDING_MACHINE_H
#define STROBE_RECORDING_MACHINE_H

#include <pthread.h>
#include <stdbool.h>

#include "wire/machine.h"

struct st_machine_watch {
	struct st_machine *to;
	pthread_t thread;
	bool runs, ends; /* ends: atomic */
};

/* Reads the state once from the files of the kernel, whose paths begin with `root` (""), and the
 * frequencies of the CPUs that threads have asked for, or of all. A value that cannot be read is
 * marked as not known. */
void st_machine_read(struct st_machine *to, const char *root, bool all_cpus);

/* Begins to read the state: now, and again every 4 ms until the watch ends. */
void st_machine_watch_begin(struct st_machine_watch *w, struct st_machine *to);
void st_machine_watch_end(struct st_machine_watch *w);

#endif
