/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run time of functions, from pairs of traced runs.
 *
 * The same bets as for the time of the program are made on each function (stats/betting.h): if the
 * two sides do not differ, the random order of a pair alone decides in which of them the function
 * took longer. Which functions are judged is chosen by a sum that is the same with the sides
 * exchanged, so the choice favours no side. 1 / evidence is a P, and Holm's procedure bounds the
 * probability that any function raises a false alarm.
 */
#ifndef STROBE_GATE_FUNCTIONTIME_H
#define STROBE_GATE_FUNCTIONTIME_H

#include "gate/gate.h"

/* The time that a function took in a run, without that of other functions. */
struct st_gate_timed {
	const char *name, *image;
	double ns;
};

struct st_gate_timed_run {
	ST_VEC(struct st_gate_timed) v;
};

/* A smaller share of the time of all functions is not judged, unless the function changed. */
#define ST_GATE_FUNCTION_SHARE 0.01

struct st_gate_function_time {
	char *name, *image;
	double share; /* of the time of all functions, of both sides of the first pair */
	ST_VEC(double) ns[ST_GATE_SIDES];
	ST_VEC(double) others; /* the logarithm of target / base of all other functions */
	struct st_gate_time time;
	double p;    /* adjusted for the number of functions */
	bool offset; /* it became slower, and the others became as much faster */
};

struct st_gate_function_times {
	size_t pairs;
	ST_VEC(struct st_gate_function_time) v; /* the worst verdicts first, then by growth */
	double whole;                 /* time of all functions of the base in the first pair, ns */
	enum st_gate_verdict verdict; /* a regression if any function has one; otherwise a pass */
	double alarm;                 /* the largest probability of any false alarm */
	double seconds;
	bool interrupted;
};

/* Adds a pair, whose runs it sorts. `changed`: names of functions that are judged whatever their
 * share. ST_FAILED with *e: no memory, or a side has no time of a function. */
st_status st_gate_function_times_add(struct st_gate_function_times *t,
                                     struct st_gate_timed_run runs[ST_GATE_SIDES],
                                     const char *const *changed, size_t n_changed,
                                     struct st_error *e);
/* Judges all pairs so far. least: a smaller growth, as a share of all functions' time, does not
 * matter. ST_FAILED: no memory. */
st_status st_gate_function_times_judge(struct st_gate_function_times *t,
                                       const struct st_gate_rule *rule, double least);
/* Whether each function has a verdict. */
bool st_gate_function_times_decided(const struct st_gate_function_times *t);
/* Orders the functions for the reader. */
void st_gate_function_times_order(struct st_gate_function_times *t);
void st_gate_function_times_free(struct st_gate_function_times *t);

#endif
