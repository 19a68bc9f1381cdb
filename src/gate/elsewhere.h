/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs that the workers of a campaign measure: batch/batch.h. */
#ifndef STROBE_GATE_ELSEWHERE_H
#define STROBE_GATE_ELSEWHERE_H

#include "gate/duet.h"
#include "gate/project.h"
#include "gate/result.h"

/* Refuses options that cannot be used with --on. 0, or -1 with *e. */
st_status st_gate_elsewhere_check(const struct st_gate_options *o, bool versions,
                                  struct st_error *e);

/* A node and the pairs of it that have been judged. */
struct st_gate_node {
	char *name;
	size_t pairs;
};

/* The campaign of a gate. */
struct st_gate_elsewhere {
	struct st_batch *batch;
	char *identity, *seed; /* texts of its options */
	const char *further[2];
	struct st_batch_options options;
	ST_VEC(struct st_gate_node) nodes;
};
/* commits: NULL of commands. 0, or -1 with *e; the caller ends it in both cases. */
st_status st_gate_elsewhere_begin(struct st_gate_elsewhere *w, const struct st_gate_options *o,
                                  char *const commits[ST_GATE_SIDES],
                                  const struct st_gate_cases *cases, struct st_error *e);
/* Adds a note about the nodes; or, if the gate is not complete, sets where it can be resumed. 0, or
 * -1: memory is exhausted. */
st_status st_gate_elsewhere_end(struct st_gate_elsewhere *w, bool complete,
                                struct st_gate_result *out);

/* The pairs of one benchmark. */
struct st_gate_far_pairs {
	struct st_gate_elsewhere *w;
	const struct st_gate_runs *runs;
	size_t first, n; /* tasks of the campaign */
};
/* The functions of a sampler whose arg is a struct st_gate_far_pairs. */
st_status st_gate_far_plan(void *arg, const struct st_gate_pair *pair, struct st_error *e);
st_status st_gate_far_pair(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
                           struct st_error *e);
/* The pairs that were not judged are not needed. */
st_status st_gate_far_end(struct st_gate_far_pairs *p, size_t judged, struct st_error *e);

#endif
