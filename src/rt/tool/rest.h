/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rests, with --unique and one budget for a tree of processes: nobody can tell where in them there
 * is new code (tool/watch.h is for processes that are alone), but a thread that is measured and
 * finds nothing new takes of what all have. It rests for a tick, and when it finds nothing then
 * either, for two, for four, and so on; it does not in the last eighth of the period, when what is
 * left would be lost.
 */
#ifndef STROBE_RT_REST_H
#define STROBE_RT_REST_H

#include "rt/rt.h"

/* A window begins, or is over. */
void rest_end(struct thread *t);
/* A tick, with which a window begins or not. */
void rest_tick(struct thread *t, bool begins);

#endif
