/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes that a signal to strobe is passed on to. */
#ifndef STROBE_TIMING_SIGNALS_H
#define STROBE_TIMING_SIGNALS_H

#include <sys/types.h>

/* At most two at once, from different threads. Nothing if pid is not greater than 0. */
void st_timing_child_begin(pid_t pid);
void st_timing_child_end(pid_t pid);

#endif
