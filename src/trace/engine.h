/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the ways to time calls (jit, ebpf, ...) have in common, so that one can take another's
 * place: they are asked for the same, and what comes of each is a profile with the tables of the
 * tool `calltimes`, which st_trace_read reads. Who has a trace and no profile makes one with
 * st_trace_put.
 */
#ifndef STROBE_TRACE_ENGINE_H
#define STROBE_TRACE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/status.h"

struct st_patterns;
struct st_profile;
struct st_session;
struct st_trace_changed;
struct st_trace_rates;
struct st_trace_reduction;

struct st_trace;

/* An observer of the trace while it is recorded. */
struct st_trace_watcher {
	/* Called many times a second: `read` makes the trace of what there is now, which the caller
	 * frees; -1: memory is exhausted. */
	void (*watch)(void *arg, double elapsed, st_status (*read)(void *from, struct st_trace *t),
	              void *from);
	/* Called before and after strobe stops with the program. */
	void (*pause)(void *arg, bool begins);
	void *arg;
};

/* The request. The caller owns all of it; it outlives the run. */
struct st_trace_request {
	/* The program or the process, for how long, whether children are traced, which functions,
	 * images and threads are chosen, and where the result goes. */
	struct st_session *session;
	bool own; /* leave out what the compiler adds to a program */
	bool per_thread, events, quiet;
	bool cpu;                     /* times are CPU times of the thread */
	struct st_trace_rates *rates; /* of which functions 1 of N calls is timed */
	double window,
	        window_period; /* s: calls are timed for `window` of each period; 0: always */
	long depth;            /* 0: all */
	const char *main;      /* empty: none */
	const struct st_patterns *excluded;   /* functions */
	struct st_trace_changed *changed;     /* only functions that have; NULL: all */
	struct st_trace_reduction *reduction; /* leaves functions out; NULL: none */
	bool skips_constant;                  /* the reduction leaves out functions by their code */
	struct st_patterns *usdt;             /* static probes */
	bool no_functions;                    /* only those */
	const struct st_trace_watcher *watcher; /* NULL: nobody */
};

/* The outcome. */
struct st_trace_outcome {
	struct st_profile *profile; /* the caller frees */
	uint32_t pid;               /* of the program; 0: there was none */
	int exit_code;              /* that strobe ends with */
	/* The first of the notes that name what was asked for and is not there, how many they are,
	 * and the option that nothing fitted, so that nothing was traced; NULL: there is none. */
	size_t missing, n_missing;
	const char *unmatched;
};

/* Refuses options of the code cache alone: 0, or -1 with the message for the first such option. */
st_status st_trace_refuse_options(const struct st_trace_request *r, const char *engine,
                                  struct st_error *e);

struct st_trace_engine {
	const char *name;
	const char *needs; /* what it needs, as in "needs root"; NULL: nothing special */
	/* Whether this build and this machine have what it needs, and it can do what is asked for.
	 * 0, or -1 with *e, a sentence that says what is missing. NULL: it always can. */
	st_status (*check)(const struct st_trace_request *r, struct st_error *e);
	/* Starts the program, or takes the process, and waits until it is over. 0, or -1 with *e.
	 * NULL: the request's session is run as it is, with the tool `calltimes`. */
	st_status (*run)(const struct st_trace_request *r, struct st_trace_outcome *out,
	                 struct st_error *e);
};

#endif
