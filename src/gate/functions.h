/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of the counts: a count of equal runs, and the counts of functions. */
#ifndef STROBE_GATE_FUNCTIONS_H
#define STROBE_GATE_FUNCTIONS_H

#include "gate/counts.h"

/* Of `runs` values of each side. */
void st_gate_count_make(struct st_gate_count *c, double v[ST_GATE_SIDES][ST_GATE_MOST_RUNS],
                        size_t runs);
/* Its verdict: it has grown by the limit or more, as far as its interval tells. */
void st_gate_count_limit(struct st_gate_count *c, double limit);

/* Fills in the functions that changed, and makes the verdict worse if one of them is. ST_FAILED:
 * no memory. */
st_status st_gate_functions_judge(struct st_gate_counts *c, struct st_gate_limits *limits);

#endif
