/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The workers of a campaign: processes of strobe that execute the program under the engine. A
 * worker has a fork server (control/served.h) and executes one input after the other. Where that is
 * not possible, or not wanted, there is a new process for each execution, which starts the program.
 */
#ifndef STROBE_FUZZ_WORKER_H
#define STROBE_FUZZ_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "fuzz/bytes.h"

struct st_fuzz_target; /* fuzz/execute.h */

/* An unnamed file in memory. */
st_status st_fuzz_memory_file(int *fd, struct st_error *e);

struct st_fuzz_worker {
	char input[80]; /* path of the file that holds the input */
	int answer;     /* an unnamed file into which the process writes the result */
	pid_t pid;      /* of the process; 0: there is none */
	int done;       /* a pipe from it: a byte, or its end, says that the execution has ended */
	int go; /* a socket to its fork server: a limit in seconds, a double, asks for an execution;
	        -1: it has none */
	bool busy; /* it executes the input of `slot` */
	size_t slot;
	bool unserved; /* no fork server is tried */
};

/* ST_FAILED with *e: no folder. The caller ends them in any case if t->folder is not empty. */
st_status st_fuzz_workers_begin(struct st_fuzz_target *t, struct st_error *e);
void st_fuzz_workers_end(struct st_fuzz_target *t);
/* Begins an execution; the worker is not busy. */
st_status st_fuzz_worker_start(struct st_fuzz_target *t, struct st_fuzz_worker *w,
                               const struct st_fuzz_bytes *input, struct st_error *e);
/* Waits until an execution has ended, and returns its worker, which is not busy any more; NULL:
 * none is busy, or none has ended by `until`, a moment of st_now_raw. */
struct st_fuzz_worker *st_fuzz_worker_wait(struct st_fuzz_target *t, double until);
/* Ends all executions and drops their results. */
void st_fuzz_workers_stop(struct st_fuzz_target *t);

/* Puts the input where the program reads it. *argument: the one that replaces @@, malloc'ed or
 * NULL. */
st_status st_fuzz_give_input(struct st_fuzz_target *t, const struct st_fuzz_worker *w,
                             const struct st_fuzz_bytes *input, char **argument,
                             struct st_error *e);
/* In a child, before it executes the program: opens the program's streams, and gives the program
 * the same addresses in each execution, so that its work does not depend on them. Where that is
 * forbidden (containers), its addresses are random. */
void st_fuzz_prepare_program(const struct st_fuzz_target *t, const struct st_fuzz_worker *w);

#endif
