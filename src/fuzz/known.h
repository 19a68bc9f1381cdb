/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inputs that a search has made, by what they contain. Executing an input a second time finds
 * nothing, and its success would let the rule that made it again be chosen again and again.
 */
#ifndef STROBE_FUZZ_KNOWN_H
#define STROBE_FUZZ_KNOWN_H

#include <stdbool.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "fuzz/bytes.h"

/* Two hashes of 64 bits stand for an input: that two inputs have both in common cannot be expected
 * in any search. */
struct st_fuzz_content {
	uint64_t one, other;
};

/* All zeros is an empty set. */
struct st_fuzz_known {
	ST_VEC(struct st_fuzz_content) list;
	struct st_hashmap by_content;
};

/* Adds the input. *added: it was not known. ST_FAILED: no memory. */
st_status st_fuzz_known_add(struct st_fuzz_known *known, const struct st_fuzz_bytes *input,
                            bool *added);
void st_fuzz_known_free(struct st_fuzz_known *known);

#endif
