/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which commit made a program slower: the two ends are compared as by a gate, then commits between
 * them are judged by what the ends differ in, each nearer to the one end or to the other.
 */
#ifndef STROBE_GATE_BISECT_H
#define STROBE_GATE_BISECT_H

#include "gate/result.h"
#include "gate/search.h"

/* What is followed. */
struct st_bisect_quantity {
	bool time;
	enum st_gate_counted counted; /* unless it is the time */
	char *function;               /* of which instructions are counted; NULL: the program */
	double value[ST_GATE_SIDES];  /* counts of the ends; of time 0 and the change */
};

struct st_bisect_step {
	char *commit;
	enum st_bisect_state state;
	double value;  /* the count; of time the change; NAN: unknown */
	char *reason;  /* why it could not be judged; NULL */
	size_t number; /* in the order in which they were judged, from 1; 0: it was not */
};

struct st_bisect_result {
	char *title; /* of the benchmark */
	struct st_bisect_quantity quantity;
	ST_VEC(struct st_bisect_step) steps; /* all commits, the oldest first; the last is bad */
	size_t first, last;                  /* the answer is one of these */
	struct st_gate_result ends;          /* the gate of the two */
	struct st_gate_counts why; /* what the first bad commit changed, if it is one; runs 0 */
	bool nothing;              /* the ends do not differ: nothing was searched */
	bool interrupted;
};

/* o->names: GOOD and BAD. 0, or -1 with *e. The caller frees in both cases. */
st_status st_bisect_run(struct st_gate_options *o, struct st_bisect_result *out,
                        struct st_error *e);
void st_bisect_result_free(struct st_bisect_result *r);

void st_bisect_print_text(const struct st_gate_options *o, const struct st_bisect_result *r,
                          FILE *out);
json_t *st_bisect_json(const struct st_gate_options *o, const struct st_bisect_result *r);
/* 0: one commit; 3: several, or none because the ends do not differ for certain. */
int st_bisect_exit(const struct st_bisect_result *r);

#endif
