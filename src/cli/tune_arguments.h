/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arguments of strobe tune. */
#ifndef STROBE_CLI_TUNE_ARGUMENTS_H
#define STROBE_CLI_TUNE_ARGUMENTS_H

#include "base/status.h"
#include "batch/batch.h"
#include "cli/tune.h"

struct st_tune_far;

enum st_tune_mode { ST_TUNE_STUDY, ST_TUNE_BUDGET, ST_TUNE_THRESHOLD };

struct st_tune_arguments {
	enum st_tune_mode mode;
	struct st_study study; /* of a search: the program, the repetitions and the levels */
	struct st_tune_how how;
	struct st_qos_choice qos;
	/* NULL: not given. */
	const char *budgets, *periods, *policy, *program_file, *from, *output;
	struct st_batch_place place;
	const char *experiment, *reference;    /* of a worker; NULL: not given */
	struct st_tune_far *far;               /* NULL: there are no workers */
	char *const *command, *const *program; /* the user's words; those of the program, or NULL */
	bool json, quiet, help;
	bool variance; /* --anova */
	bool seeded;   /* --seed is given */
	bool measures; /* an option is given that only measuring has */
};

/* 0, or -1 with *e; the caller frees in both cases. */
st_status st_tune_parse(struct st_tune_arguments *a, char *const *argv, struct st_error *e);
/* tune_far.c: runs that workers make. Refuses options that cannot be used with --on. 0, or -1 with
 * *e. */
st_status st_tune_far_check(const struct st_tune_arguments *a, struct st_error *e);
/* Lets workers make the study, or the runs up to a signal. 0, or -1 with *e. The caller ends a->far
 * in both cases, when the result is written. */
st_status st_tune_far_study(struct st_tune_arguments *a, struct st_error *e);
/* The same of a search, which one worker makes. After a signal l is left as it is. */
st_status st_tune_far_limit(struct st_tune_arguments *a, struct st_limit *l, struct st_error *e);
/* Ends the campaign. complete: the result is written; otherwise prints how to resume it. NULL: does
 * nothing. */
void st_tune_far_end(struct st_tune_far *f, bool complete);
/* Makes the part of --experiment, and writes it to the file of --output. */
st_status st_tune_far_work(struct st_tune_arguments *a, struct st_error *e);
/* Writes the result of a worker's search to that file. */
st_status st_tune_far_found(const struct st_tune_arguments *a, const struct st_limit *l,
                            struct st_error *e);
void st_tune_arguments_free(struct st_tune_arguments *a);

#endif
