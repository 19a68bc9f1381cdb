/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that a job starts: in a process group of their own, with a time limit, and in the
 * environment that the job asks for. */
#ifndef STROBE_JOB_CHILD_H
#define STROBE_JOB_CHILD_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct st_child {
	char *const *argv;
	const char *folder;    /* that it runs in; NULL: the current one */
	const char *input;     /* NULL: /dev/null */
	const char *output;    /* its standard output, which begins empty; NULL: as strobe's */
	const char *errors;    /* its standard error, which is appended to; NULL: as strobe's */
	char *const *settings; /* NAME=VALUE, NULL-terminated; may be NULL */
	const cpu_set_t *cpus; /* NULL: as strobe */
	bool no_aslr;
	double timeout;  /* s; 0: none */
	bool to_its_end; /* also after a signal to strobe: it tidies up */
};

struct st_child_end {
	int exit; /* 128 plus the number of the signal that ended it */
	int signal;
	bool timed_out, interrupted; /* it was ended for that */
	double seconds, cpu_seconds; /* of it and the children that it waited for */
};

/* Runs it to its end. 0, or -1 with *e: it could not be run. */
st_status st_child_run(const struct st_child *c, struct st_child_end *out, struct st_error *e);
/* The same of a command for the shell. */
st_status st_child_shell(const struct st_child *c, const char *command, struct st_child_end *out,
                         struct st_error *e);

#endif
