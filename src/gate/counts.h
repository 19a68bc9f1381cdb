/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts by the engine of both sides, of the program and of each function, and their verdicts. */
#ifndef STROBE_GATE_COUNTS_H
#define STROBE_GATE_COUNTS_H

#include <sched.h>

#include "gate/gate.h"

struct st_profile;

/* Counts of the whole program: C(identifier, "name", default limit of its growth as a share;
 * INFINITY: the count is shown and not judged) */
#define ST_GATE_COUNTS(C)                                                                          \
	C(INSTRUCTIONS, "instructions", 0.01)                                                      \
	C(BLOCKS, "blocks", INFINITY)                                                              \
	C(CALLS, "calls", INFINITY)                                                                \
	C(ALLOCATIONS, "allocations", INFINITY)                                                    \
	C(ALLOCATED, "bytes allocated", 0.01)
enum st_gate_counted {
#define C(id, name, limit) ST_GATE_##id,
	ST_GATE_COUNTS(C)
#undef C
	        ST_GATE_N_COUNTED
};
extern const char *const st_gate_counted[];

/* A limit that replaces another one up to a date. Texts belong to the rules. */
struct st_gate_exception {
	const char *function; /* a shell pattern; NULL: the program as a whole */
	bool time;
	enum st_gate_counted counted; /* unless it is the time */
	double limit;                 /* a share; INFINITY: none */
	const char *until, *reason;   /* until: the last day, as YYYY-MM-DD */
	bool expired, used;
};

struct st_gate_limits {
	double program[ST_GATE_N_COUNTED]; /* of the growth of the program's counts */
	double function;                   /* of the growth of a function's instructions */
	double least; /* a smaller growth, as a share of the program's instructions, does not matter
	               */
	ST_VEC(struct st_gate_exception) exceptions;
};
void st_gate_limits_default(struct st_gate_limits *limits);

/* A count of both sides; each is the mean of equal runs. */
struct st_gate_count {
	double value[ST_GATE_SIDES];
	double change;    /* relative to the base; INFINITY: it was 0 */
	double low, high; /* the 99 % interval of the change; NAN: unknown, after one run */
	bool exact;       /* several runs of each side have equal counts */
	enum st_gate_verdict verdict;
};

/* C(identifier, "name"): the code of a function on both sides. */
#define ST_GATE_CODES(C)                                                                           \
	C(UNKNOWN, "unknown")                                                                      \
	C(SAME, "same")                                                                            \
	C(CHANGED, "changed")                                                                      \
	C(NEW, "new")                                                                              \
	C(GONE, "gone")
enum st_gate_code {
#define C(id, name) ST_GATE_CODE_##id,
	ST_GATE_CODES(C)
#undef C
};
extern const char *const st_gate_codes[];

/* Calls of a function by another one. */
struct st_gate_caller {
	const char *name;
	enum st_gate_code code;
	double calls[ST_GATE_SIDES];
};

struct st_gate_function {
	const char *name, *image; /* texts of a profile */
	const char *file;         /* of the target, otherwise of the base; NULL: unknown */
	uint32_t line;            /* 0: unknown */
	struct st_gate_count instructions, calls;
	enum st_gate_code code;
	bool offset; /* it grew, but the program as a whole did not: others shrank as much */
	ST_VEC(struct st_gate_caller) callers; /* that call it more often, by growth */
};

enum { ST_GATE_MOST_RUNS = 10 };

struct st_gate_counts {
	size_t runs; /* of each side; 0: nothing was counted */
	struct st_gate_count program[ST_GATE_N_COUNTED];
	ST_VEC(struct st_gate_function) functions; /* that changed, by growth */
	enum st_gate_verdict verdict;
	struct st_profile *profiles[ST_GATE_SIDES][ST_GATE_MOST_RUNS];
};

/* Runs a side once under the engine: a profile in the file. 0, or -1 with *e. */
struct st_gate_counting {
	const char *strobe; /* the program */
	const struct st_gate_command *command;
	const char *input;
	double timeout; /* s; 0: none */
	int side;
	/* For another command of strobe than the one that counts: its words up to -o, ended by
	 * NULL; what it does ("while its functions were traced"); the option that leaves it out;
	 * settings of the environment. The addresses are then random, as usual. */
	const char *const *words;
	const char *how, *option;
	char *const *settings;
	const cpu_set_t *cpus; /* NULL: as strobe */
	const char *advice;    /* ends the message about a program that fails; NULL: nothing */
};
st_status st_gate_count_run(const struct st_gate_counting *c, struct st_profile **profile,
                            struct st_error *e);

/* A count of the whole program in a profile. */
double st_gate_count_of(const struct st_profile *p, enum st_gate_counted what);

/* Compares and judges the profiles, `runs` of each side. 0, or -1 with *e: no memory, or nothing
 * was measured. */
st_status st_gate_count_judge(struct st_gate_counts *c, struct st_gate_limits *limits,
                              struct st_error *e);
void st_gate_counts_free(struct st_gate_counts *c);

#endif
