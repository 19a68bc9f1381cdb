/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that fill in a session, and what is shown of it: the same for run, paths and attach.
 */
#ifndef STROBE_CLI_MEASURE_H
#define STROBE_CLI_MEASURE_H

#include "base/status.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/top.h"
#include "session/session.h"

/* The outcome of a measurement. */
struct st_measured {
	struct st_session_outcome outcome;
	uint32_t pid;  /* of the program; 0: there was none */
	int exit_code; /* that strobe ends with */
};

/* As the command line asks for it. */
struct st_measure {
	struct st_session session;
	struct st_result result;
	struct st_top_choice top;
	const char *collector; /* for the name of the result; NULL: the tools */
	char *name;            /* of the result, if -o has a template */
	/* Measures what the session describes, in place of st_session_execute; NULL: the session
	 * is run. 0, or -1 with *e. */
	st_status (*by)(void *arg, struct st_measured *out, struct st_error *e);
	void *by_arg;
};

#define ST_MEASURE_DEFAULT                                                                         \
	(struct st_measure)                                                                        \
	{                                                                                          \
		.session = ST_SESSION_DEFAULT, .result = {.top = 15 }                              \
	}

/* Applies an option of ST_RESULT_OPTIONS or ST_MEASURE_OPTIONS. 0, or -1 with *e. */
st_status st_measure_option(struct st_measure *w, const char *name, const char *value,
                            struct st_error *e);
/* Runs the session and shows what came of it: strobe's exit code. attached: called once a process
 * is under the engine; may be NULL. */
int st_measure_session(struct st_measure *w, void (*attached)(size_t threads, double seconds));
/* The same of the session's program. `argv`: strobe's own arguments, up to the program. */
int st_measure_program(struct st_measure *w, char *const *argv);
/* The same for a process that is there already (attach.c), for that many seconds; 0: until a signal
 * comes, or it ends. */
int st_measure_process(struct st_measure *w, char *const *argv, long pid, double seconds);
/* Refuses a program beside a process, --follow of a process, and the absence of both. command: the
 * name of the command of strobe, for messages. */
st_status st_measure_check_source(const struct st_measure *w, long pid, const char *command,
                                  struct st_error *e);
/* The number of a process. 0, or -1 with *e. */
st_status st_measure_pid(const char *text, long *pid, struct st_error *e);
/* The command that a process was started with, as a list; the caller frees it and its first
 * element. NULL: no memory. */
char **st_measure_command(long pid);
void st_measure_free(struct st_measure *w);

#endif
