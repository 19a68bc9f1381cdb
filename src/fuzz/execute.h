/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executions of the program that is fuzzed: under the engine, which counts how often each basic
 * block is executed, and natively, for the time.
 *
 * The work of an execution is the number of basic blocks that it executed in files, the dynamic
 * linker apart, which does the same in each. Each execution has a process of strobe of its own.
 */
#ifndef STROBE_FUZZ_EXECUTE_H
#define STROBE_FUZZ_EXECUTE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "fuzz/bytes.h"
#include "session/toolset.h"

/* The channel by which the program gets its input. */
enum st_fuzz_channel {
	ST_CHANNEL_STDIN,
	ST_CHANNEL_FILE,     /* the argument @@ becomes a file's name */
	ST_CHANNEL_ARGUMENT, /* the argument @@ becomes the input itself */
};

struct st_fuzz_target {
	char **argv; /* its @@ is replaced before each execution */
	size_t at;   /* of @@ in argv; not with ST_CHANNEL_STDIN */
	enum st_fuzz_channel channel;
	double hang_seconds; /* an execution that lasts longer is ended */
	/* Filled by st_fuzz_target_begin. */
	char folder[64]; /* of the files, in $TMPDIR */
	char input[80];  /* holds the input */
	int answer;      /* an unnamed file into which the child writes its answer */
	struct st_toolset set;
};

/* A basic block of a file. */
struct st_fuzz_place {
	uint32_t image;
	uint64_t offset; /* in the file */
};

/* All blocks that were executed so far, by number. */
struct st_fuzz_places {
	ST_VEC(char *) images; /* paths */
	ST_VEC(struct st_fuzz_place) list;
	struct st_hashmap by_place;
};

struct st_fuzz_count {
	uint32_t place;
	uint64_t times;
};

enum st_fuzz_end { ST_END_EXIT, ST_END_SIGNAL, ST_END_HANG };

struct st_fuzz_execution {
	enum st_fuzz_end end;
	int code; /* exit code, or signal */
	double seconds;
	uint64_t work;
	ST_VEC(struct st_fuzz_count) counts;
};

/* ST_FAILED with *e: no folder, or no tool. The caller ends it in any case. */
st_status st_fuzz_target_begin(struct st_fuzz_target *t, struct st_error *e);
void st_fuzz_target_end(struct st_fuzz_target *t);

/* Executes the program under the engine. ST_FAILED with *e: it could not be started, or strobe
 * itself failed. After a signal `out` may be empty. `out` is reused: it begins as all zeros, and is
 * freed once by st_fuzz_execution_free. */
st_status st_fuzz_execute(struct st_fuzz_target *t, const struct st_fuzz_bytes *input,
                          struct st_fuzz_places *places, struct st_fuzz_execution *out,
                          struct st_error *e);
void st_fuzz_execution_free(struct st_fuzz_execution *x);
void st_fuzz_places_free(struct st_fuzz_places *places);

/* The program's wall time without the engine, seconds; it is ended after hang_seconds, which are
 * returned then. */
st_status st_fuzz_time(struct st_fuzz_target *t, const struct st_fuzz_bytes *input, double *seconds,
                       struct st_error *e);

/* Signals that end the campaign: SIGINT, SIGTERM, SIGHUP. */
void st_fuzz_watch_signals(void);
int st_fuzz_interrupted(void);

#endif
