/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: where native execution was the way out. */
#ifndef STROBE_WIRE_RESULTS_FALLBACKS_H
#define STROBE_WIRE_RESULTS_FALLBACKS_H

#include <stdint.h>

enum { ST_MAX_FALLBACKS = 256 };

/* Why a thread or process was handed to native execution. */
enum st_fallback_cause {
	ST_FALLBACK_NONE = 0,
	ST_FALLBACK_FAR,         /* far jump, far call, far return or iret */
	ST_FALLBACK_GS,          /* the program uses the GS base itself */
	ST_FALLBACK_INT,         /* int n, sysenter: a system call the engine cannot see */
	ST_FALLBACK_VFORK_CHILD, /* child left alone between vfork and exec (always without
	                            --follow) */
	ST_FALLBACK_FORK_CHILD,  /* child left alone after fork (always without --follow) */
	ST_FALLBACK_RESOURCES,   /* the runtime could not get memory or a thread slot */
	ST_FALLBACK_NOEXEC,      /* jumped to memory the engine does not know as executable */
	ST_FALLBACK_SECCOMP,     /* a sandbox that leaves the engine no system calls */
	ST_FALLBACK_TRACED,      /* PTRACE_TRACEME: its parent is its debugger */
};

struct st_fallback {
	uint64_t pc;    /* program address where it happened */
	uint32_t cause; /* enum st_fallback_cause */
	uint32_t count;
};

struct st_fallback_results {
	uint32_t n;
	struct st_fallback v[ST_MAX_FALLBACKS];
};

#endif
