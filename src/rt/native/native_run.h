/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that run natively: while a thread is not measured it executes the program's own code,
 * natively, and comes back for system calls and signals.
 *
 * Nothing of the process changes for that: the dispositions stay the master handler's, and code
 * stays write-protected, so that threads in the cache and native ones go together. System calls
 * that are not the runtime's own raise SIGSYS (the kernel's syscall user dispatch), and are then
 * made by the runtime as always. That costs microseconds, so where many are made the code gets a
 * system-call patch (native/syspatch.h), and a thread that makes many elsewhere stays in the cache.
 */
#ifndef STROBE_RT_NATIVE_NATIVE_RUN_H
#define STROBE_RT_NATIVE_NATIVE_RUN_H

#include "rt/rt.h"

/* May it go out whenever it is not measured? */
bool native_run_may(const struct thread *t);
/* Is the thread to go on natively, at regs.pc? If so, its `next` is set. rt.lock held. */
bool native_run_go(struct thread *t);
/* The same, without the lock, for one that comes from there; false also where that has to be seen
 * to first. */
bool native_run_return(struct thread *t);
/* SIGSYS: is it a system call of a thread that runs natively? */
bool native_run_called(const struct thread *t, int signo, const struct siginfo *info);
/* Keeps the thread in the cache until its next tick. */
void native_run_avoid(struct thread *t);
/* The thread, at regs.pc, makes a system call in the cache, or (trapped) by SIGSYS. */
void native_run_note_call(struct thread *t, bool trapped);
/* A tick of the thread's CPU time. Returns whether a thread in the cache is now to go out. */
bool native_run_tick(struct thread *t);
/* The thread begins in this process; it leaves the engine for good. */
void native_run_begin(struct thread *t);
void native_run_end(struct thread *t);

#endif
