/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The experiments of a command with --on, such as the runs of strobe blow, as tasks of a campaign.
 * For each task, a worker starts the same command with the user's options and with --experiment,
 * which makes this experiment alone and writes its result to the file of --output.
 *
 *	struct st_on_tasks t = {.tool = "blow", .command = argv, .program = program};
 *	st_on_tasks_open(&t, &place, identity, &e);
 *	st_on_tasks_plan(&t, experiment, reference, &e);   for each task, at any time
 *	st_on_tasks_take(&t, &path, &e);                   for each result, in the order of the
 *tasks st_on_tasks_close(&t, complete);                   also if st_on_tasks_open has failed
 */
#ifndef STROBE_CLI_ON_TASKS_H
#define STROBE_CLI_ON_TASKS_H

#include <limits.h>

#include "cli/on.h"

struct st_on_tasks {
	const char *tool;
	char *const *command; /* the user's words after "strobe TOOL" */
	char *const
	        *program; /* the words of the program, which end those of the command; or NULL */
	size_t planned;   /* all tasks that will be added; 0: this is not known */
	struct st_batch *batch; /* NULL: it is not open */
	struct st_on_nodes nodes;
	size_t taken; /* results so far */
	/* Private. */
	char strobe[PATH_MAX];
	char *identity;
	struct st_batch_options options;
};

/* Opens the campaign. identity: a text of everything that the results depend on, which is released
 * with the campaign; NULL: it could not be made, which is the error. 0, or -1 with *e. */
st_status st_on_tasks_open(struct st_on_tasks *t, const struct st_batch_place *place,
                           char *identity, struct st_error *e);
/* Adds a task: the command with further options (NULL-terminated), of which the word with the
 * number `output` is replaced by the path of the result. 0, or -1 with *e. */
st_status st_on_tasks_add(struct st_on_tasks *t, const char *const *further, size_t output,
                          struct st_error *e);
/* Adds a task: the command with "--experiment EXPERIMENT --reference FILE". experiment: malloc'ed,
 * and released in any case; NULL: memory is exhausted. reference: NULL if there is no file. 0, or
 * -1 with *e. */
st_status st_on_tasks_plan(struct st_on_tasks *t, char *experiment, const char *reference,
                           struct st_error *e);
/* Waits for the next result, which has an output or a reason; after a signal, it has neither. 0, or
 * -1 with *e. */
st_status st_on_tasks_wait(struct st_on_tasks *t, struct st_batch_result *r, struct st_error *e);
/* Waits for the next result and counts it for its node. *path: its file, malloc'ed; NULL after a
 * signal. 0, or -1 with *e, also if the experiment could not be made. */
st_status st_on_tasks_take(struct st_on_tasks *t, char **path, struct st_error *e);
/* Ends the workers. complete: all results are used. Returns the folder of the campaign, malloc'ed,
 * if it can be resumed. */
char *st_on_tasks_close(struct st_on_tasks *t, bool complete);

#endif
