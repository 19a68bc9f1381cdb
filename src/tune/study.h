/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The study of the budget's two parameters, B and T: the plan of its runs, what they came to, and
 * its file (docs/notes/tune.md).
 */
#ifndef STROBE_TUNE_STUDY_H
#define STROBE_TUNE_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/vec.h"

enum {
	ST_STUDY_LEVELS = 16,    /* of budgets, and of periods, at most */
	ST_STUDY_PROGRAMS = 256, /* at most */
	ST_STUDY_REPEAT = 1000,  /* at most */
};

/* The times of a run in seconds. */
struct st_study_time {
	double wall, cpu;
};

/* A native run, and one of the same program beside it that measures with a budget. */
struct st_study_pair {
	size_t program, budget, period, repetition;
	struct st_study_time native, measured;
	uint64_t instructions; /* of those that the reference has, how many were measured */
	uint64_t raw;          /* how often instructions were measured */
};

/* A program of the study, and what it does without a budget. */
struct st_study_program {
	char **argv;
	int exit_code;
	struct st_study_time native, measured;
	uint64_t instructions; /* that it executes at all */
	uint64_t raw;          /* how often it executes instructions */
};

struct st_study {
	char *tool;   /* as -t has it */
	char *policy; /* as --budget-policy has it */
	uint64_t seed;
	size_t repeat;
	bool complete; /* else it was ended before its last run */
	size_t n_budgets, n_periods;
	double budgets[ST_STUDY_LEVELS]; /* shares of the period */
	double periods[ST_STUDY_LEVELS]; /* seconds */
	ST_VEC(struct st_study_program) programs;
	ST_VEC(struct st_study_pair) pairs; /* in the order of their runs */
};

void st_study_free(struct st_study *s);

/* Adds a program, whose words are copied. NULL: no memory. */
struct st_study_program *st_study_add_program(struct st_study *s, char *const *argv);

/* Its words with blanks between them, malloc'ed; NULL: no memory. */
char *st_study_command(const struct st_study_program *p);

/* The pairs of one repetition: each combination once. */
size_t st_study_steps(const struct st_study *s);
/* Whole repetitions that have been measured: the others are not analysed. */
size_t st_study_repetitions(const struct st_study *s);

/* A pair that is to be measured. */
struct st_study_step {
	size_t program, budget, period;
	bool native_first;
};
/* The st_study_steps of a repetition in a random order that follows from the seed. */
void st_study_plan(const struct st_study *s, size_t repetition, struct st_study_step *steps);

/* A pair as a line of text, to the last bit, and back. False: the text is no pair. */
void st_study_write_pair(const struct st_study_pair *pair, FILE *out);
bool st_study_read_pair(struct st_study_pair *pair, const char *text);

/* Reads what st_study_json (tune/analysis.h) has written. 0, or -1 with *e; the caller frees in
 * both cases. */
st_status st_study_load(struct st_study *s, const char *path, struct st_error *e);

#endif
