/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops, as the formats that have them say it: behind a head's node, and in lists of all. */
#ifndef STROBE_REPORT_CONTEXTS_LOOPS_H
#define STROBE_REPORT_CONTEXTS_LOOPS_H

#include <stdio.h>

#include "contexts/contexts.h"

/* " entries=2 iterations=9 min=1 mean=4.5 max=8 1:1 8+:1": the last are how many entries had so
 * many iterations, up to less than twice that. */
void st_loop_text(const struct st_loop *l, FILE *out);
/* The same as attributes, and as a key. */
void st_loop_xml(const struct st_loop *l, FILE *out);
void st_loop_json(const struct st_loop *l, FILE *out);

/* The loop of a node or a label by the number it has there; NULL: it is none. */
static inline const struct st_loop *
st_loop_at(const struct st_contexts *c, uint32_t number)
{
	return number ? &c->loops.v[number - 1] : NULL;
}
/* The next label from `i` on that is the head of a loop; c->n_labels: there is none. */
uint32_t st_loop_next(const struct st_contexts *c, uint32_t i);

/* A table of those with the most iterations, in all contexts: for a terminal. top 0: all. */
void st_loop_table(const struct st_contexts *c, size_t top, FILE *out);

#endif
