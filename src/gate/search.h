/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for the first bad one in a sequence of commits, some of which cannot be judged. */
#ifndef STROBE_GATE_SEARCH_H
#define STROBE_GATE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* S(identifier, "name") */
#define ST_BISECT_STATES(S)                                                                        \
	S(UNKNOWN, "unknown")                                                                      \
	S(GOOD, "good")                                                                            \
	S(BAD, "bad")                                                                              \
	S(NOT_BUILT, "not built")                                                                  \
	S(FAILED, "failed")                                                                        \
	S(UNDECIDED, "undecided")
enum st_bisect_state {
#define S(id, name) ST_BISECT_##id,
	ST_BISECT_STATES(S)
#undef S
};
extern const char *const st_bisect_states[];

/* Judges commit i. 0, or -1 with *e: the search ends. */
typedef st_status (*st_bisect_judge)(void *arg, size_t i, enum st_bisect_state *state,
                                     struct st_error *e);

/* Searches n commits, the oldest first; the commit before them is good, and the last one is bad.
 * states: n elements, all UNKNOWN. The first bad commit is one of *first to *last. */
st_status st_bisect_search(size_t n, st_bisect_judge judge, void *arg, enum st_bisect_state *states,
                           size_t *first, size_t *last, struct st_error *e);

#endif
