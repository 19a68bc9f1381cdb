/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides whether a program became slower: measures two builds of it, base and target, in pairs.
 *
 * Time is measured in duets: pairs of runs, one of each side, in random order. If the sides do not
 * differ, the random order alone decides which of them is the slower one of a pair; so a test by
 * the signs of the differences keeps its level on any machine (stats/betting.h). Counts by the
 * engine need no repetition; they are compared with limits.
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

/* V(identifier, "name", exit code): from the best to the worst. */
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

/* The command of a side. */
struct st_gate_command {
	char *const *argv;
	const char *folder; /* NULL: the current one */
};

/* ---- time ---- */

/* A(identifier, "word"): how the two runs of a pair are executed. */
#define ST_GATE_DUETS(A)                                                                           \
	A(SHARED, "shared")       /* both at once, on one CPU, whose time they share */            \
	A(ALTERNATE, "alternate") /* one after the other, on one CPU */                            \
	A(TOGETHER, "together")   /* both at once, each on half of the CPUs */
enum st_gate_duet {
#define A(id, name) ST_GATE_##id,
	ST_GATE_DUETS(A)
#undef A
};

extern const char *const st_gate_duet_words[];

/* M(identifier, "word", "title") */
#define ST_GATE_METRICS(M)                                                                         \
	M(CPU, "cpu", "CPU time")                                                                  \
	M(WALL, "wall", "elapsed time")
enum st_gate_metric {
#define M(id, name, title) ST_GATE_##id,
	ST_GATE_METRICS(M)
#undef M
};

extern const char *const st_gate_metric_words[];

/* The rule of decision. Probabilities and changes are shares of 1. */
struct st_gate_rule {
	double alarm;   /* the largest probability of a false alarm */
	double miss;    /* the largest probability of a pass if the target is slower by the limit */
	double limit;   /* smaller changes do not matter */
	double above;   /* an alarm says that the change is greater than this: 0 in a gate */
	size_t pairs;   /* at most; 0: time is not measured */
	double seconds; /* no pair begins later; 0: no limit */
};

enum { ST_GATE_MOST_PAIRS = 5000, ST_GATE_MOST_GATES = 10000 };

/* A pair to measure. */
struct st_gate_pair {
	size_t number;                   /* from 0 */
	int first;                       /* the side that begins, or takes the first CPUs */
	unsigned padding[ST_GATE_SIDES]; /* bytes in the environment, which move the stack */
	uint64_t random;                 /* a random number for the choice of CPUs */
};

/* Measures pairs. The tests have a sampler that runs nothing. */
struct st_gate_sampler {
	/* Sets the time of each side, in ns. 0, or -1 with *e. */
	st_status (*measure)(void *arg, const struct st_gate_pair *pair, double ns[ST_GATE_SIDES],
	                     struct st_error *e);
	/* Whether to end, for example after a signal; may be NULL. */
	bool (*interrupted)(void *arg);
	/* A monotonic clock, in s. */
	double (*now)(void *arg);
	void *arg;
	/* Told all pairs, in their order, before the first is measured; may be NULL. 0, or -1 with
	 * *e. */
	st_status (*plan)(void *arg, const struct st_gate_pair *pair, struct st_error *e);
};

/* The result of the pairs. Changes are relative to the base: 0.05 is 5 % slower. */
struct st_gate_time {
	ST_VEC(double) ratios;     /* the logarithm of target / base of each pair */
	double ns[ST_GATE_SIDES];  /* medians */
	struct st_interval change; /* with its 90 % interval; ends -1 and INFINITY: unknown */
	double spread;             /* the MAD of the ratios; NAN with one pair */
	double evidence; /* the wealth of the bets on a slower target; with equal sides, 1 on
	                    average */
	enum st_gate_verdict verdict;
	double seconds; /* duration of all pairs */
	double limit;   /* of the rule */
	bool interrupted;
};

/* Measures pairs until the answer is clear or a limit is reached. The order follows from the seed.
 * 0, or -1 with *e. The caller frees in both cases. */
st_status st_gate_measure(const struct st_gate_rule *rule, const struct st_gate_sampler *sampler,
                          uint64_t seed, struct st_gate_time *out, struct st_error *e);
/* Inside: sets all that follows from the ratios so far. ST_FAILED: no memory. */
st_status st_gate_look(const struct st_gate_rule *rule, struct st_gate_time *t);
void st_gate_time_free(struct st_gate_time *t);

#endif
