/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells why no thread of a process runs, from what the kernel says about each thread: its system
 * call, and the futex on which it waits. The word of a futex, or the owner's field in a lock of the
 * C library, names the thread that holds the lock or that has to end.
 */
#ifndef STROBE_BLOW_HANG_H
#define STROBE_BLOW_HANG_H

#include <stdio.h>
#include <sys/types.h>

#include "blow/blow.h"

struct st_hang_thread {
	int64_t tid;
	char name[16];
	char state;     /* as in /proc/PID/stat */
	long call;      /* number of its system call; -1: it is in none */
	bool waits;     /* on a futex */
	bool timed;     /* that wait has a time limit */
	bool shared;    /* another process may wake it */
	int64_t holder; /* the thread that it waits for; 0: not known */
	bool joins;     /* it waits for the end of that thread, not for its lock */
};
struct st_hang {
	ST_VEC(struct st_hang_thread) threads;
};

/* Looks at all threads of the process. -1: memory is exhausted. The caller frees threads.v. */
st_status st_hang_look(struct st_hang *h, pid_t pid);
/* ST_BLOW_DEADLOCK, ST_BLOW_LOST_WAKEUP, or ST_BLOW_HANG: cannot tell. */
enum st_blow_fault st_hang_judge(const struct st_hang *h);
/* The index of a thread that waits for itself through others; SIZE_MAX: there is none. */
size_t st_hang_cycle(const struct st_hang *h);
/* Writes the reason for the judgement as a sentence without a line end. */
void st_hang_explain(const struct st_hang *h, FILE *out);
/* Writes a thread's number, its name and what it waits for. */
void st_hang_write_thread(const struct st_hang *h, size_t thread, FILE *out);

#endif
