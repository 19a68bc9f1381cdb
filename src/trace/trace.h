/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trace of function calls says: the run time of each function, alone and with what it calls,
 * by caller and callee. Made from a profile of the tool `calltimes` (st_trace_read), or from
 * entries and returns one after the other (aggregate.h). Times are in nanoseconds.
 */
#ifndef STROBE_TRACE_TRACE_H
#define STROBE_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/status.h"
#include "base/vec.h"

struct st_profile;

enum { ST_TRACE_NOBODY = UINT32_MAX }; /* a caller that was not traced */

/* Calls whose duration was at least `from_ns`, and less than 1/32 more. */
struct st_trace_class {
	uint64_t from_ns, calls;
};

struct st_trace_function {
	const char *name;
	const char *image, *build_id, *file; /* NULL: not known */
	uint32_t line;                       /* 0: not known */
	uint64_t offset;                     /* in the image */
	int64_t tid;                         /* -1: all threads together */
	uint64_t calls;                      /* that have returned, or lasted until the end */
	/* Of these, calls that were only counted. If there are any, the times that follow are
	 * estimates. error_ns is the half width of the 95 % interval of inclusive_ns, unless that
	 * is unknown, because only one call was timed. */
	uint64_t counted, error_ns;
	bool error_unknown;
	uint64_t lost;           /* calls whose return was not seen: they have no time */
	uint64_t inclusive_ns;   /* of all activations: recursion counts several times */
	uint64_t outermost_ns;   /* of those that no other one was around, unless it was lost */
	uint64_t exclusive_ns;   /* less what was called */
	uint64_t min_ns, max_ns; /* of an activation, with what it called */
	ST_VEC(struct st_trace_class) classes; /* ascending */
};

/* For st_trace_estimate: calls of a pair while another share of them was timed, and their times as
 * estimated. */
struct st_trace_earlier {
	uint64_t calls, counted;
	double inclusive_ns, outermost_ns;
};

struct st_trace_pair {
	uint32_t caller, callee; /* indices of functions; the first may be ST_TRACE_NOBODY */
	uint64_t calls, inclusive_ns;
	uint64_t outermost_ns;           /* of calls that no other call of the callee was around */
	uint64_t counted;                /* calls that were not timed; for st_trace_estimate */
	struct st_trace_earlier earlier; /* of `calls` and `counted`, but not of the times */
};

/* A function that was chosen and could not be traced. */
struct st_trace_refused {
	const char *name, *image, *reason; /* image NULL: not known */
	uint64_t offset;                   /* in the image */
	bool left_out; /* it could have been, and is left out by an earlier trace: reduce.h */
};

/* To keep the budget, from then on one of `every` calls of the function was timed; 0: its probe was
 * taken out, and its calls are a lower bound. */
struct st_trace_step {
	const char *name, *image;
	uint64_t offset, at_ns, every;
};

/* share 0: there was none. */
struct st_trace_budget {
	double share;             /* of the CPU time that the program would need without probes */
	uint64_t cpu_ns, cost_ns; /* all, and the probes' part, by what a probe costs */
};
/* The second may be off by that share of it. */
#define ST_TRACE_COST_ERROR 0.25

/* A thread or process of a raw file. */
struct st_trace_lane {
	bool is_process;
	int64_t tid, pid, ppid;   /* -1: not said */
	int64_t begin_ns, end_ns; /* -1: not seen */
	const char *name;
};

/* The cost of a probe of the engine in picoseconds; all 0: unknown. */
struct st_trace_cost {
	uint64_t ps;       /* a call, on average, which is taken off the times of its callers */
	uint64_t error_ps; /* of that */
	uint64_t least_ps; /* of this, what lies between the two time stamps of an empty call */
};

struct st_trace {
	const char *engine;                         /* "jit", "ebpf", or "raw" */
	ST_VEC(struct st_trace_function) functions; /* by exclusive time, the greatest first */
	ST_VEC(struct st_trace_pair) pairs;         /* by outermost time, the greatest first */
	ST_VEC(struct st_trace_lane) lanes;
	ST_VEC(struct st_trace_refused) refused;
	ST_VEC(struct st_trace_step) steps; /* by function, and ascending by time */
	struct st_trace_budget budget;
	struct st_trace_cost probe;
	uint64_t lost_returns, lost_records;
	uint64_t nested_returns;  /* of the lost ones: nested deeper than the engine can follow */
	uint64_t stray_returns;   /* of a raw file: returns of functions that were not entered */
	uint64_t malformed_lines; /* of a raw file */
	struct st_trace_texts *texts; /* what the names are kept in; NULL: the profile */
};

/* The rows of the table `probe` of a profile. */
#define ST_TRACE_PROBE_CALL "call"
#define ST_TRACE_PROBE_ERROR "error"
#define ST_TRACE_PROBE_LEAST "between time stamps"
/* The rows of the table `budget` of a profile. */
#define ST_TRACE_BUDGET_SHARE "millionths of the CPU time without probes"
#define ST_TRACE_BUDGET_CPU "ns of CPU time"
#define ST_TRACE_BUDGET_COST "ns of these for probes"
/* The rows of the table `lost` of a profile. */
#define ST_TRACE_LOST_RECORDS "records"
#define ST_TRACE_LOST_NESTED "returns nested too deep"

/* All zeros is an empty trace. */
void st_trace_free(struct st_trace *t);

/*
 * The trace of a profile, which has to outlive it. per_thread: functions and pairs of each thread
 * apart. -1 with *e: the profile is none of the tool `calltimes`, or memory is exhausted.
 */
st_status st_trace_read(struct st_trace *t, const struct st_profile *p, bool per_thread,
                        struct st_error *e);

/*
 * Puts the trace into a profile that has no images, functions and tables yet: as the tables of the
 * tool `calltimes`, of which st_trace_read makes the same trace. -1: memory is exhausted.
 */
st_status st_trace_put(const struct st_trace *t, struct st_profile *p);

/*
 * The duration that the share `q` of the calls did not exceed, by the nearest rank, within 2 %;
 * false: it is not known, because not every call is in a class.
 */
bool st_trace_quantile(const struct st_trace_function *f, double q, uint64_t *ns);
/* The relative error of such a duration, at most. */
#define ST_TRACE_QUANTILE_ERROR 0.02

/* Is it the same function as that of the step? */
bool st_trace_is_step_of(const struct st_trace_step *step, const struct st_trace_function *f);
/* Was the function's probe taken out? */
bool st_trace_was_dropped(const struct st_trace *t, const struct st_trace_function *f);
/* The cost of the probes as a share of the CPU time without them; 0: not known. */
double st_trace_cost_share(const struct st_trace_budget *b);

/* Do the function's calls last long enough to be told from the cost of the probe: on average, as
 * long as what lies between the time stamps of an empty call, and the error of the cost? */
bool st_trace_is_resolved(const struct st_trace *t, const struct st_trace_function *f);

/* The first duration of the class that a duration is in. */
uint64_t st_trace_class_of(uint64_t ns);
/* Counts a call in its class. */
st_status st_trace_count(struct st_trace_function *f, uint64_t ns);
/* Puts functions, pairs and classes into their order. */
st_status st_trace_sort(struct st_trace *t);

#endif
