/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A checked view of a results file. The program under analysis could have written over its own
 * results, so nothing in them is followed before it is known to lie inside the file.
 */
#ifndef STROBE_PROFILE_VIEW_H
#define STROBE_PROFILE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "wire/results.h"

struct st_view {
	const struct st_results_header *header;
	const struct st_map *maps;
	const struct st_block *blocks;
	const uint32_t *amounts;
	const uint64_t *partials;
	const struct st_thread *threads;
	const struct st_sample *samples;
	const char *strings;
	uint32_t n_maps, n_blocks, n_threads, n_fallbacks, n_strings, n_slots, n_counters;
	uint32_t n_samples; /* kept */
	uint64_t n_dropped; /* samples that found no room */
};

/* 0, or -1 and *e when the file does not have the form of results. size is that of the mapping. */
int st_view_open(struct st_view *view, const void *results, size_t size, struct st_error *e);

/* The string at an offset of the strings section; "" when there is none. */
const char *st_view_string(const struct st_view *view, uint32_t offset);

/* Executions of every block, summed over all slots: n_blocks numbers that the caller frees. NULL:
 * no memory. */
uint64_t *st_view_executions(const struct st_view *view);

#endif
