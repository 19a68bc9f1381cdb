/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which function of one profile is which of another: the only place that decides it, for calling
 * contexts, tables, JSON and the page.
 *
 * Images are matched first, each rule among those that the rule before has left over:
 *   1. equal build-ids are one image, whatever its file is called;
 *   2. the program that was run is the program, whatever its file is called;
 *   3. equal file names are one image: builds lie in different folders;
 *   4. equal shared library names ("libz.so.1" of libz.so.1.2.13 and of libz.so.1.3.1) are one.
 *
 * Functions of one image, or of none, are the same when their names are, and of basic blocks also
 * how far into their function they begin. Where a side has several of one name (static functions):
 *   1. if all are of one build, those at equal offsets are the same, and no others;
 *   2. else, if the source files of all are known, those of equally named files are the same;
 *   3. what is left to choose is matched in the order of the addresses.
 * A function that is the only one of its name on both sides may have moved to another file.
 *
 * Code without a name (also where one was made of its offset) is known by its offset, which means
 * something in one build only: it is the same at equal offsets of images with equal build-ids, and
 * never otherwise.
 *
 * The result does not depend on which side is which.
 */
#ifndef STROBE_CHECK_MATCH_H
#define STROBE_CHECK_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { ST_A, ST_B, ST_SIDES };

enum { ST_NO_IMAGE = UINT32_MAX };

struct st_match_image {
	const char *path;
	const char *build_id; /* "": unknown */
	bool is_program;      /* of the run: st_profile_is_program */
};

struct st_match_function {
	const char *name; /* NULL: it has none (st_match_is_name) */
	const char *file; /* where its source is; NULL: unknown */
	uint32_t image;   /* index into the images of its side; ST_NO_IMAGE: in none */
	bool artificial;  /* it stands for no code, such as the root of contexts */
	uint64_t offset;  /* in the image */
	int64_t inside;   /* of a basic block: bytes from the function's first instruction */
};

struct st_match_side {
	const struct st_match_image *images;
	size_t n_images;
	const struct st_match_function *functions;
	size_t n_functions;
};

/* A number for each function and each image, 0 to n - 1: what has the same number is the same. */
struct st_match {
	uint32_t *function[ST_SIDES]; /* by the index of the function on that side */
	uint32_t *image[ST_SIDES];
	size_t n_functions, n_images;
};

/* ST_FAILED: memory is exhausted. The caller frees in both cases. */
st_status st_match_make(struct st_match *m, const struct st_match_side sides[ST_SIDES]);
void st_match_free(struct st_match *m);

/* Whether it is a name, and not one that was made of where the code is: func_OFFSET, or
 * IMAGE+0xOFFSET. offset: of the function; image: its path, NULL: it is in none. */
bool st_match_is_name(const char *name, const char *image, uint64_t offset);

/* Inside: the numbers of images alone. */
st_status st_match_images(struct st_match *m, const struct st_match_side sides[ST_SIDES]);

#endif
