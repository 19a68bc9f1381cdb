/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells the clocks of a program how much time of each thread is hidden from it: wire/clock.h. */
#ifndef STROBE_BLOW_HIDDEN_H
#define STROBE_BLOW_HIDDEN_H

#include "probe/probes.h"

/* Sets the hidden time of the thread. If there is no slot left for it, it has that of `area`. */
void st_hidden_put(struct st_probe_area *area, int64_t tid, double seconds);
/* Fails if pauses are to be hidden, and the program's clocks have no probes. */
st_status st_hidden_check(const struct st_probes *probes, struct st_error *e);
/* A sentence that says from what of the program in that file pauses cannot be hidden, as far as its
 * code tells; NULL: nothing is known. The caller frees it. */
char *st_hidden_limit(const char *path);
/* The thread has ended: another one may take its slot. */
void st_hidden_end(struct st_probe_area *area, int64_t tid);

#endif
