/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results as the runtime would have written them, made in memory for the tests. */
#ifndef STROBE_TESTS_FAKE_H
#define STROBE_TESTS_FAKE_H

#include <strobe/tool.h>

#include "control/run.h"
#include "wire/results/forest.h"

struct fake;

/* Results of a tool with the counters named, NULL-terminated: "instructions" counts at each
 * instruction, others at each block's entry. */
struct fake *fake_new(const char *const *counters);
void fake_free(struct fake *f);
struct st_results_header *fake_header(struct fake *f);

/* An executable mapping; path NULL: anonymous. Returns its index. */
uint32_t fake_map(struct fake *f, const char *path, uint64_t start, uint64_t end, uint64_t pgoff);
/* A block; target 0: none. Returns its id. */
uint32_t fake_block(struct fake *f, uint32_t map, uint64_t pc, uint32_t bytes, uint32_t insns,
                    enum st_block_end end, uint64_t target);
void fake_count(struct fake *f, uint32_t slot, uint32_t block, uint64_t executions);
/* An id that is no block's. */
uint32_t fake_tally(struct fake *f);
void fake_amount(struct fake *f, uint32_t block, uint32_t first, uint32_t last, uint64_t cell,
                 int64_t amount);
/* One execution that ended after so many instructions. */
void fake_partial(struct fake *f, uint32_t block, uint32_t insns);
/* Labels of a function (bytes 0) or a block; nodes, parent 0: a thread's own. Return their numbers.
 */
uint32_t fake_label(struct fake *f, uint64_t address, uint32_t bytes);
uint32_t fake_node(struct fake *f, uint32_t label, uint32_t parent, uint64_t count);
/* A table with columns up to one without a name, of which there can be three; returns its index. */
uint32_t fake_table(struct fake *f, const char *name, const strobe_column *columns);
/* A row: a value for each column. Returns its index. */
uint32_t fake_row(struct fake *f, uint32_t table, const uint64_t *values);
/* The offset of a text in the strings. */
uint32_t fake_text(struct fake *f, const char *text);
void fake_samples(struct fake *f, uint64_t pc, uint32_t where, unsigned n);
uint32_t fake_thread(struct fake *f, uint32_t tid, const char *name, uint64_t begin, uint64_t end);
void fake_fallback(struct fake *f, uint64_t pc, uint32_t cause, uint32_t count);

/* The process that these are the results of, ended with exit code 0. */
struct st_process fake_process(struct fake *f, uint32_t pid, uint32_t ppid, const char *command);

/*
 * The fixture library: mapped at FIXTURE_BASE, with what its functions did as the tests expect it.
 * address: of a place `delta` bytes into a function, in the program.
 */
#define FIXTURE_BASE 0x7f0000000000u
uint64_t fixture_offset(const char *function);
uint64_t fixture_address(const char *function, uint64_t delta);
const char *fixture_path(void);
/* Tables in them. */
void fixture_tables(struct fake *f);
/* Contexts in them. */
void fixture_contexts(struct fake *f);
/* Everything that test_collect.c checks, in one process. */
struct fake *fixture_results(void);

#endif
