/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a study that workers make: the runs of a program without a budget, and each pair. A
 * line of text describes a part, and the result is text, too. */
#ifndef STROBE_TUNE_PART_H
#define STROBE_TUNE_PART_H

#include "tune/run.h"

/* The line for the runs of a program without a budget, and for a pair: malloc'ed; NULL: memory is
 * exhausted. */
char *st_tune_ask_program(size_t program);
char *st_tune_ask_pair(const struct st_study_step *step, size_t repetition);
/* Makes the part of the line `asked` and writes its result. reference: for a pair, the file of the
 * result of its program. 0, or -1 with *e. */
st_status st_tune_part(struct st_study *s, struct st_tune_how *how, const char *asked,
                       const char *reference, FILE *out, struct st_error *e);
/* Reads a result from its file. 0, or -1 with *e. */
st_status st_tune_take_program(struct st_study *s, size_t program, const char *path,
                               struct st_error *e);
st_status st_tune_take_pair(struct st_study *s, const char *path, struct st_error *e);

#endif
