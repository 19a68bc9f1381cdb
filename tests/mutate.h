/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random changes of a text, for tests that feed readers with damaged files. */
#ifndef STROBE_TESTS_MUTATE_H
#define STROBE_TESTS_MUTATE_H

#include <stdint.h>
#include <string.h>

#include "base/random.h"

/* Changes one byte, removes up to 20 bytes, or inserts one of the pieces. m has `n` bytes and space
 * for `room`. Returns the new length. */
static inline size_t
mutate_text(char *m, size_t n, size_t room, uint64_t *state, const char *const *pieces,
            size_t n_pieces)
{
	const size_t at = st_random_below(state, n + 1), left = n - at;
	const size_t length = st_random_below(state, (left < 20 ? left : 20) + 1);
	const char *piece = pieces[st_random_below(state, n_pieces)];
	const size_t p = strlen(piece);
	switch (st_random_below(state, 3)) {
	case 0:
		if (left)
			m[at] = (char)st_random_next(state);
		return n;
	case 1:
		memmove(m + at, m + at + length, left - length);
		return n - length;
	default:
		if (n + p > room)
			return n;
		memmove(m + at + p, m + at, left);
		memcpy(m + at, piece, p);
		return n + p;
	}
}

#endif
