/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What would a function's speed bring? Runs of a program in which one function is made slower, by
 * noise at its entry, against runs in which none is.
 *
 *	st_blow_select -> functions -> st_blow_run_once, again and again -> runs -> indicators.h
 *
 * A profile keeps all of it (put.c, read.c): tables and graphs are made from there.
 */
#ifndef STROBE_BLOW_BLOW_H
#define STROBE_BLOW_BLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "blow/noise.h"

struct st_profile;

#define ST_BLOW_TOOL "blow"
/* Modes, and the option of the tool that keeps one in a profile. */
#define ST_BLOW_OPTION_MODE "mode"
#define ST_BLOW_SLOW_DOWN "slow-down"
#define ST_BLOW_CAUSAL "causal"

enum { ST_BLOW_NONE = UINT32_MAX }; /* of functions: a run without noise */

/* How a run ended. F(identifier, "name", what it means) */
#define ST_BLOW_FAULTS(F)                                                                          \
	F(NO_FAULT, "none", "it ended as the runs without noise do")                               \
	F(CRASH, "crash", "a signal ended it")                                                     \
	F(EXIT, "exit code", "its exit code differs from that of the runs without noise")          \
	F(OUTPUT, "output", "its output differs from that of the runs without noise")              \
	F(HANG, "hang", "no thread ran any more when the limit was reached")                       \
	F(SLOW, "slow", "threads still ran when the limit was reached")
enum st_blow_fault {
#define F(id, name, meaning) ST_BLOW_##id,
	ST_BLOW_FAULTS(F)
#undef F
	        ST_BLOW_FAULT_COUNT
};
const char *st_blow_fault_name(enum st_blow_fault fault);

/* A function that noise may be put into. */
struct st_blow_function {
	const char *name, *raw_name; /* demangled, and as in the file */
	const char *image;           /* path */
	uint64_t offset;             /* in the image */
	uint64_t calls, ns;          /* when functions were selected, of all threads */
	bool chosen;                 /* it gets noise */
	const char *why;             /* why it cannot be chosen; NULL: it can be */
};

/* What one thread did in a function. Threads are numbered as they appear: first 0. */
struct st_blow_sample {
	uint32_t function, thread;
	uint64_t calls;
	uint64_t ns;       /* with what it called; of recursive calls the outermost ones */
	uint64_t noises;   /* calls that had noise, and how long that took */
	uint64_t noise_ns; /* of a virtual speed-up: what the run took less */
};

struct st_blow_run {
	uint32_t function; /* that has the noise; ST_BLOW_NONE: none has any */
	struct st_blow_noise noise;
	enum st_blow_fault fault;
	int exit;        /* as a shell has it: 128 and a signal's number, or the exit code */
	uint64_t output; /* a hash of what it wrote */
	uint64_t total_ns, cpu_ns;
	ST_VEC(struct st_blow_sample) samples;
};

struct st_blow {
	ST_VEC(struct st_blow_function) functions;
	ST_VEC(struct st_blow_run) runs; /* in the order in which they were made */
	ST_VEC(char *) texts;            /* that belong to it; others are the profile's */
	uint64_t seed;
	bool causal; /* other threads have been slowed, not functions: virtual.h */
};

void st_blow_free(struct st_blow *b);
/* A copy that lives as long as it; NULL: memory is exhausted. */
const char *st_blow_text(struct st_blow *b, const char *text);
/* Puts samples into the order that st_blow_sum needs: by function, then thread. */
void st_blow_sort_samples(struct st_blow_run *r);
/* Calls and time of a function in a run, of all threads. */
struct st_blow_sample st_blow_sum(const struct st_blow_run *r, uint32_t function);

/* put.c, read.c: as tables of a profile. */
st_status st_blow_put(const struct st_blow *b, struct st_profile *p);
/* -1 with *e: the profile is of another tool, is damaged, or memory is exhausted. p has to outlive
 * it. */
st_status st_blow_read(struct st_blow *b, const struct st_profile *p, struct st_error *e);

/* line.c: a run as a line of text, and back. -1: it is none of this many functions, or memory is
 * exhausted; *r is empty then. */
void st_blow_write_line(const struct st_blow_run *r, FILE *out);
st_status st_blow_read_line(struct st_blow_run *r, const char *line, size_t n_functions);
/* The same of a function, which is added to b; `chosen` is not kept. */
void st_blow_write_function(const struct st_blow_function *f, FILE *out);
st_status st_blow_read_function(struct st_blow *b, const char *line);

#endif
