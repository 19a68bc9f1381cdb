/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stacks of a process that is about to be ended. */
#ifndef STROBE_BLOW_STACKS_H
#define STROBE_BLOW_STACKS_H

#include "blow/hang.h"
#include "probe/probes.h"

/*
 * Writes a line "thread\tTEXT" for each thread, and "frame\tFUNCTION\tIMAGE\tOFFSET" for each of
 * its frames, innermost first. A separate process stops the threads and reads their registers,
 * since the caller's process waits for the program and would take such a stop for its own. If a
 * stack cannot be read, a line "missing\tREASON" stands for its frames.
 */
void st_blow_stacks_write(const struct st_hang *h, struct st_probes *probes, FILE *out);

/* The image whose code is mapped there; NULL: there is none. */
struct st_probed_image *st_blow_image_at(const struct st_probes *probes, uint64_t pc);

#endif
