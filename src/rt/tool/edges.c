/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The edges of conditional branches. How often a branch was executed is known already, so one of
 * its two edges is counted: the one that was not gone the first time, because it will be gone less.
 */
#include "rt/tool/tool.h"

static strobe_map edges; /* by basic block and instruction: id */

static struct st_block *
edge_block(uint32_t id)
{
	return (struct st_block *)((char *)rt.results + rt.results->layout.off_blocks) + id;
}

static void
add_amounts(uint32_t edge)
{
	struct st_results_header *r = rt.results;
	struct st_amount *list = (struct st_amount *)((char *)r + r->layout.off_amounts);
	uint64_t n = r->blocks.n_amounts;
	for (unsigned i = 0; i < asked.n_edge_amounts; i++, n++) {
		const struct edge_amount *a = &asked.edge_amounts[i];
		uint16_t first = a->direction == DIRECTION_NOT_TAKEN;
		if (n < ST_MAX_AMOUNTS)
			list[n] = (struct st_amount){edge, first, (uint16_t)(first + 1), a->cell,
			                             a->amount};
	}
	__atomic_store_n(&r->blocks.n_amounts, n, __ATOMIC_RELEASE);
}

uint32_t
edge_of_fragment(void)
{
	struct st_results_header *r = rt.results;
	if (!asked.n_edge_amounts)
		return 0;
	uint32_t branch = asked.base + asked.b->n - 1;
	uint64_t *known = strobe_map_at(&edges, (uint64_t)asked.id << 32 | branch);
	if (!known || *known)
		return known ? (uint32_t)*known : 0;
	if (r->blocks.n >= ST_MAX_BLOCKS)
		return 0;
	uint32_t edge = r->blocks.n;
	*edge_block(edge) = (struct st_block){
	        .n_insns = branch, .flags = ST_BLOCK_TALLY | ST_BLOCK_EDGE, .target = asked.id};
	*known = edge;
	__atomic_store_n(&r->blocks.n, edge + 1, __ATOMIC_RELEASE);
	add_amounts(edge);
	return edge;
}

static uint16_t
flag_of(enum direction direction)
{
	return direction == DIRECTION_TAKEN ? ST_EDGE_TAKEN : ST_EDGE_NOT_TAKEN;
}

bool
edge_counts(uint32_t edge, enum direction direction)
{
	return __atomic_load_n(&edge_block(edge)->flags, __ATOMIC_RELAXED) & flag_of(direction);
}

/* Without a lock: signal handlers come here from the cache. */
void
edge_pass(struct thread *t, uint32_t edge, enum direction direction)
{
	uint16_t *flags = &edge_block(edge)->flags;
	uint16_t none = ST_BLOCK_TALLY | ST_BLOCK_EDGE;
	uint16_t decided = none | flag_of(direction == DIRECTION_TAKEN ? DIRECTION_NOT_TAKEN
	                                                               : DIRECTION_TAKEN);
	if (__atomic_compare_exchange_n(flags, &none, decided, false, __ATOMIC_RELAXED,
	                                __ATOMIC_RELAXED) &&
	    rt.served)
		rt.results->control.serve.n_directions++;
	if (edge_counts(edge, direction))
		__atomic_fetch_add(thread_counter(t, edge), 1, __ATOMIC_RELAXED);
}

void
edges_forget(void)
{
	if (edges.slots)
		rt_unmap_memory(edges.slots, 2 * edges.size * sizeof(uint64_t));
	edges = (strobe_map){0};
}
