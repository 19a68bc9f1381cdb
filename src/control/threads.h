/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All threads of a running process, stopped with ptrace. */
#ifndef STROBE_CONTROL_THREADS_H
#define STROBE_CONTROL_THREADS_H

#include "base/status.h"
#include "control/internal.h"

/* A thread while it is traced. */
struct st_traced {
	pid_t tid;
	bool gone, stopped;
	struct user_regs_struct regs; /* at its stop, as it is to go on: see st_settle */
	uint64_t restart; /* the system call that it was in, when it goes on by restart_syscall */
	bool interrupted; /* it was asleep in a system call, which regs make it begin again */
	uint64_t mask;    /* signals that it blocks */
	/* For detach.c. */
	unsigned told;
	bool was_parked;
	struct user_regs_struct final; /* the program's, once it is parked */
	uint64_t final_mask;
};

struct st_threads {
	pid_t pid;
	struct st_traced *v;
	size_t n, room;
	bool stopping;      /* all are to stop */
	bool execed;        /* it has become another program meanwhile */
	bool group_stopped; /* the process is stopped by a signal */
	bool ended;         /* it was our child, and has ended meanwhile, */
	int status;         /* with this, as wait has it */
};

/* Stops every thread that there is, those that are born meanwhile included. 0; or -1 with *e and
 * nothing traced any more. */
st_status st_threads_stop(struct st_threads *ts, pid_t pid, double seconds, struct st_error *e);
/* The same for threads that are traced already, or new. */
st_status st_threads_stop_again(struct st_threads *ts, double seconds, struct st_error *e);
/* Lets a stopped one go on, traced, from its regs. */
st_status st_thread_continue(struct st_traced *t);
/* Lets signals pass while threads run, and notes who has ended. */
void st_threads_attend(struct st_threads *ts);
/* Its regs and its mask are the thread's. First the mask: should we be killed in between, a signal
 * may come early, but none is blocked for ever. */
void st_thread_put(struct st_traced *t);
/* Lets all of them go on from their regs, with their masks. */
void st_threads_release(struct st_threads *ts);
void st_threads_free(struct st_threads *ts);
/* The same for those that had not stopped when they were to be released, and have now. */
void st_threads_release_late(void);
/* The first that can be used for remote calls, or NULL. */
struct st_traced *st_threads_any(struct st_threads *ts);

/* Address of a system call instruction in the process' vdso; 0: none. */
uint64_t st_syscall_in_vdso(pid_t pid);

#endif
