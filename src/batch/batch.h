/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A batch: commands that a loop of strobe hands to the workers of a campaign, on this machine or on
 * the nodes of a cluster, and whose results it takes in the order that it wants. Each task is one
 * or several runs of commands, which one worker executes one after another on the same CPU.
 *
 *	st_batch_open(&b, &options, &e);
 *	st_batch_add(b, st_batch_task_new(), &number, &e);   for each task, at any time
 *	st_batch_wait(b, number, &result, &e);               for each result that is wanted
 *	st_batch_close(b, complete);
 *
 * The tasks are lines of the file `tasks` in the folder of the campaign. If a batch is
 * opened again in the same folder, with the same identity and tasks, it has the earlier results.
 */
#ifndef STROBE_BATCH_BATCH_H
#define STROBE_BATCH_BATCH_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What the options --on, --campaign, --lease and --noise say. */
struct st_batch_place {
	const char *on; /* NULL: no campaign, the loop runs its commands itself */
	const char
	        *campaign; /* the folder; NULL: a new one, which is removed after the last result */
	double lease;      /* s */
	double noise;      /* a share; 0: no calibration */
	const char *noise_option; /* "--noise" or "--node-noise" */
	bool lease_set;
	const char *noise_set; /* the name of the option; NULL: it was not given */
};
#define ST_BATCH_PLACE(option)                                                                     \
	{                                                                                          \
		.lease = 60, .noise = 0.05, .noise_option = (option)                               \
	}

struct st_batch_options {
	struct st_batch_place place;
	const char *strobe;   /* the program */
	const char *tool;     /* the loop: "gate" */
	const char *identity; /* what all results depend on, apart from the tasks themselves */
	/* The words of the user after "strobe TOOL", and further options that make the command the
	 * same when it is given again, as the seed. They are put before those of the user. */
	char *const *command;
	const char *const *further; /* NULL-terminated; may be NULL */
	const cpu_set_t *cpus;      /* that the workers of this machine may use; NULL: all */
	size_t planned;             /* all tasks that the loop will add; 0: it does not know yet */
};

struct st_batch;

/* Whether the text, which --on takes, means Slurm. 0, or -1 with *e (usage). */
st_status st_batch_is_slurm(const char *on, bool *slurm, struct st_error *e);

/* The number of workers that --on asks for; 0: only Slurm knows. */
size_t st_batch_workers(const char *on);

/* Creates the campaign, or continues it. Its workers start with the first st_batch_wait. 0, or -1
 * with *e. */
st_status st_batch_open(struct st_batch **b, const struct st_batch_options *o, struct st_error *e);
/* Adds a task, and releases it, also on failure. Tasks have the numbers 0, 1, .. */
st_status st_batch_add(struct st_batch *b, json_t *task, size_t *number, struct st_error *e);
/* Skips the tasks so far from the number `from` on, whose results are not needed. */
st_status st_batch_skip(struct st_batch *b, size_t from, struct st_error *e);

/* The result of a task. */
struct st_batch_run {
	int exit, signal;          /* as in struct st_timing_run */
	double wall, user, system; /* ns */
};
struct st_batch_result {
	struct st_batch_run *runs; /* up to the first one that failed; malloc'ed */
	size_t n;
	char *reason; /* why a run could not be executed; NULL: all could */
	char *worker;
	char *output; /* the file that the last run has made; NULL: it makes none */
};
void st_batch_result_free(struct st_batch_result *r);
/* Waits for the result of a task. 0; or -1 with *e: the campaign cannot continue. After a signal,
 * or when the campaign was cancelled, st_timing_interrupted returns the signal, and *r is empty. */
st_status st_batch_wait(struct st_batch *b, size_t number, struct st_batch_result *r,
                        struct st_error *e);
/* A file of the loop in the folder of the campaign: its path, malloc'ed; NULL: memory is exhausted.
 */
char *st_batch_file(const struct st_batch *b, const char *name);
/* The key of the machines of the workers, malloc'ed; NULL: no worker has been admitted. */
char *st_batch_machine(const struct st_batch *b);
/* Ends the workers. complete: the loop needs no further result; then a folder that the user has not
 * named is removed. Otherwise returns the folder, malloc'ed, if it can be resumed. */
char *st_batch_close(struct st_batch *b, bool complete);

/* ---- tasks: task.c ---- */

/* A task without runs. NULL: memory is exhausted, also below, where a task may be NULL. */
json_t *st_batch_task_new(void);
/* Its standard output and standard error are discarded, except for the messages of a strobe. */
struct st_batch_command {
	char *const *argv;
	const char *folder;  /* NULL: the current one */
	const char *input;   /* NULL: nothing */
	const char *setting; /* NAME=VALUE for the environment; NULL: none */
	/* Of a command of strobe itself, which writes its result to a file: the number of the word
	 * that the worker replaces by the path of this file; 0: none. Without the file, the run
	 * could not be executed, and what strobe says is the reason. */
	size_t output;
};
/* Adds a run. Returns false if a text is not UTF-8, or memory is exhausted. */
bool st_batch_task_run(json_t *task, const struct st_batch_command *c);
/* Its runs take one CPU, chosen by this number where the worker has several. */
void st_batch_task_pin(json_t *task, uint64_t random);

/* ---- identity: identity.c ---- */

/* The words of a command and, of those that name a program or a script, size and time of the
 * file: the command is another one when it was built or edited again. folder: that it runs in;
 * NULL: the current one. NULL: a word is not UTF-8, or memory is exhausted. */
json_t *st_batch_command_identity(char *const *words, const char *folder);
/* The same of a file that the command reads. NULL: there is none, or memory is exhausted. */
json_t *st_batch_file_identity(const char *path);

/* ---- workers: work.c ---- */

/* A worker of the campaign in a folder, on a CPU or, with -1, on all. 0, or -1 with *e: this node
 * cannot work. */
st_status st_batch_work(const char *folder, int cpu, struct st_error *e);
/* Whether a campaign is a batch. */
bool st_batch_is(const json_t *about);

#endif
