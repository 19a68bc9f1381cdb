/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles of other tools, read into Strobe's: what a file says becomes series of measurements,
 * functions or calling contexts.
 *
 * A line, or an entry, that cannot be understood is left out and counted; a file that is damaged,
 * or of which nothing could be understood, is refused.
 */
#ifndef STROBE_IMPORT_IMPORT_H
#define STROBE_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

struct st_profile;

/* F(identifier, "name", "what it is"): in the order in which they are tried when the user names
 * none. */
#define ST_IMPORT_FORMATS(F)                                                                       \
	F(strobe_json, "json", "measurements as strobe show --format json prints them")            \
	F(perun, "perun", "a profile of Perun")                                                    \
	F(hyperfine, "hyperfine", "hyperfine --export-json")                                       \
	F(benchmark, "benchmark", "Google Benchmark --benchmark_format=json")                      \
	F(pprof, "pprof", "a profile.proto of pprof, plain or compressed by gzip")                 \
	F(callgrind, "callgrind", "callgrind.out of Valgrind")                                     \
	F(gprof, "gprof", "what gprof prints: flat profile and call graph")                        \
	F(folded, "folded", "folded stacks: a line for each, with a number")                       \
	F(perf, "perf", "what perf script prints")                                                 \
	F(table, "csv", "a table with a header, its fields separated by commas or tabs")

/* The file while it is read. */
struct st_import {
	const char *path; /* as messages name it */
	const char *bytes;
	size_t n;
	struct st_profile *p;
	size_t skipped;          /* lines or entries that were left out */
	size_t first;            /* line or number of the first of them, from 1 */
	const char *skipped_are; /* "lines", "results": what is counted */
};

struct st_import_format {
	const char *name, *help;
	/* Whether the file seems to be of this format. */
	bool (*detect)(const struct st_import *in);
	st_status (*read)(struct st_import *in, struct st_error *e);
};

extern const struct st_import_format st_import_formats[];
extern const size_t st_n_import_formats;

/* Reads the file; "-" is standard input. format NULL: it is found out. *used receives the format.
 * NULL with *e. */
struct st_profile *st_import_file(const char *path, const char *format,
                                  const struct st_import_format **used, struct st_error *e);
/* The same of bytes in memory. */
struct st_profile *st_import_bytes(const char *path, const char *bytes, size_t n,
                                   const char *format, const struct st_import_format **used,
                                   struct st_error *e);

#define F(id, name, help)                                                                          \
	bool st_import_is_##id(const struct st_import *in);                                        \
	st_status st_import_##id(struct st_import *in, struct st_error *e);
ST_IMPORT_FORMATS(F)
#undef F

/* ---- for the readers ---- */

/* Counts a line or entry (from 1) that was left out. */
void st_import_skip(struct st_import *in, size_t number);
/* "FILE, line N: REASON": the file is refused. Returns ST_FAILED. */
__attribute__((format(printf, 4, 5))) st_status
st_import_bad(const struct st_import *in, size_t line, struct st_error *e, const char *format, ...);
st_status st_import_no_memory(const struct st_import *in, struct st_error *e);
/* Adds the words of a command line to the run's. */
void st_import_command(struct st_profile *p, const char *words);
/* Whether the text occurs in the first bytes of the file. */
bool st_import_has(const struct st_import *in, const char *text);
bool st_import_begins(const struct st_import *in, const char *text);

#endif
