/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call stacks of a run: each sample's copied stack is unwound while the program runs, and what
 * is kept is a tree of the places that were on them.
 */
#ifndef STROBE_COLLECT_STACKS_H
#define STROBE_COLLECT_STACKS_H

#include <stdbool.h>

#include "base/vec.h"
#include "collect/stacktree.h"
#include "wire/results/header.h"

struct st_stacks;

/* NULL when memory is exhausted. The caller frees. */
struct st_stacks *st_stacks_new(void);
void st_stacks_free(struct st_stacks *stacks);
/* For st_run_options.on_stack; arg is the st_stacks. */
void st_stacks_take(void *arg, const struct st_results_header *results, const struct st_stack *s,
                    const unsigned char *bytes);

/* For st_run_options.on_moved. */
void st_stacks_moved(void *arg, const struct st_results_header *from,
                     const struct st_results_header *to);

/* A place on a stack: a program address in a mapping, at an instruction, not behind a call. */
struct st_frame {
	uint64_t pc;
	uint32_t map;
};

struct st_process_stacks {
	const struct st_results_header *results;
	ST_VEC(struct st_frame) frames;
	struct st_stack_tree tree; /* its frames are indices of `frames` */
};

/* The stacks of a process, or NULL when none were seen. */
const struct st_process_stacks *st_stacks_of(const struct st_stacks *stacks,
                                             const struct st_results_header *results);

#endif
