/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef STROBE_RT_SIGDELIVER_H
#define STROBE_RT_SIGDELIVER_H

#include "rt/jit/jit.h"
#include "rt/os/frame.h"
#include "rt/os/os.h"

/*
 * Shows the signal to the program, which is at t->regs: its handler starts when the master handler
 * returns, or it dies as it would natively. fault: raised by the instruction at t->regs.pc.
 */
void deliver(struct thread *t, int signo, struct siginfo *info, struct ucontext64 *uc, bool fault);

/* When the master handler returns, the runtime goes on with the program at t->regs. */
static inline void
resume_program(struct thread *t, struct ucontext64 *uc)
{
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	uc->mc.rip = (uint64_t)rt_stub_resume;
	uc->mc.rsp = t->rt_sp;
	uc->mc.rflags = 2;
}

#endif
