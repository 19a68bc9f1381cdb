/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of studies and searches: natively, and under the engine in a process of their own. */
#ifndef STROBE_TUNE_RUN_H
#define STROBE_TUNE_RUN_H

#include <limits.h>
#include <sys/types.h>

#include "base/status.h"
#include "coverage/covered.h"
#include "session/session.h"
#include "tune/limit.h"
#include "tune/study.h"

/* The options of runs, and the callback for their progress. */
struct st_tune_how {
	/* The run under way, as a line in the place of the one before, NULL: the line is erased;
	 * and a sentence of something that went wrong. */
	void (*show)(void *arg, const char *line);
	void (*say)(void *arg, const char *sentence);
	void *arg;
	struct st_session session;  /* tools and policy; all but the budget, which a run has */
	const char *input, *output; /* the programs' standard input and output */
	double length; /* seconds after which a program and its children get SIGTERM, and SIGKILL
	                  a little later; 0: never */
	char folder[PATH_MAX];      /* for the files of a run; emptied after each run */
	char result[PATH_MAX + 16]; /* a file in it */
};

/* The outcome of a run. */
struct st_tune_run {
	int exit_code;
	struct st_study_time time;
	uint64_t instructions; /* of those that the reference has, how many were measured */
	uint64_t raw;
	struct st_quality quality; /* when it was asked for */
	pid_t group;               /* of what may be left of it; 0: whatever is may stay */
};

/* The settings of a measured run. */
struct st_tune_asked {
	double budget, period;              /* budget 0: none */
	const char *log;                    /* not NULL: --unique-log */
	const struct st_covered *reference; /* NULL: there is none yet */
	const struct st_qos_choice *qos;    /* NULL: nothing is watched */
};

/* One native run, and one under the engine in a child process. 0, or -1 with *e. */
st_status st_tune_native(const struct st_tune_how *how, const struct st_tune_asked *asked,
                         char *const *argv, struct st_tune_run *out, struct st_error *e);
int st_tune_measured(struct st_tune_how *how, const struct st_tune_asked *asked, char *const *argv,
                     struct st_tune_run *out, struct st_error *e);
/* One without a budget that finds which instructions are executed at all. 0, or -1 with *e; the
 * caller frees the reference in both cases. */
st_status st_tune_refer(struct st_tune_how *how, char *const *argv, struct st_covered *reference,
                        uint64_t *instructions, struct st_tune_run *out, struct st_error *e);
/* Of the instructions that the reference has, how many the log has. 0, or -1 with *e. */
st_status st_tune_covered(const struct st_covered *reference, const char *log,
                          uint64_t *instructions, struct st_error *e);
/* Removes what runs with a log have left in the folder. */
void st_tune_clear(const struct st_tune_how *how);
/* From now on signals that end strobe tune go to the run under way, too; and orphans of runs that
 * are to be ended are ours. */
void st_tune_watch_signals(const struct st_tune_how *how);
/* The first that came; 0: none has. */
int st_tune_interrupted(void);

/* tune/quality.c: opens what watches a native run; what the source said in a run that is over. 0,
 * or -1 with *e. */
st_status st_tune_watch(struct st_qos **q, const struct st_tune_asked *asked, struct st_error *e);
st_status st_tune_quality(const struct st_qos *q, struct st_quality *out, struct st_error *e);

/* Does all runs of a study whose programs and levels are set, or those up to a signal: then
 * study->complete is not set. 0, or -1 with *e. */
st_status st_tune_study(struct st_study *s, struct st_tune_how *how, struct st_error *e);

/* A part of the study: the runs of a program without a budget, which fill the reference, or a pair,
 * which is compared with the reference. 0, or -1 with *e, also after a signal. */
st_status st_tune_program(struct st_study *s, struct st_tune_how *how, size_t program,
                          struct st_covered *reference, struct st_error *e);
st_status st_tune_pair(struct st_study *s, struct st_tune_how *how,
                       const struct st_study_step *step, size_t repetition,
                       struct st_covered *reference, struct st_study_pair *out, struct st_error *e);

/* The same for a search, whose fields up to the repetitions are set. */
int st_tune_limit(struct st_limit *l, struct st_tune_how *how, const struct st_qos_choice *qos,
                  char *const *argv, struct st_error *e);

#endif
