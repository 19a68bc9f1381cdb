/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Progress points that Strobe infers from the selection (--progress auto): the block with which a
 * function begins that is executed often and regularly enough, and the system calls that complete
 * most often. Neither needs to be known to the user. They are marked with ST_BLOW_IS_INFERRED.
 */
#ifndef STROBE_BLOW_INFER_H
#define STROBE_BLOW_INFER_H

#include "blow/points.h"

#define ST_BLOW_INFER "auto"

/* Whether the function of a library completes a system call that transfers data. */
bool st_blow_is_transfer(const char *image, const char *name);
/* Marks at most one function and one that completes system calls, which are none of the user's
 * points. seconds: of the selection. named: the user has named the functions to be tried, so only
 * others are candidates. Returns the number of points. */
size_t st_blow_infer(struct st_blow *b, const struct st_blow_points *p, double seconds, bool named);

#endif
