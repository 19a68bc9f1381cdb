/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables after the code cache: blocks by program address, by cache address, and their ids in
 * the results. */
#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/jit/action.h"
#include "rt/jit/jit.h"
#include "rt/jit/sequence.h"
#include "rt/maps.h"

struct jit jit;

enum { FIRST_HASH = 1 << 14 };
/* More pages than the superblocks that one translation makes have code in. */
enum { PAGES_MARGIN = 4096 };
enum { STRETCH = 64 << 10, SHORT_STRETCH = 16 << 10, POPULATE_READ = 22, POPULATE_WRITE = 23 };

static uint32_t
hash_pc(uint64_t pc)
{
	return (uint32_t)((pc * 0x9e3779b97f4a7c15ull) >> 32);
}

/* Whole pages of what has been mapped for all tables. */
static void *
take_pages(char **at, size_t bytes)
{
	char *table = *at;
	*at += (bytes + 4095) & ~4095ull;
	return table;
}

/* Each at its greatest size: what is touched is what is used. Where they end. */
static char *
place_tables(char *at)
{
	jit.blocks = take_pages(&at, MAX_CACHED_BLOCKS * sizeof *jit.blocks);
	jit.exits = take_pages(&at, MAX_EXITS * sizeof *jit.exits);
	jit.records = take_pages(&at, MAX_RECORDS);
	jit.warm.fragments = take_pages(&at, MAX_EXITS * sizeof *jit.warm.fragments);
	jit.hash = take_pages(&at, 4ull * MAX_CACHED_BLOCKS * sizeof *jit.hash);
	jit.ids = take_pages(&at, 2ull * ST_MAX_BLOCKS * sizeof *jit.ids);
	jit.sources = take_pages(&at, MAX_RECORDS);
	jit.source_of = take_pages(&at, MAX_CACHED_BLOCKS * sizeof *jit.source_of);
	jit.id_of = take_pages(&at, MAX_CACHED_BLOCKS * sizeof *jit.id_of);
	jit.edge_of = take_pages(&at, MAX_CACHED_BLOCKS * sizeof *jit.edge_of);
	jit.rest_of = take_pages(&at, MAX_CACHED_BLOCKS * sizeof *jit.rest_of);
	jit.pages = take_pages(&at, 2ull * N_PAGE_SLOTS * sizeof *jit.pages);
	invokes.list = take_pages(&at, MAX_INVOKES * sizeof *invokes.list);
	return at;
}

int
jit_init(void)
{
	const size_t bytes = (size_t)place_tables(NULL);
	char *tables = rt_map_table(bytes);
	if (!tables)
		return -1;
	place_tables(tables);
	/* A fork's child makes a cache of its own. */
	if (rt.follow)
		SYS(__NR_madvise, tables, bytes, 18 /* MADV_WIPEONFORK */);
	jit.most_insns = MAX_BLOCK_INSNS;
	jit.ids_size = FIRST_HASH;
	jit.hash_size = FIRST_HASH;
	jit_reset();
	return 0;
}

void
jit_reset(void)
{
	rt_clear_memory(jit.hash, jit.hash_size * sizeof *jit.hash);
	rt_clear_memory(jit.blocks, jit.n_blocks * sizeof *jit.blocks);
	rt_clear_memory(jit.pages, 2ull * N_PAGE_SLOTS * sizeof *jit.pages);
	jit.n_pages = 0;
	jit.hash_size = FIRST_HASH;
	jit.hash_used = 0;
	jit.n_blocks = 1;
	jit.n_exits = 0;
	jit.n_stubs = 0;
	invokes.n = 0;
	jit.n_records = 0;
	jit.n_sources = 0;
	bool tiny = rt.stress & ST_STRESS_cache;
	jit.hot_limit = tiny ? 64 << 10 : ST_AREA_WARM - MAX_WHOLE_CODE;
	jit.warm.next = ST_AREA_WARM;
	jit.warm.limit = tiny ? ST_AREA_WARM + (64 << 10) : ST_AREA_COLD - (64 << 10);
	jit.warm.n_fragments = 0;
	jit.exit_limit = tiny ? 4096 : MAX_EXITS - 2 * MAX_WHOLE_INSNS;
	jit.generation++;
	/* Address 0 of the cache is where empty entries of the lookup table lead: a pad without a
	 * block. */
	struct emit e = cache_emit(0);
	sequence_empty_pad(&e);
	/* The entries that make a lookup fail: for jumps, for returns. */
	uint64_t nothing[2] = {(uint64_t)rt_stub_miss, cache_addr(0)};
	memcpy(cache_write(CACHE_NOTHING), nothing, sizeof nothing);
	jit.hot = 64;
	jit_lookup_reset();
}

