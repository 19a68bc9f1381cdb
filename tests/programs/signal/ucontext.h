/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Helpers of the signal tests: handlers in one line, registers of a ucontext by name. */
#ifndef STROBE_TESTS_SIGNAL_UCONTEXT_H
#define STROBE_TESTS_SIGNAL_UCONTEXT_H

#include "check.h"
#include <signal.h>
#include <ucontext.h>

typedef void handler(int sig, siginfo_t *info, void *context);

static inline void
handle(int sig, handler *h, int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = h;
	action.sa_flags = flags | SA_SIGINFO;
	sigemptyset(&action.sa_mask);
	CHECK(!sigaction(sig, &action, NULL), "sigaction(%d) failed", sig);
}

/* raise() without its promise to the compiler that no code of this file runs meanwhile. */
static inline void
raise_here(int sig)
{
	__asm__ volatile("" ::: "memory");
	raise(sig);
	__asm__ volatile("" ::: "memory");
}

static inline uint64_t
get_reg(void *context, int reg)
{
	return (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[reg];
}

static inline void
set_reg(void *context, int reg, uint64_t value)
{
	((ucontext_t *)context)->uc_mcontext.gregs[reg] = (long long)value;
}

#endif
