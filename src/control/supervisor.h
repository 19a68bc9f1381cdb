/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run under way: the program, the children taken along, and what they tell. */
#ifndef STROBE_CONTROL_SUPERVISOR_H
#define STROBE_CONTROL_SUPERVISOR_H

#include <sys/resource.h>

#include "base/clock.h"
#include "base/status.h"
#include "control/drain.h"
#include "control/internal.h"

struct st_supervisor {
	const struct st_run_options *options;
	struct st_pool pool;
	pid_t main_pid;
	int main_status;
	bool main_ended;
	struct rusage usage;
	struct st_process *processes;
	size_t n_processes, room_processes;
	struct st_tmp *tmps;
	int *channels;
	size_t n_channels;
	size_t n_execs; /* processes on their way through execve: without a channel for a moment */
	size_t unfollowed;      /* children left alone */
	char *unfollowed_why;   /* the first one's cause */
	struct st_drain *drain; /* NULL: no rows are taken */
	double last_second;     /* when options->on_second was called */
	/* Of strobe's own CPU time, what the processes have been told to pay: all of them in equal
	 * parts, and who asked where blocks begin (control/charge.c). */
	uint64_t shared_ns, leaders_ns;
	double begin, ended;              /* of the program; ended is 0 while it runs */
	bool region_delayed, region_over; /* its delay, its length has passed */
	double region_since;              /* when it was seen to have begun; 0: not yet */
};

/* Adds a process with its mapped results, which become the supervisor's if that succeeds. channel:
 * its socket, or -1. */
st_status st_supervisor_add(struct st_supervisor *s, struct st_results_header *results, int channel,
                            const char *command);
/* The same of a child. False: there is no memory for it; its results and channel are let go, and
 * the report says that it was not measured. */
bool st_supervisor_add_child(struct st_supervisor *s, struct st_results_header *results,
                             int channel, const char *command);
/* The newest one of that number; NULL: it is none of the run's. */
struct st_process *st_supervisor_newest(struct st_supervisor *s, pid_t pid);
/* A child runs natively, or cannot be seen: the report says so. */
void st_supervisor_leave_alone(struct st_supervisor *s, const char *why);
/* A thread that is traced, and will be let go at a stop that is still to come: waits for that. */
void st_supervisor_let_go(struct st_supervisor *s, pid_t tid);
/* From /proc: the first argument of a process (malloc'ed) and its parent (0: unknown). */
char *st_command_of(pid_t pid);
uint32_t st_parent_of(pid_t pid);
/* Serves the run until the program, and the children that are followed, have ended. */
void st_supervisor_wait(struct st_supervisor *s);
/* control/messages.c: has the kernel say who sends on this channel; to be done before the program
 * can.
 */
bool st_messages_prepare(int channel);
/* Takes a message, if there is one. False: nobody holds the other end any more. */
bool st_supervisor_take(struct st_supervisor *s, int channel);
/* Calls options->on_process. */
void st_supervisor_meet(const struct st_supervisor *s, pid_t pid);
/* Calls options->on_turn, and on_second when it is time. */
void st_supervisor_tick(struct st_supervisor *s, double now);
/* Takes from the results what does not wait there for long. */
void st_supervisor_drain(struct st_supervisor *s);
/* CPU time so far of what getrusage calls `who`, seconds. */
double st_cpu_time(int who);
/* control/stacks.c: hands the stacks that wait in a process' results to options->on_stack. */
void st_stacks_drain(const struct st_run_options *options, struct st_results_header *results);
/* control/perfmap.c: the number that a process or thread has in its own namespace; 0: unknown. */
uint32_t st_innermost_pid(uint32_t pid);
/* control/perfmap.c: looks where the process will write the names of generated code; those written
 * so far are not its own; closes what that opened. */
void st_perf_map_prepare(struct st_supervisor *s, struct st_process *p);
void st_perf_map_forget(struct st_process *p);
void st_perf_map_close(struct st_tmp *tmps);
/* control/jobs.c: signals sent to strobe go on to the program, until that has ended. */
void st_jobs_begin(pid_t pid, bool own_group);
/* Would the signal, sent by somebody, be the end of who does not handle it? Those of faults are
 * left out. */
bool st_signal_ends(int signo);
void st_jobs_end(void);
/* Has a signal come since? */
bool st_jobs_interrupted(void);
/* The program has been asked to end, by a signal to us, since this was asked for last. */
bool st_jobs_asked_to_end(void);
/* The program was stopped by a signal: so is strobe, until one of the two is continued. */
void st_jobs_stopped(pid_t pid, int signo);
/* control/region.c: begins and ends the region of interest when it is time, or a signal has come.
 */
void st_region_begin(const struct st_supervisor *s);
/* The options for what the process has become by execve: the region goes on as it was. */
struct st_run_options st_region_continued(struct st_supervisor *s, pid_t pid);
void st_region_tick(struct st_supervisor *s, double now);
/* Seconds until there may be something to do. */
double st_region_next(const struct st_supervisor *s, double now);
/* The first n mappings have been seen. */
void st_region_seen(struct st_results_header *h, uint32_t n);
/* Answers what the runtime asks about its images. */
void st_region_images(struct st_supervisor *s, struct st_results_header *h);
/* The runtime asks where basic blocks may begin. */
void st_region_leaders(struct st_supervisor *s, struct st_results_header *h);
/* control/charge.c: tells the processes what strobe has done for them, so that budgets pay for it.
 */
void st_supervisor_charge(struct st_supervisor *s);
/* control/qos.c: tells the processes the budget that quality of service leaves. */
void st_supervisor_follow_qos(struct st_supervisor *s);

#endif
