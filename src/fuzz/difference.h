/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The difference of a witness to its seed: what was removed and what was inserted, where. */
#ifndef STROBE_FUZZ_DIFFERENCE_H
#define STROBE_FUZZ_DIFFERENCE_H

#include <stdio.h>

#include "base/vec.h"
#include "fuzz/bytes.h"

/* n_removed bytes at `from` of the seed have become the n_inserted bytes at `to` of the witness. */
struct st_fuzz_change {
	size_t from, n_removed, to, n_inserted;
};

enum st_difference_unit {
	ST_DIFFERENCE_BYTES, /* as few bytes as possible are removed and inserted, see `joined` */
	ST_DIFFERENCE_LINES, /* as few lines as possible: they are too large for the former */
	ST_DIFFERENCE_ENDS,  /* only what is the same at both ends is left out */
};

struct st_fuzz_difference {
	enum st_difference_unit unit;
	size_t seed_bytes, witness_bytes;
	size_t kept; /* bytes that are the same in both */
	ST_VEC(struct st_fuzz_change) list;
};

/* Begins with all zeros. Changes between which fewer than `joined` bytes are the same are one
 * change. ST_FAILED: no memory. The caller frees in any case. */
st_status st_fuzz_difference_find(struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
                                  const struct st_fuzz_bytes *witness, size_t joined);
void st_fuzz_difference_free(struct st_fuzz_difference *d);
const char *st_difference_unit_name(enum st_difference_unit unit);

/* A part: kept (' '), removed ('-'), inserted ('+'). Its bytes, or if they are many, those at its
 * beginning and at its end; n of all. */
struct st_fuzz_part {
	char kind;
	size_t n;
	struct st_fuzz_bytes first, last; /* last: empty unless bytes between them are left out */
};
/* Calls `take` for each part, in order. */
void st_fuzz_difference_parts(const struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
                              const struct st_fuzz_bytes *witness,
                              void (*take)(void *arg, const struct st_fuzz_part *part), void *arg);
/* A line for each part, in order: a blank, - or + (kept, removed, inserted), the number of bytes,
 * and the bytes as printf(1) takes them, long ones without their middle. */
void st_fuzz_difference_print(const struct st_fuzz_difference *d, const struct st_fuzz_bytes *seed,
                              const struct st_fuzz_bytes *witness, FILE *out);

#endif
