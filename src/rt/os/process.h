/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes: exec, exit, descriptors and limits as the program should see them, children that are
 * followed. */
#ifndef STROBE_RT_OS_PROCESS_H
#define STROBE_RT_OS_PROCESS_H

#include "rt/controller.h"
#include "rt/rt.h"

long sys_exec(struct thread *t);
_Noreturn void sys_exit_group(struct thread *t);
/* close, close_range, dup, dup2, dup3, fcntl, getdents64: the runtime's own descriptor is not there
 * for the program. */
long sys_descriptor(struct thread *t);
/* A system call on the runtime's own descriptor that has nothing to do with it otherwise. */
bool names_own_descriptor(const struct thread *t);
/* setrlimit, getrlimit, prlimit64: RLIMIT_AS and RLIMIT_DATA do not count the engine's own memory.
 */
long sys_rlimit(struct thread *t);
/* Sets those that the program was started with. */
void limits_begin(const struct st_boot *boot);
/* Those of the program are the kernel's again. */
void limits_end(void);
/* In the child of a fork, whatever other threads of its parent were about. */
void limits_restart(void);
/* In the child of a fork that goes on natively. */
void limits_leave_child(void);
/* Around an execve: what it starts gets the program's own soft limits; `soft` keeps the engine's in
 * case it fails. */
void limits_exec(uint64_t soft[2], bool begins);
/* Asks the controller to take over the program that execve is about to start; tells it when that
 * failed. */
bool follow_exec_begin(struct thread *t);
void follow_exec_failed(struct thread *t);
/* In a fork's child, the only thread of a copy of the process: goes on under its own engine. False:
 * it cannot. */
bool process_follow_fork(struct thread *t);

/* Notes the CPU time at which the engine is left for good, if this is the first time; forgets it
 * when nothing came of it. Both in process.c. */
void process_leaves(const struct thread *t);
void process_stays(const struct thread *t);

#endif
