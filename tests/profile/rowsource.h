/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results with a stream, and rows in its chunks, as the runtime would have made them. */
#ifndef STROBE_TESTS_ROWSOURCE_H
#define STROBE_TESTS_ROWSOURCE_H

#include <strobe/tool.h>

#include "control/run.h"

/* A whole results file of a process, most of which is never touched: two maps, two threads with
 * slots 1 and 2, strings. */
struct st_results_header *row_source_new(uint32_t pid);
size_t row_source_size(void);
void row_source_free(struct st_results_header *h);

/* The stream "trace" with the columns site (address), kind (text), data (hex), n. */
void row_source_stream(struct st_results_header *h);
/* A site of it, where kind is always that text, and site that address; data and n vary. */
uint32_t row_source_site(struct st_results_header *h, uint64_t address, const char *kind);

/* Appends a row at `at`; returns where the next one goes. */
uint64_t *row_source_row(uint64_t *at, uint32_t site, uint64_t data, uint64_t n);
/* Where a chunk's rows begin. */
uint64_t *row_source_chunk(struct st_results_header *h, uint32_t chunk);
/* The chunk is full up to `end`. */
void row_source_full(struct st_results_header *h, uint32_t chunk, uint32_t thread,
                     const uint64_t *end);
/* It still belongs to the thread, which has come to `end`. */
void row_source_owned(struct st_results_header *h, uint32_t chunk, uint32_t thread,
                      const uint64_t *end);

#endif
