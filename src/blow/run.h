/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of the program with probes, in a process of its own. */
#ifndef STROBE_BLOW_RUN_H
#define STROBE_BLOW_RUN_H

#include <pthread.h>

#include "blow/blow.h"
#include "trace/engine.h"

struct st_blow_how {
	char *const *program;
	const char *input;                      /* its standard input */
	bool causal;                            /* threads are watched: virtual.h */
	double limit;                           /* seconds after which a run is ended; 0: none */
	const struct st_trace_request *request; /* which functions are looked at */
};

/* Runs the program with probes on all functions that the request chooses; adds those that were
 * called to b, and those that take no probe, and fills in the run. 0, or -1 with *e. */
st_status st_blow_select(const struct st_blow_how *how, struct st_blow *b, struct st_blow_run *run,
                         struct st_error *e);
/* Runs it with probes on those functions of b that noise is put into; run->function and run->noise
 * are given. 0, or -1 with *e. The caller frees run->samples.v. */
st_status st_blow_run_once(const struct st_blow_how *how, const struct st_blow *b,
                           struct st_blow_run *run, struct st_error *e);

/* probed.c, in the process that runs the program: it writes functions, if b is NULL, and the run as
 * lines. */
st_status st_blow_probed(const struct st_blow_how *how, const struct st_blow *b,
                         const struct st_blow_run *asked, int output, FILE *out,
                         struct st_error *e);
/* watchdog.c: ends a program that has reached its limit. */
struct st_blow_watchdog {
	pid_t pid; /* begins a process group */
	double limit;
	int pidfd, stop;
	pthread_t thread;
	bool runs;
	enum st_blow_fault fault; /* when it has stopped */
};
void st_blow_watchdog_begin(struct st_blow_watchdog *w, pid_t pid, double limit);
/* The program has ended. */
void st_blow_watchdog_end(struct st_blow_watchdog *w);

#endif
