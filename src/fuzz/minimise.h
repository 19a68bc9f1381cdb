/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delta debugging: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE
 * Transactions on Software Engineering 28 (2002), the algorithm ddmin. */
#ifndef STROBE_FUZZ_MINIMISE_H
#define STROBE_FUZZ_MINIMISE_H

#include <stdbool.h>

#include "fuzz/bytes.h"

struct st_minimise {
	/* Whether an input still has the property. ST_FAILED with *e ends the search. */
	st_status (*holds)(void *arg, const struct st_fuzz_bytes *b, bool *yes, struct st_error *e);
	/* Whether to stop with the input reached so far; may be NULL. */
	bool (*enough)(void *arg);
	void *arg;
};

/* Removes parts of b, larger ones first, as long as what is left holds; b holds. It ends with a b
 * of which no single byte can be removed, or earlier when it is enough. */
st_status st_minimise(const struct st_minimise *m, struct st_fuzz_bytes *b, struct st_error *e);

/* Replaces b by the shortest of its beginnings of 64, 256, 1,024, ... bytes that holds, if one
 * does. The short ones, which are tried first, take the least time: removing parts of an input of a
 * megabyte with quadratic work may take minutes. */
st_status st_minimise_beginning(const struct st_minimise *m, struct st_fuzz_bytes *b,
                                struct st_error *e);

/* Replaces parts of b by its most frequent byte, larger ones first, as long as b holds: different
 * letters, of which the program only needs the number, become repetitions. */
st_status st_minimise_unify(const struct st_minimise *m, struct st_fuzz_bytes *b,
                            struct st_error *e);

#endif
