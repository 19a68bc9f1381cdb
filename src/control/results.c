/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control/internal.h"

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
	h->magic = ST_RESULTS_MAGIC;
	h->version = ST_WIRE_VERSION;
	place(&at, sizeof *h);
	place(&at, sizeof(struct st_boot));
	h->off_maps = place(&at, ST_MAX_MAPS * sizeof(struct st_map));
	h->off_strings = place(&at, ST_STRINGS_BYTES);
	h->off_blocks = place(&at, ST_MAX_BLOCKS * sizeof(struct st_block));
	h->off_amounts = place(&at, ST_MAX_BLOCKS * sizeof(uint32_t) * ST_MAX_COUNTERS);
	h->off_partials = place(&at, ST_MAX_BLOCKS * sizeof(uint64_t));
	h->off_threads = place(&at, ST_MAX_THREADS * sizeof(struct st_thread));
	h->off_samples = place(&at, ST_MAX_SAMPLES * sizeof(struct st_sample));
	h->off_stacks = place(&at, ST_STACK_RING);
	h->counters_stride = ST_MAX_BLOCKS * sizeof(uint64_t);
	h->off_counters = place(&at, ST_MAX_SLOTS * h->counters_stride);
	h->file_size = at;
	h->n_strings = 1; /* offset 0 is no string */
	h->n_blocks = 1;
	h->n_slots = 1;
}

uint64_t
st_results_counter(const struct st_results_header *h, unsigned c)
{
	const uint32_t(*amounts)[ST_MAX_COUNTERS] = st_section(h, h->off_amounts);
	const struct st_block *blocks = st_results_blocks(h);
	const char *name = st_results_string(h, h->counter_names[c]);
	bool instructions = name[0] == 'i' && __builtin_strcmp(name, "instructions") == 0;
	uint64_t sum = 0;
	for (uint32_t id = 1; id < h->n_blocks; id++) {
		uint64_t n = st_results_executions(h, id);
		sum += n * amounts[id][c];
		/* What was executed of blocks that were left early counts as instructions, not as
		 * blocks. */
		if (instructions && amounts[id][c] == blocks[id].n_insns)
			sum += st_results_partial(h, id);
	}
	return sum;
}
