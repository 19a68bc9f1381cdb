/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's code as a path passes it: pieces of straight code by their place, what each ends
 * with, and the names of the images that they are in. Read from the images' files, once for each
 * piece.
 */
#ifndef STROBE_RECONSTRUCT_CODE_H
#define STROBE_RECONSTRUCT_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "symbol/symbol.h"

enum st_piece_end {
	ST_PIECE_FALLS, /* nothing: it goes on behind */
	ST_PIECE_JUMP,
	ST_PIECE_CONDITIONAL,
	ST_PIECE_CALL,
	ST_PIECE_INDIRECT_CALL,
	ST_PIECE_INDIRECT_JUMP,
	ST_PIECE_SLOT_JUMP, /* to the address in a word that has a fixed place: another function */
	ST_PIECE_RETURN,
	ST_PIECE_SYSCALL, /* and other traps behind which the program goes on */
	ST_PIECE_STOP,    /* what cannot be executed */
	ST_PIECE_UNKNOWN, /* there is no code that can be read */
};

struct st_piece {
	uint64_t start, last, end; /* last: its last instruction; end: behind it */
	uint64_t target; /* of a direct branch; of an indirect call the word with a fixed place that
	                    has the address, else 0 */
	enum st_piece_end how;
};

typedef ST_VEC(uint8_t) st_lengths_of_insns;

/* The piece at a link-time address; lengths, if not NULL, receives those of its instructions, at
 * its end, as far as there is memory. */
struct st_piece st_piece_read(struct st_image *image, uint64_t start, st_lengths_of_insns *lengths);
/* Whether it ends with a call, or with what may come to the same: it goes on behind, or never. */
bool st_piece_calls(enum st_piece_end how);

/* A place that was passed, or can be. */
struct st_place {
	uint32_t image; /* index; UINT32_MAX: in none that is known */
	uint64_t offset;
	struct st_piece piece;   /* what begins there */
	size_t lengths, n_insns; /* of its instructions: where in the code's */
	bool passed;             /* in a window */
};

/* The code of an image. */
struct st_code_image {
	struct st_image *image; /* NULL: cannot be read */
	const char *path;
	bool scanned;
	/* Where jumps lead from other functions into the middle of one, in order. */
	ST_VEC(uint64_t) foreign;
};

struct st_code {
	ST_VEC(struct st_code_image) images;
	ST_VEC(struct st_place) places;
	st_lengths_of_insns lengths;
	struct st_hashmap index; /* of places */
};

/* Makes an image known under its index. 0, or -1 when memory is exhausted. */
st_status st_code_add_image(struct st_code *c, uint32_t index, struct st_image *image,
                            const char *path);
/* The image's, or NULL when it is not known. */
struct st_image *st_code_image(const struct st_code *c, uint32_t index);
/* The index of a place; UINT32_MAX when memory is exhausted. */
uint32_t st_code_place(struct st_code *c, uint32_t image, uint64_t offset);
/* The piece at a place, to its branch, or to an instruction before which `stops` says so. */
struct st_piece st_code_piece(struct st_code *c, uint32_t image, uint64_t offset,
                              bool (*stops)(const void *context, uint64_t at), const void *context);
/* The foreign entries of an image; NULL and *n 0 when there are none. */
const uint64_t *st_code_foreign(struct st_code *c, uint32_t image, size_t *n);
/* The function that an address belongs to, also when that is a part put elsewhere; or NULL. */
const struct st_function *st_code_function(struct st_image *image, uint64_t offset);
/* Whether they are one: an image may describe a function twice. Both may be NULL. */
bool st_code_is_same(const struct st_function *a, const struct st_function *b);
/* Frees all but the images. */
void st_code_free(struct st_code *c);

#endif
