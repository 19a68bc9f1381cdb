/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals that the program blocks, has been sent and has not taken yet, of the numbers that stay
 * open in the kernel's mask for the engine's sake (NEVER_BLOCKED).
 *
 * The kernel hands them to the master handler, which puts them here, in the order of their arrival.
 * For the few system calls that look at pending signals the kernel gets them back: their numbers
 * are blocked in its mask while the call lasts, and what is left is taken again at its end.
 */
#ifndef STROBE_RT_OS_HELD_H
#define STROBE_RT_OS_HELD_H

#include "rt/rt.h"

struct ucontext64;

/* A signal has come to the thread, which blocks it. It is kept for the thread or, when the process
 * is meant, given to a thread that does not block it or waits for it, else kept for the process. */
void held_add(struct thread *t, const struct siginfo *info);
/* Those that are pending for the thread. */
uint64_t held_pending(const struct thread *t);
/* Raises those again that the thread does not block any more. */
void held_release(struct thread *t);
/* The program ignores the signal from now on: none is pending any more. */
void held_drop(int signo);
/* The thread ends. */
void held_forget(const struct thread *t);
/* In a fork's child: nothing is pending. */
void held_restart(void);
/* With every signal blocked: gives the kernel those of the thread, and those of the process. */
void held_hand_over(struct thread *t);

/* Does the program block the signal that has come at the machine's pc? */
bool held_blocks(const struct thread *t, int signo, const struct ucontext64 *uc);

/* The kernel shows the thread's signals of `open` while it makes a call for the program. */
void held_give_kernel(struct thread *t, uint64_t open);
void held_take_from_kernel(struct thread *t, uint64_t open);
/* A system call that may sleep, and may look at a signal descriptor: does it need the two above?
 * Returns the set. */
uint64_t held_wanted(const struct thread *t);

long sys_sigpending(struct thread *t);
long sys_sigtimedwait(struct thread *t);
/* rt_sigsuspend, ppoll, pselect6, epoll_pwait, epoll_pwait2: the program's mask is another one
 * while they last. */
long sys_masked(struct thread *t);
long sys_signalfd(struct thread *t);
long sys_tgsigqueueinfo(struct thread *t);

#endif
