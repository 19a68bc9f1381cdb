/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How does the run time of a program depend on the speed of a function? Strobe runs the program
 *with noise at the entries of one function, and compares these runs with runs without noise (the
 * baseline).
 *
 *	st_blow_select -> functions -> st_blow_run_once, repeatedly -> runs -> indicators.h
 *
 * A profile keeps functions, runs and samples (put.c, read.c); reports are made from the profile.
 */
#ifndef STROBE_BLOW_BLOW_H
#define STROBE_BLOW_BLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "blow/noise.h"

struct st_blow;
struct st_profile;
struct st_blow_timeline;

#define ST_BLOW_TOOL "blow"
/* Modes, and the option of the tool under which a profile keeps the mode. */
#define ST_BLOW_OPTION_MODE "mode"
#define ST_BLOW_SLOW_DOWN "slow-down"
#define ST_BLOW_SPEED_UP "speed-up"
#define ST_BLOW_CAUSAL "causal"
/* The option that says that Strobe ended the runs, and its value. */
#define ST_BLOW_OPTION_END "end"
#define ST_BLOW_CUT "cut"
#define ST_BLOW_WINDOWS "windows"

enum { ST_BLOW_NONE = UINT32_MAX }; /* in place of a function's index: a run without noise */

/* Kinds of ends of a run. F(identifier, "name", meaning) */
#define ST_BLOW_FAULTS(F)                                                                          \
	F(NO_FAULT, "none", "it ended as the runs without noise do")                               \
	F(CRASH, "crash", "a signal ended it")                                                     \
	F(EXIT, "exit code", "its exit code differs from that of the runs without noise")          \
	F(OUTPUT, "output", "its output differs from that of the runs without noise")              \
	F(HANG, "hang", "no thread ran any more when the limit was reached")                       \
	F(SLOW, "slow", "functions still returned when the limit was reached")                     \
	F(DEADLOCK, "deadlock", "threads waited for each other when the limit was reached")        \
	F(LOST_WAKEUP, "lost wake-up", "all threads waited for a wake-up when it was reached")     \
	F(LIVELOCK, "livelock", "threads ran without effect when the limit was reached")
enum st_blow_fault {
#define F(id, name, meaning) ST_BLOW_##id,
	ST_BLOW_FAULTS(F)
#undef F
	        ST_BLOW_FAULT_COUNT
};
const char *st_blow_fault_name(enum st_blow_fault fault);
bool st_blow_fault_named(const char *name, enum st_blow_fault *fault);

/* Traits of a function, which its code or its name shows, as bits. */
enum {
	ST_BLOW_DOES_IO = 1 << 0,      /* it reads or writes, or leads to functions that do */
	ST_BLOW_USES_LOCKS = 1 << 1,   /* it is a function of locks, or calls one */
	ST_BLOW_CONSTANT = 1 << 2,     /* it has neither a loop nor a call */
	ST_BLOW_IS_LOCK = 1 << 3,      /* it is a function of locks */
	ST_BLOW_ENDS_PROGRAM = 1 << 4, /* its output is a message about a failure */
	ST_BLOW_IS_INSIDE = 1 << 5,    /* it is an instruction within a function: locations.h */
	ST_BLOW_IS_CONTEXT = 1 << 6,   /* it is the calls of a function by one caller: contexts.h */
	ST_BLOW_IS_CALLER = 1 << 7,    /* it is in the list as a caller only */
	ST_BLOW_IS_LINE = 1 << 8,      /* it is a source line in a function: sampled.h */
	ST_BLOW_IS_BLOCK = 1 << 9,     /* it is a basic block: sampled.h */
	ST_BLOW_IS_INFERRED = 1 << 10, /* it is a progress point that Strobe has found: infer.h */
	ST_BLOW_IS_FREQUENT = 1 << 11, /* it is left out, since its probe would cost too much */
	ST_BLOW_TRAITS = (1 << 12) - 1,
	/* Entries that are no functions; those of ST_BLOW_IS_TARGET have no probe either. */
	ST_BLOW_IS_SAMPLED = ST_BLOW_IS_LINE | ST_BLOW_IS_BLOCK,
	ST_BLOW_IS_TARGET = ST_BLOW_IS_CONTEXT | ST_BLOW_IS_SAMPLED,
	ST_BLOW_IS_PART = ST_BLOW_IS_INSIDE | ST_BLOW_IS_TARGET
};

