/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What interrupts a thread after some CPU time, so that it is sampled: a timer of its CPU clock, on
 * which the kernel looks only at its own tick, or, for more samples than that allows, a perf event.
 * Perf events are descriptors of the process, which the program does not see.
 */
#ifndef STROBE_RT_OS_SAMPLING_H
#define STROBE_RT_OS_SAMPLING_H

#include "rt/rt.h"

/* The thread begins: it is not sampled yet. */
void sampling_reset(struct thread *t);
/* The calling thread is sampled from now on; it is not any more. */
void sampling_start(struct thread *t);
void sampling_stop(struct thread *t);
/* Between the two no sample comes: SIGNAL_OWN is blocked, and a signal descriptor would show it. */
void sampling_suspend(struct thread *t);
void sampling_resume(struct thread *t);
/* The same around an execve, at which a timer ends by itself. Every signal is blocked. */
void sampling_exec_begin(struct thread *t);
void sampling_exec_failed(struct thread *t);
/* A fork's child, which is its only thread: the parent's events are none of its own. shared: so are
 * the descriptors of the parent. */
void sampling_leave_parent(struct thread *t, bool shared);

/* Is it a perf event's tick? */
bool sampling_is_tick(int signo, const struct siginfo *info);
/* One has come; and it has been dealt with: the next may. */
void sampling_take_tick(struct thread *t);
void sampling_rearm(struct thread *t);
/* The kernel has sent SIGIO, as it does in place of a tick where too many signals are pending. True
 * when that is so: the program must not see it. */
bool sampling_is_lost_tick(struct thread *t, int signo, const struct siginfo *info);

/* The first descriptor from `first` to `last` that holds an event; UINT32_MAX: none does. */
uint32_t sampling_next_descriptor(uint32_t first, uint32_t last);
static inline bool
sampling_has_descriptor(uint32_t fd)
{
	return fd != UINT32_MAX && rt.sampling.n_events && sampling_next_descriptor(fd, fd) == fd;
}
/* The program wants that number: the event gets another one. Negative: there is none. */
long sampling_move_descriptor(uint32_t fd);

#endif
