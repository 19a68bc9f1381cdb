/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of the engine: what is known of it, and waiting for its end while records are added up. */
#ifndef STROBE_EBPF_WAIT_H
#define STROBE_EBPF_WAIT_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "ebpf/choose.h"
#include "ebpf/kernel.h"
#include "trace/aggregate.h"

struct st_ebpf_run {
	const struct st_trace_request *request;
	struct st_ebpf_choice *choice;
	struct st_trace_aggregate *to;
	struct st_ebpf *kernel;
	/* Called some ten times a second: are there new files to probe? */
	void (*look_later)(void *run, double elapsed);
	pid_t pid;
	size_t n_late;     /* files that came later, */
	double late_since; /* seconds after the beginning */
	struct timespec start;
	double begin, end; /* CLOCK_MONOTONIC_RAW */
	bool has_begun;    /* the program: what comes before is our own child's */
	bool has_executed; /* the program: another one */
	char *executed;    /* the file of that, if it could still be read; NULL: it could not */
	bool has_ended;    /* the program; status is what wait says, of a child */
	int status;
	struct rusage usage;
	uint64_t lost; /* records */
	bool no_memory;
};

/* From now on signals are for the program, or end the trace of a process. */
void st_ebpf_wait_prepare(struct st_ebpf_run *run);
/* Until the program, and the children that are followed, have ended, the time is over, or of a
 * process a signal comes. Probes are gone then, and all records added up. */
void st_ebpf_wait(struct st_ebpf_run *run);

#endif
