/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_RT_OS_SIGDELIVER_H
#define STROBE_RT_OS_SIGDELIVER_H

#include "rt/frame.h"
#include "rt/jit/jit.h"
#include "rt/os/os.h"

/* Where a signal comes from. */
enum signal_kind {
	SIGNAL_SENT,
	SIGNAL_RAISED, /* by the instruction at t->regs.pc: executed again, it is raised again */
	SIGNAL_FORCED, /* by the kernel, or by us as the kernel would: neither blocked nor ignored
	                */
};

/*
 * Shows the signal to the program, which is at t->regs: its handler starts when the master handler
 * returns, or it dies as it would natively. blocked: the program blocks it.
 */
void deliver(struct thread *t, int signo, struct siginfo *info, struct ucontext64 *uc,
             enum signal_kind kind, bool blocked);

/* The instruction that the thread was to execute where it stands is over, or was interrupted. */
static inline void
step_end(struct thread *t, struct ucontext64 *uc)
{
	enum { FLAG_TRAP = 0x100 };
	if (!t->native.stepping)
		return;
	t->native.stepping = false;
	uc->mc.rflags = (uc->mc.rflags & ~(uint64_t)FLAG_TRAP) | (t->regs.rflags & FLAG_TRAP);
	if (t->native.step_blocked)
		uc->sigmask |= SIGNAL_BIT(SIGNAL_TRAP);
}

/* When the master handler returns, the runtime goes on with the program at t->regs. */
static inline void
resume_program(struct thread *t, struct ucontext64 *uc)
{
	step_end(t, uc);
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	/* A system call of the program's may have blocked them. */
	if (!(t->pending & PENDING_SIGNAL))
		uc->sigmask &= ~NEVER_BLOCKED;
	uc->mc.rip = (uint64_t)rt_stub_resume;
	uc->mc.rsp = t->rt_sp;
	uc->mc.rflags = 2;
}

#endif
