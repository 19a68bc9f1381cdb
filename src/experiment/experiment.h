/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executes a plan of many runs: variants, each repeated, in an order that favours none of them,
 * with limits, and with a journal from which an interrupted experiment continues.
 *
 * The functions of the caller define and run a variant. The result of a run is a line of text that
 * the caller writes; the caller receives it when the run has finished, or, if the journal has it
 * already, when the experiment is opened.
 *
 *	x = st_experiment_open(&plan, &runner, &e);   gives back what the journal has
 *	st_experiment_run(x, &end, &e);               executes what is left
 *	st_experiment_close(x);
 *
 * The journal is a text file that only grows: a line that says what experiment it is of, then a
 * line for each finished run, written at once and kept on disk before the next run begins. A last
 * line that was not written whole is dropped, and its run is executed again.
 */
#ifndef STROBE_EXPERIMENT_EXPERIMENT_H
#define STROBE_EXPERIMENT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* Each repetition has all variants, before the next one begins. */
enum st_experiment_order {
	ST_EXPERIMENT_IN_TURN, /* in the order of their numbers */
	ST_EXPERIMENT_RANDOM,  /* in an order of each repetition's own, which follows from the seed
	                        */
	ST_EXPERIMENT_GIVEN,   /* as the plan's function has it */
};

struct st_experiment_plan {
	size_t n_variants, n_repetitions;
	enum st_experiment_order order;
	uint64_t seed;
	/* With ST_EXPERIMENT_GIVEN: the variants of a repetition, each once. */
	void (*give_order)(void *arg, size_t repetition, size_t *variants);
	/* Limits of one call of st_experiment_run; 0: none. No run begins after them. */
	size_t most_runs;
	double most_seconds;
	const char *journal;  /* its path; NULL: none is kept */
	const char *identity; /* a line that says all that results depend on: a journal with
	                         another one is refused */
};

struct st_experiment_step {
	size_t variant, repetition;
	size_t run; /* its number in the order, from 0 */
};

struct st_experiment_runner {
	/* Executes a run and writes its result, a text without a newline. 0, or -1 with *e: then
	 * the experiment ends, and what it has stays. */
	int (*execute)(void *arg, const struct st_experiment_step *step, FILE *result,
	               struct st_error *e);
	/* Takes the result of a finished run, now executed or read from the journal. 0, or -1 with
	 * *e; may be NULL. */
	int (*take)(void *arg, const struct st_experiment_step *step, const char *result,
	            struct st_error *e);
	/* Whether to end, as after a signal. It is asked before and after each run; a run after
	 * which it says yes has not finished. May be NULL. */
	bool (*interrupted)(void *arg);
	void *arg; /* of all, also of give_order */
};

enum st_experiment_end {
	ST_EXPERIMENT_COMPLETE, /* all runs have finished */
	ST_EXPERIMENT_LIMITED,  /* a limit was reached */
	ST_EXPERIMENT_INTERRUPTED,
	ST_EXPERIMENT_FAILED,
};

struct st_experiment;

/* Reads the journal, if there is one, and hands its results to `take`, in its order. NULL with *e.
 * Plan and runner are copied; what they point to has to outlive the experiment. */
struct st_experiment *st_experiment_open(const struct st_experiment_plan *plan,
                                         const struct st_experiment_runner *runner,
                                         struct st_error *e);
/* Executes the runs that have not finished. 0, or -1 with *e; may be called again. */
st_status st_experiment_run(struct st_experiment *x, enum st_experiment_end *end,
                            struct st_error *e);
void st_experiment_close(struct st_experiment *x);

/* The number of runs of the plan, and of those that have finished. */
size_t st_experiment_runs(const struct st_experiment *x);
size_t st_experiment_finished(const struct st_experiment *x);
/* The run of this number in the order, and whether a run has finished. */
struct st_experiment_step st_experiment_step_at(const struct st_experiment *x, size_t run);
bool st_experiment_has_finished(const struct st_experiment *x,
                                const struct st_experiment_step *step);
/* A sentence on what was dropped from the journal when it was opened; NULL: nothing was. */
const char *st_experiment_dropped(const struct st_experiment *x);

#endif
