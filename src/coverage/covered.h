/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The union of logs of measured code: instructions, blocks, functions. */
#ifndef STROBE_COVERAGE_COVERED_H
#define STROBE_COVERAGE_COVERED_H

#include "base/error.h"
#include "base/vec.h"

struct st_covered_insn {
	uint64_t offset; /* link-time address */
	uint32_t length;
	uint64_t times; /* that it was measured */
};
struct st_covered_block {
	uint64_t offset;
	uint32_t bytes, insns;
};
struct st_covered_image {
	char *build_id, *path;
	ST_VEC(struct st_covered_insn) insns;   /* ordered by offset, each once */
	ST_VEC(struct st_covered_block) blocks; /* ordered by offset, bytes, each once */
};
struct st_covered {
	ST_VEC(struct st_covered_image) images;
	size_t runs, unended;
	uint64_t contexts;                 /* of logs of contexts, which have no code */
	uint64_t refused, wrongly_refused; /* instructions of all runs, see st_codelog_run */
};

struct st_run;

/* The image of that build-id, which is added when it is not there. NULL: no memory. */
struct st_covered_image *st_covered_image(struct st_covered *c, const char *build_id,
                                          const char *path);
/* Adds what a log holds. 0, or -1 with *e. */
st_status st_covered_read(struct st_covered *c, const char *path, struct st_error *e);
/* Adds the instructions, not the blocks, that a run without --unique has measured, if its tools had
 * all blocks counted. *raw grows by how often instructions were measured, those in no file
 * included. 0, or -1 with *e. */
st_status st_covered_take_run(struct st_covered *c, const struct st_run *run, uint64_t *raw,
                              struct st_error *e);
/* After the last one. */
void st_covered_sort(struct st_covered *c);
void st_covered_free(struct st_covered *c);

/* The image of that build-id, or NULL. */
const struct st_covered_image *st_covered_find(const struct st_covered *c, const char *build_id);
/* The instruction that begins there, or NULL. image: NULL: there is none. */
const struct st_covered_insn *st_covered_at(const struct st_covered_image *image, uint64_t offset);

struct st_covered_sum {
	uint64_t blocks, instructions, bytes;
	uint64_t raw; /* instructions, as often as they were measured */
};
/* Adds what both images have; of: NULL: what the image has. A block is there when all of its
 * instructions are. */
void st_covered_add(struct st_covered_sum *sum, const struct st_covered_image *image,
                    const struct st_covered_image *of);
/* Of the block's instructions, how many the image has. */
uint32_t st_covered_have(const struct st_covered_image *image,
                         const struct st_covered_image *blocks_of,
                         const struct st_covered_block *block);

/* By function. */
struct st_covered_function {
	const char *name; /* valid as long as the list; NULL: in no known function */
	uint64_t offset;
	uint64_t have, all; /* instructions: measured, in the reference */
};
struct st_covered_functions {
	ST_VEC(struct st_covered_function) list; /* by offset */
	struct st_image *image;
};
/* have: NULL: nothing is. Empty when the image cannot be read, or has changed. */
void st_covered_by_function(struct st_covered_functions *f, const struct st_covered_image *all,
                            const struct st_covered_image *have);
void st_covered_functions_free(struct st_covered_functions *f);

#endif
