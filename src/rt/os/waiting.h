/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waits: how long threads were off the CPU in system calls, with the stacks of these calls.
 *
 * A call of a millisecond or more is recorded with its length. Shorter ones are sampled by their
 * time: it is gathered, and about once in a millisecond of it the call at hand gets what has been
 * gathered. So a quick call costs two readings of the time stamp counter and no more.
 *
 * A call may be long because the kernel works, or because other programs have the CPU. What a call
 * counts as waiting is therefore never more than the time in which the thread has been off the CPU
 * since its CPU clock was last read, and nothing if it has not left the CPU by itself since.
 */
#ifndef STROBE_RT_OS_WAITING_H
#define STROBE_RT_OS_WAITING_H

#include <asm/unistd.h>

#include "rt/rt.h"

/* The process begins; `on`: waits are recorded. */
void waiting_init(bool on);
/* The calling thread begins, or is the only one after a fork. */
void waiting_begin_thread(struct thread *t);
/* A sample has found the calling thread in the program's code: it did not wait just now. */
void waiting_tick(struct thread *t);
/* The system call that waiting_begin was called for has ended. */
void waiting_end_call(struct thread *t);
/* The calling thread leaves the engine, perhaps out of a system call. */
void waiting_leave(struct thread *t);
/* The process ends: the other threads have waited up to now. */
void waiting_end_all(struct thread *t);

/* The system call in t->regs; one that goes on after an attach has its own number again. */
static inline uint64_t
waiting_number(const struct thread *t)
{
	const uint64_t number = t->regs.r[RAX];
	return number == __NR_restart_syscall && t->restart ? t->restart : number;
}

/* The calling thread makes the system call in t->regs. */
static inline void
waiting_begin(struct thread *t)
{
	if (!rt.waiting.on || t->in_vfork || t->own_process)
		return;
	t->waiting.number = waiting_number(t);
	t->waiting.begin = rt_tsc();
}

static inline void
waiting_end(struct thread *t)
{
	if (t->waiting.begin && !t->in_vfork)
		waiting_end_call(t);
}

#endif
