/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One measurement as data: what is measured, how, and where the result goes. Commands fill it in
 * and listen while it runs; they do not run it themselves.
 *
 *	st_session_begin -> st_session_execute -> st_session_collect -> st_session_output_save
 *	-> st_session_end
 */
#ifndef STROBE_SESSION_SESSION_H
#define STROBE_SESSION_SESSION_H

#include <time.h>

#include "base/status.h"
#include "collect/held.h"
#include "collect/stacks.h"
#include "control/run.h"
#include "rows/rowfile.h"
#include "session/budget.h"
#include "session/contextlog.h"
#include "session/output.h"
#include "session/qos.h"
#include "session/region.h"
#include "session/sampling.h"
#include "session/toolset.h"
#include "session/unique.h"

struct st_session {
	/* The subject: a program, or a running process if pid is not 0. */
	char *const *program; /* its arguments; of a process those that it was started with */
	pid_t pid;
	double seconds; /* of a process: how long; 0: until a signal comes, or it ends */
	bool follow;    /* children of the program are measured, too */
	bool own_group; /* the program begins a process group, which ends with it */
	struct st_toolset tools;
	struct st_region region;
	/* The kind of measurement. */
	struct st_budget_choice budget;
	struct st_sampling_choice sampling;
	struct st_unique_choice unique;
	struct st_keep_choice keep; /* contexts */
	struct st_qos_choice qos;
	long sample_hz;    /* -1: what the tools ask for */
	bool asks_servers; /* for debug information, which may take long */
	uint32_t stress;
	/* The result. */
	struct st_session_output output;
	const char *given; /* the options as the user wrote them, for the record; may be NULL */
};

#define ST_SESSION_DEFAULT                                                                         \
	{                                                                                          \
		.sample_hz = -1                                                                    \
	}

/* Where the rows of streams go: beside the profile, or where it would be. */
struct st_row_files {
	char *prefix;
	const char *tools[ST_MAX_TOOLS];
	struct st_row_writer *writer;
	struct st_row_sink sink;
};

/* They lie beside the result, if that is a file. *rows stays where it is; without memory it has no
 * writer. */
void st_session_open_rows(struct st_row_files *rows, const struct st_session *w);
void st_session_close_rows(struct st_row_files *rows);

/* A session under way. It stays where it is: the options of the run point to it. */
struct st_session_run {
	struct st_session *session;
	struct st_stacks *stacks;
	struct st_row_files rows;
	struct st_unique unique;
	struct st_keep keep;
	struct st_held_look held;
	struct st_ahead *ahead; /* NULL: symbols are read at the end */
	struct timespec start;
	uint32_t hz;
	bool keep_blocks;
	struct st_run_options options;
	struct st_run run;
};

/* Callbacks during the run; see struct st_run_options. Any may be NULL. */
struct st_session_listener {
	void (*progress)(void *arg, const struct st_process *processes, size_t n, double elapsed);
	void (*pause)(void *arg, bool begins);
	void *arg; /* of these two */
	void (*attached)(size_t threads, double seconds);
};

struct st_session_outcome {
	struct st_profile *profile; /* the caller frees */
	size_t missing, n_missing;  /* notes that name what was asked for and is not there */
	const char *unmatched;      /* option that nothing in the program fits, so that nothing was
	                               measured; NULL: there is none */
};

/* Asks whether the result will find a place, and makes the options of the run. 0, or -1 with *e;
 * then there is nothing to end. */
st_status st_session_begin(struct st_session_run *r, struct st_session *session,
                           struct st_error *e);
void st_session_listen(struct st_session_run *r, const struct st_session_listener *l);
/* Starts the program, or takes the process, and waits until it is over. 0, or -1 with *e. */
st_status st_session_execute(struct st_session_run *r, struct st_error *e);
/* The profile of the run. 0, or -1 with *e. */
st_status st_session_collect(struct st_session_run *r, struct st_session_outcome *out,
                             struct st_error *e);
/* The number of the program's process; 0: there was none. */
uint32_t st_session_pid(const struct st_session_run *r);
void st_session_end(struct st_session_run *r);
void st_session_free(struct st_session *session);

#endif
