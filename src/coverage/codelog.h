/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of code that has been measured, kept across runs (--unique-log): docs/codelog.md.
 *
 * A database of its own: images by their build-ids, and of each the basic blocks that were executed
 * while they were measured, with the lengths of their instructions. Several runs may have it open.
 */
#ifndef STROBE_COVERAGE_CODELOG_H
#define STROBE_COVERAGE_CODELOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct st_codelog;

/* Opens the log; make: it may be made, or be an empty file. NULL and *e when it is no log, damaged,
 * or cannot be read: it is left as it is. */
struct st_codelog *st_codelog_open(const char *path, bool make, struct st_error *e);
void st_codelog_close(struct st_codelog *log);

/* hurry: what follows waits 20 ms for another program that has locked the log, instead of a minute,
 * and fails. */
void st_codelog_hurry(struct st_codelog *log, bool hurry);
/* The last failure was that another program had locked the log. */
bool st_codelog_was_busy(const struct st_codelog *log);

/* A run, as far as the log knows. */
struct st_codelog_run {
	int64_t start_ns;
	const char *command;           /* valid during a call of `use` */
	bool ended;                    /* it was seen to end */
	int64_t cpu_ns;                /* that it used */
	uint64_t blocks, instructions; /* that it measured */
	uint64_t refused,
	        refused_instructions; /* that it did not measure, because the log has them */
	uint64_t wrongly_refused;     /* instructions among them that the log does not have */
	/* ns of the CPU time that its first thread would have used natively: when its first window
	   began; when the budget of that was spent, 0: it was not, or there was no window. */
	uint64_t first_ns, until_ns;
};

/* The totals of earlier runs. */
struct st_codelog_past {
	size_t runs; /* that began */
	/* Runs of the same command that ended, and CPU time of the last one; 0: none did. */
	size_t own_runs;
	uint64_t own_cpu_ns;
	/* Those of them whose first windows lie one behind the other, from the program's start on.
	 */
	size_t sweeps;         /* such rows of runs */
	uint64_t swept_ns;     /* up to where the last one has come */
	bool grows;            /* its last run found a hundredth or more of what was there then */
	uint64_t instructions; /* that all of these have found */
};

/* Notes that a run begins. 0, or -1 with *e. */
st_status st_codelog_begin(struct st_codelog *log, int64_t start_ns, const char *command,
                           struct st_codelog_past *past, struct st_error *e);
/* What became of the run that was begun last: everything but start_ns and command. 0, or -1 with
 * *e.
 */
st_status st_codelog_end(struct st_codelog *log, const struct st_codelog_run *run,
                         struct st_error *e);

/* The number of an image in the log; 0: it has none. -1: *e says why. */
int64_t st_codelog_find(struct st_codelog *log, const char *build_id, struct st_error *e);
/* The number of an image in the log, which it gets if need be; -1: *e says why. */
int64_t st_codelog_image(struct st_codelog *log, const char *build_id, const char *path,
                         struct st_error *e);

/* A basic block: link-time address, and the lengths of its instructions. */
struct st_codelog_block {
	uint64_t offset;
	const uint8_t *lengths;
	uint32_t insns, bytes;
	uint64_t times; /* that it was measured */
};

/* Blocks between begin and commit come into the log together, or none does. 0, or -1 with *e. */
st_status st_codelog_begin_blocks(struct st_codelog *log, struct st_error *e);
void st_codelog_add(struct st_codelog *log, int64_t image, const struct st_codelog_block *block);
st_status st_codelog_commit_blocks(struct st_codelog *log, struct st_error *e);
void st_codelog_undo_blocks(struct st_codelog *log);

/* Call use for each block of the image whose first byte is in [from, to), by offset; for each
 * image; for each run, the first one first. 0, or -1 with *e. */
st_status st_codelog_blocks(struct st_codelog *log, int64_t image, uint64_t from, uint64_t to,
                            void (*use)(void *arg, const struct st_codelog_block *block), void *arg,
                            struct st_error *e);
st_status st_codelog_images(struct st_codelog *log,
                            void (*use)(void *arg, int64_t image, const char *build_id,
                                        const char *path),
                            void *arg, struct st_error *e);
st_status st_codelog_runs(struct st_codelog *log,
                          void (*use)(void *arg, const struct st_codelog_run *run), void *arg,
                          struct st_error *e);

#endif
