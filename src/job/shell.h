/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shell commands of a job, such as those that build a version. */
#ifndef STROBE_JOB_SHELL_H
#define STROBE_JOB_SHELL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct st_job_shell {
	const char *folder; /* in which the commands run */
	const char *log;    /* takes their output; it is removed when none of them fails */
	/* Receives each command before it runs; may be NULL. */
	void (*show)(void *arg, const char *text);
	void *arg;
};

struct st_job_shell_end {
	const char *failed; /* the command that failed; NULL: none */
	int exit;           /* the exit code of that command */
	bool interrupted;   /* by a signal to strobe; the remaining commands were not run */
};

/* Runs the commands one after another until one fails. 0, or -1 with *e: one could not be run. */
st_status st_job_shell_run(const struct st_job_shell *s, const char *const *commands, size_t n,
                           struct st_job_shell_end *out, struct st_error *e);

#endif
