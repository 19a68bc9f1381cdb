/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strobe tune: from the command line to the runs of a study. */
#ifndef STROBE_CLI_TUNE_H
#define STROBE_CLI_TUNE_H

#include "cli/measure.h"
#include "profile/covered.h"
#include "tune/study.h"

/* How programs are run. */
struct st_tune_how {
	struct st_measure measure;  /* tools and policy; all but the budget, which a run has */
	const char *input, *output; /* the programs' standard input and output */
	bool follow;                /* children are taken along */
	char folder[64];            /* for what a run leaves behind; emptied after each */
};

/* What came of a run. */
struct st_tune_run {
	int exit_code;
	struct st_study_time time;
	uint64_t instructions; /* of those that the reference has, how many were measured */
	uint64_t raw;
};

/* What a run is to be measured with. */
struct st_tune_asked {
	double budget, period;              /* budget 0: none */
	const char *log;                    /* not NULL: --unique-log */
	const struct st_covered *reference; /* NULL: there is none yet */
};

/* One native run, one under the engine in a process of its own. 0, or -1 with *e. */
int st_tune_native(const struct st_tune_how *how, char *const *argv, struct st_tune_run *out,
                   struct st_error *e);
int st_tune_measured(struct st_tune_how *how, const struct st_tune_asked *asked, char *const *argv,
                     struct st_tune_run *out, struct st_error *e);
/* From now on signals that end strobe tune go to the run under way, too. */
void st_tune_watch_signals(void);
/* The first that came; 0: none has. */
int st_tune_interrupted(void);

/* Does all runs of a study whose programs and levels are set, or those up to a signal: then
 * study->complete is not set. 0, or -1 with *e. */
int st_tune_study(struct st_study *s, struct st_tune_how *how, bool quiet, struct st_error *e);

/* Adds the programs that a file lists, a command on each line. 0, or -1 with *e. */
int st_tune_programs(struct st_study *s, const char *path, struct st_error *e);
/* Splits a line into words, in place: '...' and "..." hold blanks, \ takes what follows as it is.
 * At most `room` words; their number, or -1: a quote is not closed, or there are too many. */
int st_tune_words(char *line, char **words, int room);

#endif
