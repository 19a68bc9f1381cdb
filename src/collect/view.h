/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A checked view of a results file. The program under analysis could have written over its own
 * results, so nothing in them is followed before it is known to lie inside the file.
 */
#ifndef STROBE_COLLECT_VIEW_H
#define STROBE_COLLECT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <strobe/tool.h>

#include "base/error.h"
#include "wire/results/forest.h"
#include "wire/results/header.h"

/* A table, with what its numbers were when the view was opened: its process may go on. */
struct st_view_table {
	const struct st_table *table;
	const uint64_t *rows; /* n_rows of n_columns */
	uint32_t n_rows, n_columns, n_keys;
};

struct st_view {
	const struct st_results_header *header;
	const struct st_map *maps;
	const struct st_block *blocks;
	const struct st_amount *amounts;
	const struct st_partial *partials;
	const struct st_thread *threads;
	const struct st_sample *samples;
	const char *strings;
	const uint64_t *labels;
	const strobe_node *nodes;
	const strobe_cost *costs;
	const strobe_loop *loops;
	const struct st_overshoot_row *overshoots;
	uint32_t n_labels, n_nodes, n_loops, n_overshoots;
	uint32_t n_maps, n_blocks, n_threads, n_fallbacks, n_strings, n_slots;
	uint32_t n_counters, n_tables, n_streams, n_amounts, n_partials;
	struct st_view_table tables[ST_MAX_TABLES];
	bool counting;      /* blocks are counted */
	uint32_t n_samples; /* kept */
	uint64_t n_dropped; /* samples that found no room */
};

/* 0, or -1 and *e when the file does not have the form of results. size is that of the mapping. */
st_status st_view_open(struct st_view *view, const void *results, size_t size, struct st_error *e);

/* The string at an offset of the strings section; "" when there is none. */
const char *st_view_string(const struct st_view *view, uint32_t offset);

/* Executions of every block and the number of every tally, summed over all slots; instructions of
 * executions of blocks that ended early: n_blocks numbers each. */
struct st_view_counts {
	uint64_t *executions, *partial;
};
/* 0, or -1 when memory is exhausted. The caller frees. */
st_status st_view_count(const struct st_view *view, struct st_view_counts *counts);
void st_view_counts_free(struct st_view_counts *counts);

/* Whether the id is that of a block, not of a tally or of none. */
static inline bool
st_view_is_block(const struct st_view *view, uint32_t id)
{
	return view->blocks[id].bytes != 0;
}

/* The totals of everything that grows: of the counters, and of each table all rows, copied, with
 * n_columns numbers each. */
struct st_view_totals {
	uint64_t counters[ST_MAX_COUNTERS];
	uint64_t *rows[ST_MAX_TABLES];
};
/* 0, or -1 when memory is exhausted. The caller frees, in both cases. */
st_status st_view_total(const struct st_view *view, const struct st_view_counts *counts,
                        struct st_view_totals *totals);
void st_view_totals_free(struct st_view_totals *totals);

#endif
