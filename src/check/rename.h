/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that have another name in the newer version: two functions, each on one side only, are
 * one function if they have the same code and no other function has it.
 *
 * The code of a function is known by its basic blocks that were executed: where each begins in the
 * function, how long it is, how many instructions it has and how it ends. Functions with less code
 * than ST_RENAME_LEAST instructions are too much alike, so they are never matched.
 */
#ifndef STROBE_CHECK_RENAME_H
#define STROBE_CHECK_RENAME_H

#include "check/subject.h"

enum { ST_RENAME_LEAST = 12 };

/* A hash of the code of each function of the profile; 0: unknown, or too little code. malloc'ed;
 * NULL: memory is exhausted. */
uint64_t *st_rename_codes(const struct st_profile *p);

/* Joins subjects of one image and metric. ST_FAILED: memory is exhausted. */
st_status st_check_join_renamed(struct st_check_subjects *s);

#endif
