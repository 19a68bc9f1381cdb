/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "collect/view.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t
view_least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* Whether n records of `each` bytes at offset lie inside the file, aligned as records must be. */
static bool
view_fits(uint64_t offset, uint64_t n, uint64_t each, size_t size)
{
	uint64_t bytes, end;
	return (each == 1 || offset % 8 == 0) && !__builtin_mul_overflow(n, each, &bytes) &&
	       !__builtin_add_overflow(offset, bytes, &end) && end <= size;
}

/* Takes note of the tables, and whether they lie inside the file. */
static bool
tables_fit(struct st_view *v, size_t size)
{
	const struct st_results_header *h = v->header;
	const uint64_t room = (uint64_t)ST_TABLE_ROWS * ST_MAX_COLUMNS * sizeof(uint64_t);
	if (h->layout.off_tables > size)
		return false;
	for (uint32_t i = 0; i < v->n_tables; i++) {
		struct st_view_table *t = &v->tables[i];
		uint64_t offset = h->layout.off_tables + i * room;
		t->table = &h->tables.v[i];
		t->n_rows = view_least(t->table->n_rows, ST_TABLE_ROWS);
		t->n_columns = view_least(t->table->n_columns, ST_MAX_COLUMNS);
		t->n_keys = view_least(t->table->n_keys, t->n_columns);
		if (!view_fits(offset, t->n_rows, t->n_columns * sizeof(uint64_t), size))
			return false;
		t->rows = (const void *)((const char *)h + offset);
	}
	return true;
}

static bool
sections_fit(struct st_view *v, size_t size)
{
	const struct st_results_header *h = v->header;
	if (v->n_slots > 1 && (h->layout.counters_stride % 8 || h->layout.counters_stride > size))
		return false;
	uint64_t last_slot = v->n_slots ? (v->n_slots - 1) * h->layout.counters_stride : 0;
	return view_fits(h->layout.off_maps, v->n_maps, sizeof *v->maps, size) &&
	       view_fits(h->layout.off_strings, v->n_strings, 1, size) &&
	       view_fits(h->layout.off_blocks, v->n_blocks, sizeof *v->blocks, size) &&
	       view_fits(h->layout.off_amounts, v->n_amounts, sizeof *v->amounts, size) &&
	       view_fits(h->layout.off_partials, v->n_partials, sizeof *v->partials, size) &&
	       view_fits(h->layout.off_threads, v->n_threads, sizeof *v->threads, size) &&
	       view_fits(h->layout.off_samples, v->n_samples, sizeof *v->samples, size) &&
	       view_fits(h->layout.off_labels, v->n_labels, sizeof *v->labels, size) &&
	       view_fits(h->layout.off_nodes, v->n_nodes, sizeof *v->nodes, size) &&
	       view_fits(h->layout.off_costs, v->n_nodes, sizeof *v->costs, size) &&
	       view_fits(h->layout.off_loops, v->n_loops, sizeof *v->loops, size) &&
	       view_fits(h->layout.off_overshoots, v->n_overshoots, sizeof *v->overshoots, size) &&
	       tables_fit(v, size) &&
	       (!v->n_slots ||
	        (last_slot <= size && h->layout.off_counters <= size - last_slot &&
	         view_fits(h->layout.off_counters + last_slot, v->n_blocks, 8, size)));
}

st_status
st_view_open(struct st_view *v, const void *results, size_t size, struct st_error *e)
{
	const struct st_results_header *h = results;
	memset(v, 0, sizeof *v);
	if (!results || size < sizeof *h || h->layout.magic != ST_RESULTS_MAGIC)
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the results of the run are damaged: the program may have written over "
		        "memory that is not its own; run it again");
	if (h->layout.version != ST_WIRE_VERSION)
		return st_fail(e, ST_EXIT_FAILED,
		               "the runtime writes version %u of the results, and this strobe "
		               "reads version %u: install both from one build",
		               h->layout.version, ST_WIRE_VERSION);
	v->header = h;
	v->n_maps = view_least(h->maps.n, ST_MAX_MAPS);
	v->n_blocks = view_least(h->blocks.n, ST_MAX_BLOCKS);
	v->n_threads = view_least(h->threads.n, ST_MAX_THREADS);
	v->n_fallbacks = view_least(h->fallbacks.n, ST_MAX_FALLBACKS);
	v->n_strings = view_least(h->strings.n, ST_STRINGS_BYTES);
	v->n_slots = view_least(h->threads.n_slots, ST_MAX_SLOTS);
	v->n_counters = view_least(h->counters.n, ST_MAX_COUNTERS);
	v->n_tables = view_least(h->tables.n, ST_MAX_TABLES);
	v->n_streams = view_least(h->streams.n, ST_MAX_STREAMS);
	v->n_amounts = view_least(h->blocks.n_amounts, ST_MAX_AMOUNTS);
	v->n_partials = view_least(h->blocks.n_partials, ST_MAX_PARTIALS);
	v->n_labels = view_least(h->contexts.n_labels, ST_MAX_LABELS);
	v->n_nodes = view_least(h->contexts.n_nodes, ST_MAX_NODES);
	v->n_loops = view_least(h->contexts.n_loops, ST_MAX_LOOPS);
	v->n_overshoots = view_least(h->budget.n_overshoot_rows, ST_MAX_OVERSHOOT_ROWS);
	v->counting = h->blocks.counting != 0;
	uint64_t samples = h->samples.n;
	v->n_samples = view_least(samples, ST_MAX_SAMPLES);
	v->n_dropped = samples - v->n_samples;
	if (!sections_fit(v, size))
		return st_fail(
		        e, ST_EXIT_FAILED,
		        "the results of the run are damaged: a section lies outside the file; run "
		        "the program again");
	const char *base = results;
	v->maps = (const void *)(base + h->layout.off_maps);
	v->strings = base + h->layout.off_strings;
	v->blocks = (const void *)(base + h->layout.off_blocks);
	v->amounts = (const void *)(base + h->layout.off_amounts);
	v->partials = (const void *)(base + h->layout.off_partials);
	v->threads = (const void *)(base + h->layout.off_threads);
	v->samples = (const void *)(base + h->layout.off_samples);
	v->labels = (const void *)(base + h->layout.off_labels);
	v->nodes = (const void *)(base + h->layout.off_nodes);
	v->costs = (const void *)(base + h->layout.off_costs);
	v->loops = (const void *)(base + h->layout.off_loops);
	v->overshoots = (const void *)(base + h->layout.off_overshoots);
	return 0;
}

const char *
st_view_string(const struct st_view *v, uint32_t offset)
{
	if (offset >= v->n_strings || !memchr(v->strings + offset, '\0', v->n_strings - offset))
		return "";
	return v->strings + offset;
}
