/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fork server: the process stops at the program's entry point and makes a copy of itself for
 * each execution that the controller asks for (struct st_serve). A copy has the code cache as it
 * was left by the server, which translates ahead what earlier copies have executed.
 *
 * Copies share the results, so there is one at a time. Before each, the server gives the results
 * the state that they had at the entry point; so they hold what a process without a fork server
 * would have written.
 */
#ifndef STROBE_RT_FORKSERVER_H
#define STROBE_RT_FORKSERVER_H

#include "rt/rt.h"

#define FORKSERVER_NOWHERE (~0ull)

/* Finds the entry point, if the plan asks for a fork server. */
void forkserver_init(void);
/* The thread is about to execute the entry point, rt.lock not held. Returns in each copy; in the
 * process itself only if it cannot be a fork server. */
void forkserver_run(struct thread *t);
/* In a copy: an indirect branch to pc had to ask the dispatcher. site: see tool/targets.c. */
void forkserver_missed(uint64_t pc, uint32_t site);

#endif
