/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run under way: the program, the children taken along, and what they tell. */
#ifndef STROBE_CONTROL_SESSION_H
#define STROBE_CONTROL_SESSION_H

#include <sys/resource.h>

#include "control/internal.h"

struct st_session {
	const struct st_run_options *options;
	unsigned tool;
	pid_t main_pid;
	int main_status;
	bool main_ended;
	struct rusage usage;
	struct st_process *processes;
	size_t n_processes, room_processes;
	int *channels;
	size_t n_channels;
	size_t n_execs; /* processes on their way through execve: without a channel for a moment */
	size_t unfollowed;    /* children left alone */
	char *unfollowed_why; /* the first one's cause */
	double begin, ended;  /* of the program; ended is 0 while it runs */
};

/* Adds a process with its mapped results, which become the session's. channel: its socket, or -1.
 */
int st_session_add(struct st_session *s, struct st_results_header *results, int channel,
                   const char *command);
/* Serves the session until the program, and the children that are followed, have ended. */
void st_session_wait(struct st_session *s);
/* Takes from the results what does not wait there for long. */
void st_session_drain(struct st_session *s);
/* CPU time so far of what getrusage calls `who`, seconds. */
double st_cpu_time(int who);
/* Index of the built-in tool in the runtime's table, or -1. */
int st_tool_index(const char *name);
/* control/stacks.c: hands the stacks that wait in a process' results to options->on_stack. */
void st_stacks_drain(const struct st_run_options *options, struct st_results_header *results);
/* control/jobs.c: signals sent to strobe go on to the program, until that has ended. */
void st_jobs_begin(pid_t pid);
void st_jobs_end(void);
/* Has a signal come since? */
bool st_jobs_interrupted(void);
/* The program was stopped by a signal: so is strobe, until one of the two is continued. */
void st_jobs_stopped(pid_t pid, int signo);
/* Seconds on CLOCK_MONOTONIC_RAW. */
double st_now_raw(void);

#endif
