/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coverage by paths of the call graph. A path leads from a function without a caller to another
 * one; an execution has two numbers for each path: how often its last function was called on it,
 * and the instructions that this function itself executed then. A growth is the ratio of such a
 * number to that of the seeds.
 *
 * To both sides of a ratio a thousandth of all calls, or of all instructions, of the seeds is added
 * (at least 1). So a path that the seeds do not have has a ratio, too, and one that is of no weight
 * in the program cannot grow much.
 */
#ifndef STROBE_FUZZ_PATHS_H
#define STROBE_FUZZ_PATHS_H

#include "fuzz/execute.h"

struct st_fuzz_path_weight {
	uint64_t calls, instructions;
};

/* What the seeds do: the medians. */
struct st_fuzz_paths_base {
	ST_VEC(struct st_fuzz_path_weight) list; /* by path */
	double more_calls, more_instructions;    /* added to both sides of ratios */
};

/* From n seeds. ST_FAILED: no memory. */
st_status st_fuzz_paths_base_set(struct st_fuzz_paths_base *base,
                                 const struct st_fuzz_path_counts *const *seeds, size_t n);
void st_fuzz_paths_base_free(struct st_fuzz_paths_base *base);

/* parent: of the input's; NULL: it has none. */
struct st_fuzz_growth st_fuzz_paths_growth(const struct st_fuzz_paths_base *base,
                                           const struct st_fuzz_path_counts *x,
                                           const struct st_fuzz_path_counts *parent);
/* ST_FAILED: no memory. */
st_status st_fuzz_paths_copy(struct st_fuzz_path_counts *to,
                             const struct st_fuzz_path_counts *from);

#endif
