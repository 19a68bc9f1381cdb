/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells the clocks of a program how much time of each thread is hidden from it: wire/clock.h. */
#ifndef STROBE_BLOW_HIDDEN_H
#define STROBE_BLOW_HIDDEN_H

#include "wire/probe.h"

/* Sets the hidden time of the thread. If there is no slot left for it, it has that of `area`. */
void st_hidden_put(struct st_probe_area *area, int64_t tid, double seconds);
/* The thread has ended: another one may take its slot. */
void st_hidden_end(struct st_probe_area *area, int64_t tid);

#endif
