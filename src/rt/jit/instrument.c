/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <strobe/tool.h>

#include "rt/jit/instrument.h"
#include "tools/tools.h"

struct strobe_block {
	const struct build *build;
	uint32_t *amounts;
};

static const strobe_tool *tool;
static strobe_counter *declared[ST_MAX_COUNTERS];

static uint32_t *
amounts_of(uint32_t id)
{
	return (uint32_t *)((char *)rt.results + rt.results->off_amounts) +
	       (size_t)id * ST_MAX_COUNTERS;
}

void
instrument_init(uint32_t index)
{
	tool = st_tools[index];
	jit.counting = tool->block != NULL;
	rt.sample_hz = rt.results->sample_hz;
}

void
instrument_restart(void)
{
	for (uint32_t i = 0; i < ST_MAX_COUNTERS; i++)
		if (declared[i])
			declared[i]->id = 0;
}

void
instrument_block(const struct build *b, uint32_t id)
{
	if (!tool->block)
		return;
	struct strobe_block block = {b, amounts_of(id)};
	tool->block(&block);
}

bool
instrument_counts(uint32_t id)
{
	if (!jit.counting || id == 0)
		return false;
	const uint32_t *row = amounts_of(id);
	for (uint32_t i = 0; i < rt.results->n_counters; i++)
		if (row[i])
			return true;
	return false;
}

static uint32_t
add_string(const char *s)
{
	struct st_results_header *r = rt.results;
	uint32_t at = r->n_strings, n = (uint32_t)strlen(s) + 1;
	if (at + n > ST_STRINGS_BYTES)
		return 0;
	memcpy((char *)r + r->off_strings + at, s, n);
	r->n_strings = at + n;
	return at;
}

strobe_point
strobe_block_entry(strobe_block *b)
{
	return (strobe_point){b, 0};
}

uint32_t
strobe_block_length(const strobe_block *b)
{
	return b->build->whole_insns;
}

uint64_t
strobe_block_address(const strobe_block *b)
{
	return b->build->pc;
}

void
strobe_count(strobe_point at, strobe_counter *counter, uint32_t amount)
{
	if (!counter->id) {
		if (rt.results->n_counters >= ST_MAX_COUNTERS)
			return;
		rt.results->counter_names[rt.results->n_counters] = add_string(counter->name);
		declared[rt.results->n_counters] = counter;
		counter->id = ++rt.results->n_counters;
	}
	at.block->amounts[counter->id - 1] += amount;
}
