/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of native execution of a thread and of the process: data that rt.h embeds. */
#ifndef STROBE_RT_NATIVE_THREAD_NATIVE_H
#define STROBE_RT_NATIVE_THREAD_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

struct thread_native {
	/* native_run.h */
	bool user_dispatch; /* the kernel raises SIGSYS for its system calls */
	bool calls_often;   /* it has made too many of them since the last tick */
	uint32_t calls;     /* how many */
	bool call_reported; /* one has come by SIGSYS and is to be made */
	bool in_call;       /* the one under way was made in native execution */
	/* os/leave.c */
	bool leave_asked;
	uint8_t leave_rounds; /* since then */
	/* os/world.c */
	bool stop_sent;    /* a signal that stops it is queued, as far as is known */
	bool shown;        /* it goes on natively, because the process is about to die */
	bool stepping;     /* it executes one instruction of the program where it stands */
	bool step_blocked; /* SIGTRAP was blocked before that */
};

struct rt_native {
	bool impossible;      /* the kernel cannot report system calls */
	bool has_breakpoints; /* native threads may come upon breakpoints: breakpoints.h */
	bool no_breakpoints;  /* there may be none any more. rt.lock */
	bool no_syspatches;   /* nor system-call patches: the process has its own code. rt.lock */
	bool leaving;         /* the controller is gone: every thread is on its way out */
	struct syspatches *syspatches;   /* syspatch.c; NULL: there are none */
	struct breakpoints *breakpoints; /* breakpoints.c; NULL: there are none */
};

#endif
