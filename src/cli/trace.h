/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of strobe trace. */
#ifndef STROBE_CLI_TRACE_H
#define STROBE_CLI_TRACE_H

#include <limits.h>

#include "base/status.h"
#include "cli/measure.h"
#include "trace/engine.h"
#include "trace/rates.h"
#include "trace/raw.h"
#include "trace/shape.h"

enum st_trace_form {
	ST_TRACE_DB,
	ST_TRACE_TEXT,
	ST_TRACE_JSON,
	ST_TRACE_CALLGRIND,
	/* These are of recorded events. */
	ST_TRACE_TIMELINE,
	ST_TRACE_RAW,
	ST_TRACE_FOLDED,
	ST_TRACE_SPEEDSCOPE,
	ST_TRACE_PPROF,
};

/* Options that are set together, unless they are given. */
enum st_trace_preset { ST_TRACE_NO_PRESET, ST_TRACE_QUICK, ST_TRACE_THOROUGH };
#define ST_TRACE_QUICK_EVERY "16"

struct st_trace_arguments {
	struct st_measure measure;
	const char *asked; /* an option that is about a run; NULL: none was given */
	struct st_patterns usdt;
	bool lists_usdt;
	bool user, all, per_thread, events, refused, dry_run, help;
	bool removes;        /* --remove */
	const char *besides; /* an option that --remove excludes; NULL: none was given */
	bool own; /* no functions were chosen, so that those of the program itself are traced */
	const struct st_trace_engine *engine;
	bool cpu;
	const char *changed_since;            /* another build, or a profile of it; NULL: none */
	struct st_trace_changed *changed;     /* the same, opened */
	const char *reduce_by;                /* an earlier trace; NULL: none */
	struct st_trace_reduction *reduction; /* the same, read */
	enum st_trace_shape shape;            /* --shape */
	bool skips_constant;                  /* --skip-constant */
	char program[PATH_MAX]; /* whose functions are traced by default, if it is known */
	char main[256];         /* empty: none */
	enum st_trace_preset preset;
	struct st_trace_rates rates;  /* --every */
	double window, window_period; /* --windows, seconds; 0: none */
	long depth;                   /* 0: all */
	bool has_form;                /* --format was given */
	enum st_trace_form form;      /* what is written to the file */
	const char *from;             /* a profile to read; NULL: none */
	const char *from_raw;         /* a raw file to read; NULL: none */
	enum st_trace_unit unit;      /* of the raw file */
	bool has_unit;
	long pid;       /* of a process to attach; 0: none */
	double seconds; /* to measure; 0: all */
};

/* 0, or -1 with *e. st_trace_arguments_free in both cases. */
st_status st_trace_parse(struct st_trace_arguments *a, char *const *argv, struct st_error *e);
/* The engine that was asked for; of auto, probe where that can do what is asked for, else jit. */
const struct st_trace_engine *st_trace_engine_for(const struct st_trace_engine *asked,
                                                  const struct st_trace_request *r);
/* An engine by its name, also auto; NULL: there is none. */
const struct st_trace_engine *st_trace_engine_named(const char *name);
struct st_trace_request st_trace_request_of(struct st_trace_arguments *a);
/* Prints the static probes. */
st_status st_trace_list_usdt(const struct st_trace_arguments *a, struct st_error *e);
/* Removes the probes that a killed strobe has left in a process. */
st_status st_trace_remove(const struct st_trace_arguments *a, struct st_error *e);
/* Is the format made of entries and returns, one by one? */
bool st_trace_needs_events(enum st_trace_form form);
/* The name of a format, as --format takes it. */
const char *st_trace_form_name(enum st_trace_form form);
/* Writes one of these, of the events that the profile has recorded; profile: the file that it was
 * read from, NULL: none. */
st_status st_trace_write_events(const struct st_profile *p, const char *profile,
                                const struct st_trace_arguments *a, FILE *out, struct st_error *e);
void st_trace_arguments_free(struct st_trace_arguments *a);

#endif