/* What an entry of the list of functions is as a progress point: progress.h. Profiles keep the
 * numbers. */
enum st_blow_point_kind {
	ST_BLOW_NO_POINT,
	ST_BLOW_CALLS,   /* a function whose calls are the work */
	ST_BLOW_SOURCE,  /* no function, but a metric: points.h */
	ST_BLOW_BEGINS,  /* a function with whose calls a latency begins; no point itself */
	ST_BLOW_LATENCY, /* no function, but the latency of requests: points.h */
	ST_BLOW_SITE,    /* no function, but a static probe (USDT) or a line: sites.h */
	ST_BLOW_POINT_KINDS
};

/* A function that was timed in the selection, or that cannot take a probe. */
struct st_blow_function {
	const char *name, *raw_name; /* demangled, and as in the file */
	const char *image;           /* path; "": the entry is a point that is no function */
	uint64_t offset;             /* in the image */
	uint64_t calls, ns;          /* in the selection run, sums over all threads */
	uint32_t sites;  /* calls in the code of all images that name it; 0: not known */
	uint32_t traits; /* ST_BLOW_DOES_IO and so on; 0: not known */
	uint32_t met;    /* criteria that it meets: bits of enum st_blow_criterion */
	bool chosen;     /* it gets noise */
	enum st_blow_point_kind progress;
	const char *why; /* reason for which it takes no probe; NULL: it takes one */
	/* Of a context, indices of earlier entries; caller ST_BLOW_NONE: functions without a probe
	 * make the calls. */
	uint32_t callee, caller;
};

static inline bool
st_blow_is_function(const struct st_blow_function *f)
{
	return *f->image != '\0';
}
/* The number of functions, without points that are none. */
size_t st_blow_functions(const struct st_blow *b);

/* A place in a file. The texts are owned; "": it is not known. */
struct st_blow_place {
	char *image, *function;
	uint64_t offset; /* in the image */
};
/* What has created a thread: origins.h. */
struct st_blow_origin {
	uint32_t thread;            /* its number */
	uint32_t creator;           /* the thread that has created it; ST_BLOW_NONE: not known */
	uint32_t nth;               /* from 0, among threads that are otherwise the same */
	struct st_blow_place start; /* the function that it began with */
	struct st_blow_place call;  /* that has created it */
};
void st_blow_origin_clear(struct st_blow_origin *o);
/* 0 if no text of the origin is NULL; -1: memory was exhausted when they were copied. */
st_status st_blow_origin_check(const struct st_blow_origin *o);

/* Counts of one function in one thread. Threads are numbered from 0: the first one is that with
 * which the program began. In windows, they are numbered in order of appearance. */
struct st_blow_sample {
	uint32_t function, thread;
	uint64_t calls;
	uint64_t ns;       /* inclusive time; of recursive calls only the outermost */
	uint64_t noises;   /* calls with noise */
	uint64_t noise_ns; /* duration of that noise; with a virtual speed-up, the time by which
	                      the run is taken to be shorter, and for a progress point the time
	                      that the thread has paid */
};

/* The time that a thread spent in functions with probes: those of its calls that no other such
 * function made. */
struct st_blow_span {
	uint32_t thread; /* as in samples */
	uint64_t ns;
};

/* A run of the program, or with `live` a window of time in it. */
struct st_blow_run {
	uint32_t function; /* the function with the noise, or in a speed-up the only one without;
	                      ST_BLOW_NONE: a baseline run */
	struct st_blow_noise noise;
	enum st_blow_fault fault;
	int exit;        /* as in a shell: the exit code, or 128 plus the signal's number */
	uint64_t output; /* hash of the standard output */
	uint64_t total_ns, cpu_ns;
	ST_VEC(struct st_blow_sample) samples;
	ST_VEC(struct st_blow_span) spans; /* of a speed-up, and its runs without noise */
	/* The threads of the run, whose numbers are those of the run, until these are replaced by
	 * those of the campaign: origins.h. */
	ST_VEC(struct st_blow_origin) origins;
	/* For a run that reached its limit, lines "KIND\tTEXT" that explain the fault; NULL: none.
	 * Kinds: cause, thread, frame (stacks.h) and missing. Owned. */
	char *note;
};
void st_blow_origins_clear(struct st_blow_run *r);
/* Frees what the run owns. */
void st_blow_run_clear(struct st_blow_run *r);

