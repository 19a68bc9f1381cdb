/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the commit that made a program slower: a gate compares the two ends, then commits between
 * them are judged by the quantity in which the ends differ. A commit is bad if its value is nearer
 * to that of the bad end.
 */
#ifndef STROBE_GATE_BISECT_H
#define STROBE_GATE_BISECT_H

#include "gate/result.h"
#include "gate/search.h"

/* The quantity by which commits are judged. */
struct st_bisect_quantity {
	bool time;
	enum st_gate_counted counted; /* unless it is the time */
	char *function; /* the function whose instructions are counted; NULL: the program */
	double value[ST_GATE_SIDES]; /* the counts of the ends; for time, 0 and the change */
};

struct st_bisect_step {
	char *commit;
	enum st_bisect_state state;
	double value;  /* the count, or the change of the time; NAN: unknown */
	char *reason;  /* why the commit could not be judged; otherwise NULL */
	size_t number; /* in the order of judgement, from 1; 0: not judged */
};

struct st_bisect_result {
	char *title; /* of the benchmark */
	struct st_bisect_quantity quantity;
	ST_VEC(struct st_bisect_step) steps; /* all commits, the oldest first; the last is bad */
	size_t first, last;                  /* the first bad commit is one of these */
	struct st_gate_result ends;          /* the gate of the two */
	struct st_gate_counts why; /* changes by the first bad commit; runs 0: it was not counted */
	bool nothing;              /* the ends do not differ: there was no search */
};

/* o->names: GOOD and BAD. 0, or -1 with *e. The caller frees in both cases. */
st_status st_bisect_run(struct st_gate_options *o, struct st_bisect_result *out,
                        struct st_error *e);
void st_bisect_result_free(struct st_bisect_result *r);

void st_bisect_print_text(const struct st_gate_options *o, const struct st_bisect_result *r,
                          FILE *out);
json_t *st_bisect_json(const struct st_gate_options *o, const struct st_bisect_result *r);
/* The exit code. 0: one commit; 3: several, or none because the ends do not differ. */
int st_bisect_exit(const struct st_bisect_result *r);

#endif
