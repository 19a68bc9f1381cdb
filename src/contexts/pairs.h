/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls by caller and callee, with counts and costs: all contexts of all threads together.
 *
 * The cost below two nested activations of a function belongs to the calls of the inner one
 * only. So a function's own cost and those of its calls add up to what it cost as a whole,
 * however it recurs; calls of itself cost nothing more.
 */
#ifndef STROBE_CONTEXTS_PAIRS_H
#define STROBE_CONTEXTS_PAIRS_H

#include "contexts/contexts.h"

/*
 * A forest of depth two: a root for each label, with its own cost, and below it those that it
 * called, with inclusive cost, and in `top` how often. Blocks call nothing and have roots only. The
 * caller frees; out_of_memory says that it is not complete.
 */
void st_pairs_make(const struct st_contexts *c, struct st_forest *pairs);

#endif
