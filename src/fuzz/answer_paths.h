/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of an answer (fuzz/answer.h) that has the paths of the call graph: the forest of the
 * tool `contexts`, without what the dynamic linker did and without code that is in no file. */
#ifndef STROBE_FUZZ_ANSWER_PATHS_H
#define STROBE_FUZZ_ANSWER_PATHS_H

#include "collect/view.h"
#include "fuzz/execute.h"

/* A path in an answer. */
struct st_answer_path {
	uint64_t offset; /* of the last function, in its file */
	uint64_t calls, instructions;
	uint32_t image;  /* number of the function's mapping */
	uint32_t parent; /* 1 + the number of the caller's path, which stands before; 0: none */
};

/* Writes the paths, and their number into *n. left_out: whether the code of a mapping is left out.
 * ST_FAILED: no memory. */
st_status st_answer_write_paths(const struct st_view *view, const bool *left_out, FILE *out,
                                uint64_t *n);
/* Takes n of them over. images: numbers of the files, by mapping. ST_FAILED: no memory, or they are
 * damaged. */
st_status st_answer_take_paths(const struct st_answer_path *paths, size_t n, const uint32_t *images,
                               size_t n_images, struct st_fuzz_places *places,
                               struct st_fuzz_path_counts *out);

#endif