void
jit_restart(void)
{
	rt_clear_memory(jit.ids, jit.ids_size * sizeof *jit.ids);
	jit.ids_size = FIRST_HASH;
	jit_reset();
}

/* Growing memory is faulted in a stretch at a time: one call costs less than its pages' faults one
 * by one. Not where a budget is nearly spent: a reserve is for then. */
struct growth {
	uint64_t base, populated;
};

static void
populate(uint64_t base, uint64_t executable, uint64_t bytes)
{
	SYS(__NR_madvise, base, bytes, POPULATE_WRITE);
	if (executable)
		SYS(__NR_madvise, executable, bytes, POPULATE_READ);
}

static void
grow_by(struct growth *g, uint64_t base, uint64_t used, uint64_t executable, uint64_t stretch)
{
	/* The mean cost. Memory that a virtual machine has to get from its host takes several times
	   as long. */
	static uint64_t ticks = 150000;
	enum { AT_MOST = 5 };
	if (g->base != base)
		*g = (struct growth){base, 0};
	if (used + stretch / 2 < g->populated || budget_is_short(rt_self(), AT_MOST * ticks))
		return;
	uint64_t from = (used > g->populated ? used : g->populated) & ~4095ull, begin = rt_tsc();
	populate(base + from, executable ? executable + from : 0, stretch);
	budget_learn(&ticks, rt_tsc() - begin);
	g->populated = from + stretch;
}

static void
populate_table(struct growth *g, uint64_t base, uint64_t used, uint64_t executable)
{
	grow_by(g, base, used, executable, STRETCH);
}

/* Of a table with a number for each block. */
static void
grow_numbers(struct growth *g, const void *base)
{
	if (rt.code.counting)
		grow_by(g, (uint64_t)base, jit.n_blocks * sizeof(uint32_t), 0, SHORT_STRETCH);
}

static void
grow_all(void)
{
	static struct growth hot, warm, cold, blocks, exits, records, warms, reported, amounts, ids,
	        edges, rests;
	struct st_results_header *r = rt.results;
	populate_table(&hot, rt.alias, jit.hot, rt.target.area);
	populate_table(&warm, rt.alias + ST_AREA_WARM, jit.warm.next - ST_AREA_WARM,
	               rt.target.area + ST_AREA_WARM);
	populate_table(&cold, rt.alias + ST_AREA_COLD, jit.n_stubs * jit_stub_len(),
	               rt.target.area + ST_AREA_COLD);
	populate_table(&blocks, (uint64_t)jit.blocks, jit.n_blocks * sizeof *jit.blocks, 0);
	populate_table(&exits, (uint64_t)jit.exits, jit.n_exits * sizeof *jit.exits, 0);
	populate_table(&records, (uint64_t)jit.records, jit.n_records * sizeof *jit.records, 0);
	populate_table(&warms, (uint64_t)jit.warm.fragments,
	               jit.warm.n_fragments * sizeof *jit.warm.fragments, 0);
	populate_table(&reported, (uint64_t)r + r->layout.off_blocks,
	               r->blocks.n * sizeof(struct st_block), 0);
	grow_numbers(&ids, jit.id_of);
	grow_numbers(&edges, jit.edge_of);
	grow_numbers(&rests, jit.rest_of);
	if (r->blocks.n_amounts)
		populate_table(&amounts, (uint64_t)r + r->layout.off_amounts,
		               r->blocks.n_amounts * sizeof(struct st_amount), 0);
}

