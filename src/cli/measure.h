/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured, and what comes of it: the same for run and attach. */
#ifndef STROBE_CLI_MEASURE_H
#define STROBE_CLI_MEASURE_H

#include <time.h>

#include "base/status.h"
#include "cli/progress.h"
#include "cli/result.h"
#include "cli/top.h"
#include "collect/held.h"
#include "collect/stacks.h"
#include "control/run.h"
#include "rows/rowfile.h"
#include "session/budget.h"
#include "session/contextlog.h"
#include "session/qos.h"
#include "session/region.h"
#include "session/sampling.h"
#include "session/toolset.h"
#include "session/unique.h"

/* As the command line asks for it. */
struct st_measure {
	struct st_toolset tools;
	struct st_region region;
	struct st_budget_choice budget;
	struct st_sampling_choice sampling;
	struct st_unique_choice unique;
	struct st_keep_choice keep; /* contexts */
	struct st_qos_choice qos;
	struct st_result result;
	struct st_top_choice top;
	long sample_hz;    /* -1: what the tools like */
	bool asks_servers; /* --debuginfod */
	uint32_t stress;
};

/* Where the rows of streams go: beside the profile, or where it would be. */
struct st_row_files {
	char *prefix;
	const char *tools[ST_MAX_TOOLS];
	struct st_row_writer *writer;
	struct st_row_sink sink;
};

/* Under way. Stays where it is: the options point to it. */
struct st_measuring {
	struct st_measure *what;
	struct st_progress progress;
	struct st_top top;
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
};

#define ST_MEASURE_DEFAULT                                                                         \
	(struct st_measure)                                                                        \
	{                                                                                          \
		.result = {.top = 15}, .sample_hz = -1                                             \
	}

/* Applies an option of ST_RESULT_OPTIONS or ST_MEASURE_OPTIONS. 0, or -1 with *e. */
st_status st_measure_option(struct st_measure *w, const char *name, const char *value,
                            struct st_error *e);
/* Asks whether the result will find a place, and fills m->options. pid: of a process that is there
 * already, else 0. follow: its children are taken along. 0, or -1 with *e. */
st_status st_measure_begin(struct st_measuring *m, struct st_measure *what, uint32_t pid,
                           bool follow, struct st_error *e);
/* The run is over: its result into a file and onto the terminal. 0, or -1 with *e. `argv`: the
 * program, `given`: strobe's own options, for the record. */
st_status st_measure_report(struct st_measuring *m, const struct st_run *run, char *const *argv,
                            const char *given, struct st_error *e);
void st_measure_end(struct st_measuring *m);
/* All of it, for a program: strobe's exit code. `argv`: strobe's own arguments, up to `program`. */
int st_measure_program(struct st_measure *what, char *const *argv, char *const *program,
                       bool follow);
/* The same for a process that is there already (attach.c), for so many seconds; 0: until a signal
 * comes, or it ends. */
int st_measure_process(struct st_measure *what, char *const *argv, long pid, double seconds);
/* The number of a process. 0, or -1 with *e. */
st_status st_measure_pid(const char *text, long *pid, struct st_error *e);
void st_measure_free(struct st_measure *what);

#endif
