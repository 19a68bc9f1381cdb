/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executions of the program that is fuzzed: under the engine, which counts how often each basic
 * block is executed, and natively, for the time.
 *
 * The work of an execution is the number of basic blocks that it executed in files, the dynamic
 * linker apart, which does the same in each.
 * The counts do not depend on whether a worker (fuzz/worker.h) has a fork server.
 */
#ifndef STROBE_FUZZ_EXECUTE_H
#define STROBE_FUZZ_EXECUTE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "fuzz/bytes.h"
#include "fuzz/worker.h"
#include "session/region.h"
#include "session/toolset.h"

/* The channel by which the program gets its input. */
enum st_fuzz_channel {
	ST_CHANNEL_STDIN,
	ST_CHANNEL_FILE,     /* the argument @@ becomes a file's name */
	ST_CHANNEL_ARGUMENT, /* the argument @@ becomes the input itself */
};

/* The largest number of executions that are begun before the first of them is finished. */
enum { ST_FUZZ_SLOTS = 32 };

/* An execution beside others. */
struct st_fuzz_slot {
	int answer; /* an unnamed file with the result, once it has ended */
	bool ended; /* and not finished yet */
	bool cut;   /* a signal to strobe came before its end was seen */
	double began, seconds;
};

struct st_fuzz_target {
	char **argv; /* its @@ is replaced before each execution */
	size_t at;   /* of @@ in argv; not with ST_CHANNEL_STDIN */
	enum st_fuzz_channel channel;
	double hang_seconds; /* an execution that lasts longer is ended */
	bool fresh;          /* each execution starts the program: no fork servers */
	bool paths;          /* paths of the call graph are counted, too */
	/* Filled by st_fuzz_target_begin. */
	bool dropping;   /* results of executions that end now are not wanted */
	char folder[64]; /* of the files: scratch.h */
	int lock;        /* on the folder */
	struct st_fuzz_slot slots[ST_FUZZ_SLOTS];
	struct st_fuzz_worker workers[ST_FUZZ_SLOTS]; /* the first that is not busy is used */
	struct st_toolset set;
	struct st_region region; /* the functions that these ask for */
};

/* A basic block of a file. */
struct st_fuzz_place {
	uint32_t image;
	uint64_t offset; /* in the file */
};

/* An edge between basic blocks of files: a branch and one of its targets. */
struct st_fuzz_edge {
	struct st_fuzz_place from; /* the instruction after the branch */
	struct st_fuzz_place to;   /* the block */
};

/* A path of the call graph, by its last function. It begins at a function without a caller. */
struct st_fuzz_path {
	uint32_t parent; /* number of the path to its caller; ST_HASHMAP_NONE: it has none */
	struct st_fuzz_place function;
};

/* All blocks, edges and paths that were executed so far, by number. */
struct st_fuzz_places {
	ST_VEC(char *) images; /* paths of files */
	ST_VEC(struct st_fuzz_place) list;
	struct st_hashmap by_place;
	ST_VEC(struct st_fuzz_edge) edges;
	struct st_hashmap by_edge;
	ST_VEC(uint32_t) marks; /* by edge: 1 + where it is among the counts of an execution */
	ST_VEC(struct st_fuzz_path) paths;
	struct st_hashmap by_path;
};

struct st_fuzz_count {
	uint32_t place;
	uint64_t times;
};

struct st_fuzz_edge_count {
	uint32_t edge;
	uint64_t times;
};

/* What an execution did at the end of a path: in that function, when it was called on that path. */
struct st_fuzz_path_count {
	uint32_t path;
	uint64_t calls;
	uint64_t instructions; /* of the function itself */
};

struct st_fuzz_path_counts {
	struct st_fuzz_path_count *v; /* in the order of paths */
	size_t n, cap;
};

/* How the paths of an execution grew: fuzz/paths.h. */
struct st_fuzz_growth {
	double most;   /* ratio to the base, of the path that grew most */
	double score;  /* mean of all ratios */
	double beyond; /* ratio to the base, of the path that grew most of those on which it did
	                  more than the parent; 0: none */
	uint32_t path; /* the one of `beyond`, or else of `most` */
};

enum st_fuzz_end { ST_END_EXIT, ST_END_SIGNAL, ST_END_HANG };

struct st_fuzz_execution {
	enum st_fuzz_end end;
	int code; /* exit code, or signal */
	double seconds;
	uint64_t work;
	bool executes; /* it ended by executing another program, which is not measured */
	ST_VEC(struct st_fuzz_count) counts;     /* in the order of places */
	ST_VEC(struct st_fuzz_edge_count) edges; /* each once, in any order */
	struct st_fuzz_path_counts paths;        /* empty unless paths are counted */
	struct st_fuzz_growth growth;            /* of the paths: filled by the campaign */
};

/* ST_FAILED with *e: no folder, or no tool. The caller ends it in any case. */
st_status st_fuzz_target_begin(struct st_fuzz_target *t, struct st_error *e);
void st_fuzz_target_end(struct st_fuzz_target *t);

/* Begins an execution under the engine in a slot that is neither running nor ended. */
st_status st_fuzz_start(struct st_fuzz_target *t, size_t slot, const struct st_fuzz_bytes *input,
                        struct st_error *e);
/* Waits until one of those that run has ended, if there is one. Returns false when none has by
 * `until`, a moment of st_now_raw. */
bool st_fuzz_wait(struct st_fuzz_target *t, double until);
/* Takes the result of one that has ended. ST_FAILED with *e: it could not be started, or strobe
 * itself failed. After a signal `out` may be empty. `out` is reused: it begins as all zeros, and is
 * freed once by st_fuzz_execution_free. */
st_status st_fuzz_finish(struct st_fuzz_target *t, size_t slot, struct st_fuzz_places *places,
                         struct st_fuzz_execution *out, struct st_error *e);
/* Ends those that run, and drops their results. */
void st_fuzz_drop_all(struct st_fuzz_target *t);
/* All three for one execution, while no other is running. */
st_status st_fuzz_execute(struct st_fuzz_target *t, const struct st_fuzz_bytes *input,
                          struct st_fuzz_places *places, struct st_fuzz_execution *out,
                          struct st_error *e);
void st_fuzz_execution_free(struct st_fuzz_execution *x);
/* The number of a place, which is added if it is new. ST_HASHMAP_NONE: no memory. */
uint32_t st_fuzz_place_number(struct st_fuzz_places *places, uint32_t image, uint64_t offset);
/* The same of an edge, and of a path. */
uint32_t st_fuzz_edge_number(struct st_fuzz_places *places, struct st_fuzz_edge edge);
/* The number of an edge; ST_HASHMAP_NONE: it is new. */
uint32_t st_fuzz_edge_find(const struct st_fuzz_places *places, struct st_fuzz_edge edge);
uint32_t st_fuzz_path_number(struct st_fuzz_places *places, struct st_fuzz_path path);
void st_fuzz_places_free(struct st_fuzz_places *places);

/* The program's wall time without the engine, seconds; it is ended after hang_seconds, which are
 * returned then. */
st_status st_fuzz_time(struct st_fuzz_target *t, const struct st_fuzz_bytes *input, double *seconds,
                       struct st_error *e);

/* Signals that end the campaign: SIGINT, SIGTERM, SIGHUP. */
void st_fuzz_watch_signals(void);
int st_fuzz_interrupted(void);

#endif
