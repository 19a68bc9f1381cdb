/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The corpus: the functions that get noise. */
#ifndef STROBE_BLOW_CORPUS_H
#define STROBE_BLOW_CORPUS_H

#include "blow/blow.h"

struct st_blow_locations;
struct st_blow_points;
struct st_patterns;

/* Criteria. C(identifier, "name", whether the code of images has to be read for it) */
#define ST_BLOW_CRITERIA(C)                                                                        \
	C(CALLS, "calls", false)                                                                   \
	C(TIME, "time", false)                                                                     \
	C(SITES, "call-sites", true)                                                               \
	C(COMPLEXITY, "complexity", true)                                                          \
	C(IO, "io", true)                                                                          \
	C(LOCKS, "locks", true)
enum st_blow_criterion {
#define C(id, name, code) ST_BLOW_BY_CRITERION_##id,
	ST_BLOW_CRITERIA(C)
#undef C
	        ST_BLOW_CRITERION_COUNT
};
const char *st_blow_criterion_name(enum st_blow_criterion c);
/* Whether one of the criteria, as bits, needs what the code of images says: calls.h. */
bool st_blow_criteria_read_code(uint32_t which);

/* The kinds of code that an experiment of --mode causal speeds up. T(identifier, "name") */
#define ST_BLOW_TARGETS(T)                                                                         \
	T(FUNCTION, "function")                                                                    \
	T(CONTEXT, "context")                                                                      \
	T(LINE, "line")                                                                            \
	T(BLOCK, "block")
enum st_blow_target {
#define T(id, name) ST_BLOW_TARGET_##id,
	ST_BLOW_TARGETS(T)
#undef T
	        ST_BLOW_TARGET_COUNT
};

/* The complexity of a function as a model of its cost says it. */
struct st_blow_complexity {
	const char *function; /* as in the model: demangled, with arguments or without them */
	bool constant;
};

/* What the probe of a call that is timed takes, about: 36 ns in a loop (docs/benchmarks.md), and
 * 140 ns with a thousand functions of python3, whose probes are seldom in the caches. */
enum { ST_BLOW_PROBE_NS = 100 };

/* A function that was called and takes a probe is chosen if it meets one of these. */
struct st_blow_criteria {
	bool all;         /* choose all: the user has named the functions */
	bool only_inside; /* choose only locations within functions, which always are chosen */
	uint32_t which;   /* criteria that count: bits of enum st_blow_criterion */
	uint64_t calls;   /* least number of calls */
	uint64_t sites;   /* least number of call sites */
	uint64_t ns;      /* least mean time of a call */
	/* The greatest part of the run time that the probes of all chosen functions may take, by
	 * the calls of the selection: otherwise those with most calls are left out, unless the user
	 * has named them; 0: no limit. */
	double probes;
	double run_ns; /* of the selection; 0: that of the longest function */
	/* Models of costs, which decide on the complexity before the code does. */
	struct {
		const struct st_blow_complexity *v;
		size_t n;
	} models;
	const struct st_blow_points *points; /* these are not chosen; may be NULL */
	uint32_t by; /* kinds of targets of the functions: bits of enum st_blow_target; 0: the
	                functions themselves */
	const struct st_blow_locations *called; /* contexts that are chosen as well; may be NULL */
};
/* Sets `met`, `chosen` and `progress` of each function. Returns the number of chosen functions. */
size_t st_blow_choose(struct st_blow *b, const struct st_blow_criteria *criteria);
/* The share of the run time, by the longest function, that the probes of the functions that were
 * left out would take, their number, and the least number of their calls. */
struct st_blow_frequent {
	size_t n;
	uint64_t calls;
	double share;
};
struct st_blow_frequent st_blow_frequent_of(const struct st_blow *b);
/* The function that was left out with the most time after that one (NULL: of all). NULL: none is.
 */
const struct st_blow_function *st_blow_next_frequent(const struct st_blow *b,
                                                     const struct st_blow_function *after);
/* The function's part of the time of the longest one, in the selection run. */
double st_blow_selected_share(const struct st_blow *b, const struct st_blow_function *f);
/* Whether a pattern fits one of a function's names. */
bool st_blow_fits(const char *name, const char *raw_name, const struct st_patterns *patterns);
/* The mean time of a call in ns; 0 if there was no call. */
double st_blow_mean(const struct st_blow_function *f);

#endif
