/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: where the process stands, how it ended, when. */
#ifndef STROBE_WIRE_RESULTS_RUN_H
#define STROBE_WIRE_RESULTS_RUN_H

#include <stdint.h>

enum st_run_state {
	ST_RUN_STARTING = 0, /* injected, runtime not entered yet */
	ST_RUN_CACHE = 1,    /* running under the engine */
	ST_RUN_EXITED = 2,   /* called exit_group; exit_code is valid */
	ST_RUN_EXECED = 3,   /* replaced itself by execve */
	ST_RUN_NATIVE = 4,   /* handed back to native execution for good */
	ST_RUN_KILLED = 5,   /* about to die of fatal_signal */
	ST_RUN_GOES_ON = 6,  /* in profiles: it outlived the program by more than was waited */
	ST_RUN_DETACHED = 7, /* was attached, and runs on natively */
};

/* Why the controller was not asked to follow an execve; ST_EXEC_FOLLOWED: it was, or need not be.
 */
enum st_exec_alone {
	ST_EXEC_FOLLOWED = 0,
	ST_EXEC_PRIVILEGED, /* the program is set-uid, or has file capabilities */
	ST_EXEC_SANDBOXED,  /* a seccomp filter would not let the engine begin */
};

struct st_run_results {
	uint32_t state;        /* enum st_run_state */
	uint32_t exec_alone;   /* enum st_exec_alone; when state is ST_RUN_EXECED */
	int32_t exit_code;     /* argument of exit_group when state is ST_RUN_EXITED */
	uint32_t fatal_signal; /* when state is ST_RUN_KILLED */
	uint64_t tsc_begin;    /* TSC when the runtime was entered */
	uint64_t tsc_end;      /* TSC when it was left; 0 while running or after a crash */
	uint64_t left_ns;      /* CPU time of the process, ns, when a thread of it first left the
	                          engine for good: by an execve that is not followed, or handed to native
	                          execution. 0: none did */
};

#endif