uint32_t
jit_generation(void)
{
	return jit.generation;
}

bool
jit_has_space(void)
{
	grow_all();
	return pages_have_space() && jit.n_pages < N_PAGE_SLOTS / 2 - PAGES_MARGIN &&
	       jit.hot < jit.hot_limit && jit.warm.next < jit.warm.limit &&
	       jit.warm.n_fragments < MAX_EXITS - 4096 && jit.n_exits < jit.exit_limit &&
	       /* one fragment, exit or record per instruction at the worst, and some */
	       jit.n_blocks < MAX_CACHED_BLOCKS - 2 * MAX_WHOLE_INSNS &&
	       jit.n_records < MAX_RECORDS / sizeof *jit.records - 16 * MAX_WHOLE_INSNS &&
	       invokes.n < MAX_INVOKES - 16 * MAX_WHOLE_INSNS &&
	       jit.n_sources < MAX_RECORDS - 16 * MAX_WHOLE_INSNS;
}

enum { HASH_BLOCK = MAX_CACHED_BLOCKS - 1 }; /* the bits of an entry that are the index */

uint32_t
jit_find(uint64_t pc, enum version version)
{
	uint32_t mask = jit.hash_size - 1, hash = hash_pc(pc), e;
	for (uint32_t h = hash & mask; (e = jit.hash[h]); h = (h + 1) & mask) {
		if ((e ^ hash) & ~(uint32_t)HASH_BLOCK)
			continue;
		const struct block *b = &jit.blocks[e & HASH_BLOCK];
		if (b->pc == pc && b->version == version && (b->flags & BLOCK_VALID))
			return e & HASH_BLOCK;
	}
	return 0;
}

static bool
is_entry(const struct block *b)
{
	return (b->flags & (BLOCK_VALID | BLOCK_SUSPENDED)) &&
	       !(b->flags & (BLOCK_CONT | BLOCK_RESUME));
}

/* A dropped block of the same hash gives its entry away: code that changes again and again fills no
 * table. */
static void
hash_put(uint32_t block)
{
	uint32_t mask = jit.hash_size - 1, hash = hash_pc(jit.blocks[block].pc), e;
	uint32_t tag = hash & ~(uint32_t)HASH_BLOCK, h = hash & mask;
	while ((e = jit.hash[h]) &&
	       ((e & ~(uint32_t)HASH_BLOCK) != tag || is_entry(&jit.blocks[e & HASH_BLOCK])))
		h = (h + 1) & mask;
	jit.hash_used += e == 0;
	jit.hash[h] = block | tag;
}

static void
hash_rebuild(void)
{
	uint32_t valid = 0;
	for (uint32_t i = 1; i < jit.n_blocks; i++)
		valid += is_entry(&jit.blocks[i]);
	memset(jit.hash, 0, jit.hash_size * sizeof *jit.hash);
	while (jit.hash_size < valid * 3 && jit.hash_size < 4u * MAX_CACHED_BLOCKS)
		jit.hash_size *= 2;
	jit.hash_used = 0;
	for (uint32_t i = 1; i < jit.n_blocks; i++)
		if (is_entry(&jit.blocks[i]))
			hash_put(i);
}

void
jit_insert(uint32_t block)
{
	if (budget_lets_grow(jit.hash_used, jit.hash_size / 8 * 5ull, jit.hash_size))
		hash_rebuild(); /* the new block is already among jit.blocks and valid */
	else
		hash_put(block);
}

static bool
same_code(const struct st_block *r, const struct build *b)
{
	return r->pc == b->pc && r->bytes == b->whole_bytes && r->n_insns == b->whole_insns &&
	       r->map == b->map && r->end == b->end;
}

