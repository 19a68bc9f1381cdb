/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process that a signal to strobe is passed on to. */
#ifndef STROBE_TIMING_SIGNALS_H
#define STROBE_TIMING_SIGNALS_H

#include <sys/types.h>

/* 0: there is none now. */
void st_timing_child(pid_t pid);

#endif
