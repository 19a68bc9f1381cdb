/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking the rows that the program makes, in a thread of its own. */
#ifndef STROBE_CONTROL_DRAIN_H
#define STROBE_CONTROL_DRAIN_H

#include "control/run.h"

struct st_drain;

/* NULL: no memory. */
struct st_drain *st_drain_new(const struct st_row_sink *sink);
/* A process that may make rows. */
void st_drain_add(struct st_drain *d, struct st_results_header *results, size_t size);
/* Starts the thread, if it does not run and some process has a stream for it. */
void st_drain_wake(struct st_drain *d);
/* Takes what is left of a process, also in chunks that are not full. Its results may move then. */
void st_drain_end(struct st_drain *d, const struct st_results_header *results);
/* Ends the thread; every process has been ended. */
void st_drain_free(struct st_drain *d);

#endif
