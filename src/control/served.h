/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many executions of one program, without its start: the process stops at its entry point under the
 * engine and copies itself for each of them (rt/forkserver.h).
 */
#ifndef STROBE_CONTROL_SERVED_H
#define STROBE_CONTROL_SERVED_H

#include "control/run.h"

struct st_served;

/* An execution that has ended. */
struct st_served_outcome {
	bool by_signal;
	bool hung; /* it was ended, with its process group, after the time that was allowed */
	int code;  /* exit code, or signal */
	double seconds;
};

/*
 * Starts the program as st_run_program does, with o->serves set, and waits at most `seconds` until
 * it has come to its entry point. NULL with *e: it could not be started, it did not come there, or
 * the machine allows no memory that is writable and executable; it does not run any more.
 * Executions read standard input from its beginning. The server ends with the calling thread.
 */
struct st_served *st_served_begin(const struct st_run_options *o, double seconds,
                                  struct st_error *e);
/* ST_FAILED with *e: the server has ended, or can make no more copies. seconds: allowed. */
st_status st_served_execute(struct st_served *s, double seconds, struct st_served_outcome *end,
                            struct st_error *e);
/* What a process that did nothing but the last execution would have left there; until the next one
 * begins. */
const struct st_results_header *st_served_results(const struct st_served *s, size_t *size);
void st_served_end(struct st_served *s);

#endif
