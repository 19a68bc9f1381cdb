/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

#include <string.h>

#include "control/internal.h"
#include "wire/results/forest.h"

static uint64_t
place(uint64_t *at, uint64_t bytes)
{
	uint64_t here = *at;
	*at += (bytes + 4095) & ~4095ull;
	return here;
}

void
st_results_layout(struct st_results_header *h)
{
	uint64_t at = 0;
	h->layout.magic = ST_RESULTS_MAGIC;
	h->layout.version = ST_WIRE_VERSION;
	place(&at, sizeof *h);
	place(&at, sizeof(struct st_boot));
	h->layout.off_maps = place(&at, ST_MAX_MAPS * sizeof(struct st_map));
	h->layout.off_strings = place(&at, ST_STRINGS_BYTES);
	h->layout.off_blocks = place(&at, ST_MAX_BLOCKS * sizeof(struct st_block));
	h->layout.off_amounts = place(&at, ST_MAX_AMOUNTS * sizeof(struct st_amount));
	h->layout.off_partials = place(&at, ST_MAX_PARTIALS * sizeof(struct st_partial));
	h->layout.off_threads = place(&at, ST_MAX_THREADS * sizeof(struct st_thread));
	h->layout.off_samples = place(&at, ST_MAX_SAMPLES * sizeof(struct st_sample));
	h->layout.off_stacks = place(&at, ST_STACK_RING);
	h->layout.off_sites = place(&at, ST_MAX_SITES * sizeof(strobe_site));
	h->layout.off_tables =
	        place(&at, (uint64_t)ST_MAX_TABLES * ST_TABLE_ROWS * ST_MAX_COLUMNS * 8);
	h->layout.off_entries = place(&at, ST_MAX_ENTRIES * sizeof(struct st_entry));
	h->layout.off_entry_names = place(&at, ST_ENTRY_NAMES);
	h->layout.off_coverage = place(&at, ST_COVERAGE_BYTES);
	h->layout.off_leaders = place(&at, ST_COVERAGE_BYTES);
	h->layout.off_labels = place(&at, ST_MAX_LABELS * sizeof(uint64_t));
	h->layout.off_nodes = place(&at, ST_MAX_NODES * sizeof(strobe_node));
	h->layout.off_costs = place(&at, ST_MAX_NODES * sizeof(strobe_cost));
	h->layout.off_loops = place(&at, ST_MAX_LOOPS * sizeof(strobe_loop));
	h->layout.off_known = place(&at, ST_MAX_KNOWN * sizeof(struct st_known_context));
	h->layout.off_overshoots =
	        place(&at, ST_MAX_OVERSHOOT_ROWS * sizeof(struct st_overshoot_row));
	/* At the end what a process that has ended gives back: unused slots, then the chunks. */
	h->layout.counters_stride = ST_MAX_BLOCKS * sizeof(uint64_t);
	h->layout.off_counters = place(&at, ST_MAX_SLOTS * h->layout.counters_stride);
	h->layout.off_chunks = place(&at, (uint64_t)(ST_MAX_CHUNKS + 1) * ST_CHUNK_STRIDE);
	h->layout.file_size = at;
	h->layout.slots_here = ST_MAX_SLOTS;
	h->strings.n = 1; /* offset 0 is no string */
	h->blocks.n = ST_FIRST_ID;
	h->threads.n_slots = 1;
	h->contexts.n_labels = h->contexts.n_nodes = 1;
}

void
st_results_place(struct st_results_header *h, uint64_t at)
{
	h->layout.at = at;
	h->layout.off_chunks += -(at + h->layout.off_chunks) & (ST_CHUNK_STRIDE - 1);
}

bool
st_results_add_entry(struct st_results_header *h, const struct st_entry *entry, const char *name)
{
	size_t bytes = strlen(name) + 1;
	uint32_t n = h->control.n_entries, at = h->control.n_entry_names;
	if (n >= ST_MAX_ENTRIES || at > ST_ENTRY_NAMES || bytes > ST_ENTRY_NAMES - at)
		return false;
	memcpy((char *)h + h->layout.off_entry_names + at, name, bytes);
	struct st_entry *out = (struct st_entry *)((char *)h + h->layout.off_entries) + n;
	*out = *entry;
	out->name = at;
	h->control.n_entry_names = at + (uint32_t)bytes;
	h->control.n_entries = n + 1;
	return true;
}

bool
st_results_add_entry_data(struct st_results_header *h, const struct st_entry *entry,
                          const char *name, const void *data, size_t bytes)
{
	const uint32_t at = (h->control.n_entry_names + 15) & ~7u;
	struct st_entry with_data = *entry;
	if (at > ST_ENTRY_NAMES || bytes > ST_ENTRY_NAMES - at)
		return false;
	memcpy((char *)h + h->layout.off_entry_names + at, data, bytes);
	h->control.n_entry_names = at + (uint32_t)bytes;
	with_data.data = at;
	return st_results_add_entry(h, &with_data, name);
}
