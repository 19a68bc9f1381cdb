/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Interrupts a thread after some CPU time, so that it is sampled: by a timer of its CPU clock,
 * which the kernel checks only at its own ticks, or, for a higher rate, by a perf event. Perf
 * events are descriptors of the process, which the program does not see.
 */
#ifndef STROBE_RT_OS_SAMPLING_H
#define STROBE_RT_OS_SAMPLING_H

#include "rt/rt.h"

/* The thread begins: it is not sampled yet. */
void sampling_reset(struct thread *t);
/* The calling thread is sampled from now on. */
void sampling_start(struct thread *t);
/* The calling thread is not sampled any more. */
void sampling_stop(struct thread *t);
/* Between the two no sample comes: SIGNAL_OWN is blocked, and a signal descriptor would show it. */
void sampling_suspend(struct thread *t);
void sampling_resume(struct thread *t);
/* The same around an execve, at which a timer ends by itself. Every signal is blocked. */
void sampling_exec_begin(struct thread *t);
void sampling_exec_failed(struct thread *t);
/* In the child of a fork, which has only this thread: forgets the parent's events, and closes its
 * copies of their descriptors. shared: parent and child have the same descriptors, which stay open.
 */
void sampling_leave_parent(struct thread *t, bool shared);

/* Returns whether a perf event has sent the signal. */
bool sampling_is_tick(int signo, const struct siginfo *info);
/* A tick has come. */
void sampling_take_tick(struct thread *t);
/* The tick has been handled: the next one may come. */
void sampling_rearm(struct thread *t);
/* Returns whether the signal is a SIGIO that the kernel has sent in place of a tick, because too
 * many signals are pending: the program must not see it. */
bool sampling_is_lost_tick(struct thread *t, int signo, const struct siginfo *info);

/* The first descriptor from `first` to `last` that holds an event; UINT32_MAX: none does. */
uint32_t sampling_next_descriptor(uint32_t first, uint32_t last);
static inline bool
sampling_has_descriptor(uint32_t fd)
{
	return fd != UINT32_MAX && rt.sampling.n_events && sampling_next_descriptor(fd, fd) == fd;
}
/* Gives the event another number, because the program uses this one. Negative: there is none. */
long sampling_move_descriptor(uint32_t fd);

#endif