/* A run without probes. */
struct st_blow_plain_run {
	uint64_t total_ns; /* 0: it has failed */
	uint64_t cpu_ns;
};

/* What a run without noise measured of a function in all threads by both clocks: clocks.h. */
struct st_blow_clocked {
	uint32_t run; /* from 0, among these runs */
	uint32_t function;
	bool open;           /* a call had not returned when the process ended, and is left out */
	uint64_t ns, cpu_ns; /* inclusive, of the outermost calls, with the cost of probes */
};

struct st_blow {
	ST_VEC(struct st_blow_function) functions;
	ST_VEC(struct st_blow_run) runs;        /* in the order in which they were made */
	ST_VEC(struct st_blow_plain_run) plain; /* in their order: overhead.h */
	ST_VEC(struct st_blow_clocked) clocked; /* in the order of the runs: clocks.h */
	size_t clock_runs;                      /* that were made, also those with a fault */
	ST_VEC(struct st_blow_origin) threads;  /* of all runs, except the first thread */
	ST_VEC(char *) texts;                   /* owned texts; other texts belong to the profile */
	uint64_t seed;
	bool speedup; /* runs with noise have it in all functions except one */
	bool causal;  /* runs with noise are virtual speed-ups: virtual.h */
	bool cut;     /* the program does not end the runs; Strobe does, after a given time */
	bool live;    /* runs are windows of time in one process, and `cut` is set, too: live.h */
	struct st_blow_timeline *timeline; /* timeline.h; NULL: none was recorded */
	/* Another program that the process has executed in the selection, without probes; NULL:
	 * none is known. A profile has it as a note. */
	const char *executed;
};

void st_blow_free(struct st_blow *b);
/* Returns a copy that lives as long as b; NULL: memory is exhausted. */
const char *st_blow_text(struct st_blow *b, const char *text);
/* The sample of the entry in the thread, which is added if there is none. NULL: memory is
 * exhausted. */
struct st_blow_sample *st_blow_sample_of(struct st_blow_run *r, uint32_t function, uint32_t thread);
/* Sorts the samples by function, then thread, which st_blow_sum needs. */
void st_blow_sort_samples(struct st_blow_run *r);
/* Sums the samples of a function in a run over all threads. */
struct st_blow_sample st_blow_sum(const struct st_blow_run *r, uint32_t function);

/* Sums the calls with noise, and the noise, of all functions in the run. */
struct st_blow_sample st_blow_noise_of(const struct st_blow_run *r);
/* The mode: ST_BLOW_SLOW_DOWN and so on. */
const char *st_blow_mode(const struct st_blow *b);

/* put.c, read.c: write to and read from tables of a profile. */
st_status st_blow_put(const struct st_blow *b, struct st_profile *p);
/* -1 with *e: the profile is of another tool, is damaged, or memory is exhausted. p has to outlive
 * b. */
st_status st_blow_read(struct st_blow *b, const struct st_profile *p, struct st_error *e);

/* line.c: write a run as a line of text, and read it. -1: the line is no run, it names a function
 * not below n_functions, or memory is exhausted; *r is empty then. */
void st_blow_write_line(const struct st_blow_run *r, FILE *out);
st_status st_blow_read_line(struct st_blow_run *r, const char *line, size_t n_functions);
/* The same for a function, or for what st_blow_write_executed has written; reading adds it to b.
 * The line does not keep `chosen`. */
void st_blow_write_function(const struct st_blow_function *f, FILE *out);
st_status st_blow_read_function(struct st_blow *b, const char *line);
void st_blow_write_executed(const char *executed, FILE *out);
/* Writes a line for each function, and one for b->executed. */
void st_blow_write_selection(const struct st_blow *b, FILE *out);

#endif