static void
ids_grow(void)
{
	const struct st_block *blocks =
	        (const void *)((char *)rt.results + rt.results->layout.off_blocks);
	memset(jit.ids, 0, jit.ids_size * sizeof *jit.ids);
	jit.ids_size *= 2;
	for (uint32_t id = ST_FIRST_ID; id < rt.results->blocks.n; id++) {
		if (blocks[id].flags & ST_BLOCK_TALLY)
			continue;
		uint32_t h = hash_pc(blocks[id].pc) & (jit.ids_size - 1);
		while (jit.ids[h])
			h = (h + 1) & (jit.ids_size - 1);
		jit.ids[h] = id;
	}
}

uint32_t
jit_result_id(const struct build *b)
{
	struct st_results_header *r = rt.results;
	struct st_block *blocks = (void *)((char *)r + r->layout.off_blocks);
	if (!rt.code.counting)
		return 0;
	uint32_t h = hash_pc(b->pc) & (jit.ids_size - 1);
	for (; jit.ids[h]; h = (h + 1) & (jit.ids_size - 1))
		if (same_code(&blocks[jit.ids[h]], b))
			return jit.ids[h];
	if (r->blocks.n >= ST_MAX_BLOCKS)
		return 0;
	uint32_t id = r->blocks.n;
	blocks[id] = (struct st_block){.pc = b->pc,
	                               .map = b->map,
	                               .bytes = b->whole_bytes,
	                               .n_insns = b->whole_insns,
	                               .end = b->end,
	                               .target = b->target};
	jit.ids[h] = id;
	__atomic_store_n(&r->blocks.n, id + 1, __ATOMIC_RELEASE);
	if (jit.ids_size < 2u * ST_MAX_BLOCKS &&
	    budget_lets_grow(r->blocks.n, jit.ids_size / 2, jit.ids_size))
		ids_grow();
	return id;
}

void
jit_report_sizes(void)
{
	uint64_t *stats = rt.results->stats;
	size_t per_block = sizeof *jit.blocks +
	                   (rt.code.counting ? sizeof *jit.id_of + sizeof *jit.edge_of : 0);
	stats[ST_STAT_cache_hot] = jit.hot;
	stats[ST_STAT_cache_cold] = jit.warm.next - ST_AREA_WARM + jit.n_stubs * jit_stub_len();
	stats[ST_STAT_table_bytes] =
	        jit.n_blocks * per_block + jit.n_exits * sizeof *jit.exits +
	        jit.n_records * sizeof *jit.records + jit.hash_size * sizeof *jit.hash +
	        jit.warm.n_fragments * sizeof(struct warm_fragment) + jit.n_sources;
}

void
jit_keep_source(uint32_t block, const void *code)
{
	const struct block *b = &jit.blocks[block];
	jit.source_of[block] = jit.n_sources;
	memcpy(jit.sources + jit.n_sources, code, block_extent(b));
	jit.n_sources += block_extent(b);
}

bool
jit_same_source(uint32_t block)
{
	const struct block *b = &jit.blocks[block];
	return memcmp(jit.sources + jit.source_of[block], (const void *)b->pc, block_extent(b)) ==
	       0;
}

uint32_t
jit_block_at(uint32_t off)
{
	uint32_t low = 1, high = jit.n_blocks;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (jit.blocks[mid].body <= off)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 1)
		return 0;
	const struct block *b = &jit.blocks[low - 1];
	return off < b->body + b->body_len ? low - 1 : 0;
}

uint32_t
jit_block_after(uint32_t off)
{
	uint32_t low = 1, high = jit.n_blocks;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (jit.blocks[mid].body <= off)
			low = mid + 1;
		else
			high = mid;
	}
	return low < jit.n_blocks ? low : 0;
}

const struct warm_fragment *
jit_warm_at(uint32_t off)
{
	const struct warm_fragment *fragments = jit.warm.fragments;
	uint32_t low = 0, high = jit.warm.n_fragments;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (fragments[mid].at <= off)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &fragments[low - 1] : NULL;
}
