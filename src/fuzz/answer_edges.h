/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of an answer (fuzz/answer.h) that has the edges between basic blocks.
 *
 * An edge is a branch and one of its targets, so its name does not depend on where the engine lets
 * blocks begin. Direct jumps and calls, and blocks that end with a system call, have one edge,
 * which is taken as often as the block is executed; the engine counts one edge of a conditional
 * branch, and each target of an indirect one and of a return.
 */
#ifndef STROBE_FUZZ_ANSWER_EDGES_H
#define STROBE_FUZZ_ANSWER_EDGES_H

#include "collect/view.h"
#include "fuzz/execute.h"

/* An edge in an answer: offsets in files, whose mappings have these numbers. */
struct st_answer_edge {
	uint64_t from, to, times;
	uint32_t from_image, to_image;
};

/* Writes the edges, and returns their number. executions: by block. left_out: whether the code of a
 * mapping is left out. */
uint64_t st_answer_write_edges(const struct st_view *view, const uint64_t *executions,
                               const bool *left_out, FILE *out);
/* Reads n edges of an answer into *out. images: numbers of the files, by mapping. ST_FAILED: no
 * memory, or they are damaged. */
st_status st_answer_take_edges(const struct st_answer_edge *edges, size_t n, const uint32_t *images,
                               size_t n_images, struct st_fuzz_places *places,
                               struct st_fuzz_execution *out);

#endif
