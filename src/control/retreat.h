/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way back of a process that is changed from outside: code in it that finishes or undoes what
 * its tracer was doing, should that be killed in between. It lies where nothing is: between the end
 * of the vDSO and the end of its last page.
 */
#ifndef STROBE_CONTROL_RETREAT_H
#define STROBE_CONTROL_RETREAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct st_remote_call;

/* The data of the code, which follows it in memory. */
struct st_retreat_data {
	uint64_t fds, fds_end;   /* address of numbers of descriptors to close (-1: none) */
	uint64_t undo, undo_end; /* address of system calls to make then */
	uint64_t mask, rflags, pc, regs[16]; /* of the thread, with which it goes on at last */
	uint64_t limits[2][2]; /* RLIMIT_AS and RLIMIT_DATA to be put back; 0: not to */
};

struct st_retreat {
	pid_t pid;
	uint64_t at; /* of the code; 0: there is no room for it */
	struct st_retreat_data data;
};

/* Puts it into the process, of which a thread is stopped: for that thread to go on with those
 * registers, its signals `mask` blocked. False: there is no room, or it may not be written. */
bool st_retreat_put(struct st_retreat *r, pid_t pid, const struct user_regs_struct *regs,
                    uint64_t mask);
/* Tells it of r->data, which has changed. */
bool st_retreat_update(const struct st_retreat *r);
/* Takes it away again, when no thread is in it any more. */
void st_retreat_clear(const struct st_retreat *r);
/* The address of the code in the process, whoever has put it there, and its length; 0: there is
 * none. */
uint64_t st_retreat_find(pid_t pid, size_t *bytes);
/* Addresses in the process: makes a table of calls from rbx to rbp; where it has stopped then with
 * SIGURG; makes one call; goes back. From each of them it goes back when nobody stops it. */
uint64_t st_retreat_table_at(const struct st_retreat *r);
uint64_t st_retreat_told_at(const struct st_retreat *r);
uint64_t st_retreat_call_at(const struct st_retreat *r);
uint64_t st_retreat_back_at(const struct st_retreat *r);

#endif
