/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that put themselves under a seccomp filter. */
#ifndef STROBE_RT_OS_SANDBOX_H
#define STROBE_RT_OS_SANDBOX_H

#include "rt/rt.h"

enum sandbox_answer {
	SANDBOX_ALLOWS,
	SANDBOX_FORBIDS, /* the kernel answers in the filter's way, and does not execute the call */
	SANDBOX_ASKS,    /* another process decides whether the kernel executes it */
};

/* The verdict of the thread's filters on the system call at t->regs. */
enum sandbox_answer sandbox_ask(const struct thread *t);
/* Hands the thread over to native execution, its system call not begun. */
_Noreturn void sandbox_leave(struct thread *t);
/* Whether an engine that knows nothing of the thread's filters could live under them. */
bool sandbox_bears_engine(const struct thread *t);
/* seccomp, and prctl(PR_SET_SECCOMP). */
long sys_seccomp(struct thread *t);

#endif
