/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study that was made up, and what its runs came to. */
#ifndef TESTS_TUNE_STUDY_H
#define TESTS_TUNE_STUDY_H

#include "tune/analysis.h"

/* Two budgets, 2 and 25 %, two periods, 0.25 and 4 s; each program executes 100 instructions at
 * all, 1000 times in all, and takes a second natively. Runs in the order of their plan; `respond`
 * sets what each took and found. */
void study_make(struct st_study *s, size_t programs, size_t repeat,
                void (*respond)(struct st_study_pair *pair));

#endif
