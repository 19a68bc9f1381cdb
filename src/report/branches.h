/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts of conditional branches, taken and not taken, for annotated functions: from the table of
 * the tool branches, if the profile has it. */
#ifndef STROBE_REPORT_BRANCHES_H
#define STROBE_REPORT_BRANCHES_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/vec.h"
#include "profile/profile.h"

struct st_branch {
	uint32_t image, function; /* function: UINT32_MAX: none has it */
	uint64_t offset, taken, not_taken;
};

struct st_branches {
	ST_VEC(struct st_branch) v; /* by image and offset, each once */
};

/* -1: memory is exhausted. A profile without such a table has no branches. */
st_status st_branches_open(struct st_branches *b, const struct st_profile *p);
void st_branches_close(struct st_branches *b);
/* The index of the first branch of the image at or after the offset; *end receives the index after
 * the last one before `limit`. */
size_t st_branches_from(const struct st_branches *b, uint32_t image, uint64_t offset,
                        uint64_t limit, size_t *end);
/* Prints "taken 99,999 of 100,000 times". */
void st_branch_print(const struct st_branch *branch, FILE *out);

#endif
