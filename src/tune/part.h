/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a study that workers do in processes of their own: what a program does without a
 * budget, and each pair. A part is asked for by a line of text, and so is its result. */
#ifndef STROBE_TUNE_PART_H
#define STROBE_TUNE_PART_H

#include "tune/run.h"

/* What is asked of a worker: malloc'ed; NULL: no memory. */
char *st_tune_ask_program(size_t program);
char *st_tune_ask_pair(const struct st_study_step *step, size_t repetition);
/* Does the part and writes its result. reference: the result for the program of a pair, a file;
 * NULL for a part that is of a program alone. 0, or -1 with *e. */
st_status st_tune_part(struct st_study *s, struct st_tune_how *how, const char *asked,
                       const char *reference, FILE *out, struct st_error *e);
/* Reads a result from its file. 0, or -1 with *e. */
st_status st_tune_take_program(struct st_study *s, size_t program, const char *path,
                               struct st_error *e);
st_status st_tune_take_pair(struct st_study *s, const char *path, struct st_error *e);

#endif
