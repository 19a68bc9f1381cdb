/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a program became slower: two builds of it, base and target, measured side by side.
 *
 * Time is measured in duets: pairs of runs, one of each side, whose order a coin decides. If the
 * sides do not differ, the coin alone decides which of them is the slower one of a pair; so a test
 * by the signs of the differences keeps its level on any machine (stats/betting.h). Counts of the
 * engine need no repetition, and are judged by what they are.
 */
#ifndef STROBE_GATE_GATE_H
#define STROBE_GATE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "stats/robust.h"

enum { ST_GATE_BASE, ST_GATE_TARGET, ST_GATE_SIDES };
extern const char *const st_gate_sides[ST_GATE_SIDES];

/* V(identifier, "name", exit code): the worse the later. */
#define ST_GATE_VERDICTS(V)                                                                        \
	V(PASS, "pass", 0)                                                                         \
	V(INCONCLUSIVE, "inconclusive", 3)                                                         \
	V(REGRESSION, "regression", 1)
enum st_gate_verdict {
#define V(id, name, code) ST_GATE_##id,
	ST_GATE_VERDICTS(V)
#undef V
};
extern const char *const st_gate_verdicts[];
int st_gate_exit(enum st_gate_verdict verdict);

/* What is run of one side. */
struct st_gate_command {
	char *const *argv;
	const char *folder; /* NULL: the current one */
};

/* ---- time ---- */

/* A(identifier, "word"): how the two runs of a pair lie to each other. */
#define ST_GATE_DUETS(A)                                                                           \
	A(ALTERNATE, "alternate") /* one after the other, on one CPU */                            \
	A(TOGETHER, "together")   /* both at once, each on half of the CPUs */
enum st_gate_duet {
#define A(id, name) ST_GATE_##id,
	ST_GATE_DUETS(A)
#undef A
};

/* M(identifier, "word", "what it is") */
#define ST_GATE_METRICS(M)                                                                         \
	M(CPU, "cpu", "CPU time")                                                                  \
	M(WALL, "wall", "elapsed time")
enum st_gate_metric {
#define M(id, name, title) ST_GATE_##id,
	ST_GATE_METRICS(M)
#undef M
};

/* When to decide. Shares are of 1. */
struct st_gate_rule {
	double alarm;   /* the probability of a false alarm is at most this */
	double miss;    /* and that of a pass although the target is slower by the limit, this */
	double limit;   /* changes that are smaller do not matter */
	double above;   /* an alarm is that the change is greater than this: 0 in a gate */
	size_t pairs;   /* at most; 0: time is not measured */
	double seconds; /* no pair begins later; 0: no limit */
};

/* A pair that is to be measured. */
struct st_gate_pair {
	size_t number;                   /* from 0 */
	int first;                       /* the side that begins, or takes the first CPUs */
	unsigned padding[ST_GATE_SIDES]; /* bytes in the environment, which move the stack */
	uint64_t random;                 /* more chance, for the choice of CPUs */
};

/* Who measures pairs. The tests have one that does not run anything. */
struct st_gate_sampler {
	/* Fills in how long each side took, ns. 0, or -1 with *e. */
	st_status (*measure)(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
	                     struct st_error *e);
	/* Whether to end, as after a signal; may be NULL. */
	bool (*interrupted)(void *arg);
	/* Seconds since some moment. */
	double (*now)(void *arg);
	void *arg;
};

/* What the pairs say. Changes are of target against base: 0.05 is 5 % slower. */
struct st_gate_time {
	ST_VEC(double) ratios;     /* logarithms of target / base, a pair each */
	double ns[ST_GATE_SIDES];  /* medians */
	struct st_interval change; /* its 90 % interval; -1 and infinity: no end is known */
	double spread;             /* of the ratios of pairs: their MAD, NAN before the second */
	double evidence; /* times as probable it is as chance allows that the target is slower */
	enum st_gate_verdict verdict;
	double seconds; /* that the pairs took */
	bool interrupted;
};

/* Measures pairs until the answer is clear or a limit is reached. The order follows from the seed.
 * 0, or -1 with *e. The caller frees in both cases. */
st_status st_gate_measure(const struct st_gate_rule *rule, const struct st_gate_sampler *sampler,
                          uint64_t seed, struct st_gate_time *out, struct st_error *e);
void st_gate_time_free(struct st_gate_time *t);

#endif
