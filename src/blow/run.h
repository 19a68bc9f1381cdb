/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of the program with probes, in a separate process. */
#ifndef STROBE_BLOW_RUN_H
#define STROBE_BLOW_RUN_H

#include <pthread.h>

#include "blow/blow.h"
#include "probe/probes.h"
#include "trace/engine.h"

struct st_blow_live;
struct st_blow_locations;
struct st_blow_points;

struct st_blow_how {
	char *const *program;
	const char *input; /* file for its standard input */
	const char
	        *main; /* functions are timed, and get noise, while this one runs; NULL: always */
	bool after;    /* noise of a function is at its returns, in place of its entries */
	bool speedup;  /* runs have noise in all functions except one */
	bool causal;   /* runs are virtual speed-ups: virtual.h */
	bool hides_pauses; /* the program's clocks stand still while its threads are paused */
	double limit;      /* seconds after which a run is ended; 0: none */
	double yield_ns;   /* the yields of one noise end after this time; 0: no limit */
	double duration; /* seconds after which a run is ended without a fault; 0: it ends itself */
	double end_at;   /* moment (st_now_raw) at which a run is ended in the same way; 0: none */
	const struct st_trace_request *request; /* chooses the functions for the selection */
	bool names_exist;  /* the selection fails if one of the request's names fits no function, */
	size_t first_name; /* from this one on */
	bool reads_code;   /* the selection also reads what the code says of functions: calls.h */
	const struct st_blow_points *points;       /* further functions for it; NULL: none */
	const struct st_blow_locations *locations; /* within functions, for it; NULL: none */
	bool contexts;                             /* it also lists calling contexts */
	const struct st_trace_request *callers; /* chooses further callers for these; NULL: none */
	const struct st_blow_locations *called; /* functions of these, for it; NULL: none */
	/* Lines and blocks are sped up: no function is timed, except progress points. Bits of enum
	 * st_blow_target for those that the selection finds. */
	bool samples;
	uint32_t sampled;
	const struct st_blow_locations *lines; /* further lines, for the selection; NULL: none */
	struct st_blow_live *live; /* runs are windows in one process; NULL: each is a process */
	bool records;              /* the run also records its calls: timeline.h */
	bool plain;                /* the run has no probes: plain.c */
	bool clocks;               /* the run reads both clocks: clocks.h */
};

/* Runs the program with probes on all functions that the request chooses; adds these functions to
 * b, also those that take no probe, and fills in the run. 0, or -1 with *e. */
st_status st_blow_select(const struct st_blow_how *how, struct st_blow *b, struct st_blow_run *run,
                         struct st_error *e);
/* Runs the program with probes on the chosen functions of b, with the noise run->noise in
 * run->function. 0, or -1 with *e. The caller frees run->samples.v. */
st_status st_blow_run_once(const struct st_blow_how *how, const struct st_blow *b,
                           struct st_blow_run *run, struct st_error *e);
/* Reads the lines of a run: its functions into `selected`, NULL if it selects none, and the run. 0,
 * or -1 with *e. */
st_status st_blow_read_answer(FILE *in, struct st_blow *selected, size_t n_functions,
                              struct st_blow_run *run, struct st_error *e);
/* The same with how->records: b->timeline takes the calls. */
st_status st_blow_run_recorded(const struct st_blow_how *how, struct st_blow *b,
                               struct st_blow_run *run, struct st_error *e);

/* probed.c, in the process that runs the program: writes the run as a line to out; if b is NULL,
 * which is the selection, it writes the functions first. */
st_status st_blow_probed(const struct st_blow_how *how, const struct st_blow *b,
                         const struct st_blow_run *asked, int output, FILE *out,
                         struct st_error *e);
/* plain.c, in the same process: runs the program without probes, and writes the run as a line. */
st_status st_blow_plain(const struct st_blow_how *how, FILE *out, struct st_error *e);
/* watchdog.c: the seconds after which a run that begins now is ended, by the limit (0: none) or at
 * how->end_at. *cuts is set if the latter comes first. */
double st_blow_seconds_of(const struct st_blow_how *how, double limit, bool *cuts);
/* watchdog.c: a thread that ends a program when it has reached its limit. */
struct st_blow_watchdog {
	pid_t pid;    /* leads a process group */
	double limit; /* seconds; 0: none */
	int pidfd, stop;
	pthread_t thread;
	bool runs;
	bool cuts; /* to end the program is no fault */
	bool cut;  /* the program was ended so; valid after st_blow_watchdog_end */
	struct st_probes *probes;
	int output; /* file for the program's output */
	/* Valid after st_blow_watchdog_end; the caller frees the note (struct st_blow_run). */
	enum st_blow_fault fault;
	char *note;
};
/* probes: of the program, which has started. */
void st_blow_watchdog_begin(struct st_blow_watchdog *w, struct st_probes *probes, int output,
                            const struct st_blow_how *how);
/* Call it when the program has ended. */
void st_blow_watchdog_end(struct st_blow_watchdog *w);

#endif
