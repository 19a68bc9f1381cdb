/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside the counts: the count of a quantity in repeated runs, and the counts of functions. */
#ifndef STROBE_GATE_FUNCTIONS_H
#define STROBE_GATE_FUNCTIONS_H

#include "gate/counts.h"

/* Makes a count of `runs` values of each side. */
void st_gate_count_make(struct st_gate_count *c, double v[ST_GATE_SIDES][ST_GATE_MOST_RUNS],
                        size_t runs);
/* Sets the verdict: a regression if the whole interval is at the limit or above, inconclusive if
 * only its upper end is. */
void st_gate_count_limit(struct st_gate_count *c, double limit);

/* Fills in the functions that changed; the verdict becomes the worst of theirs and its own.
 * ST_FAILED: no memory. */
st_status st_gate_functions_judge(struct st_gate_counts *c, struct st_gate_limits *limits);

#endif
