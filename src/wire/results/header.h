/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The results: what the runtime writes in the target and the controller reads.
 *
 * One sparse shared-memory file per process under analysis. It begins with the header, which holds
 * the layout, the plan, the handshakes, and a structure for each kind of result; then come the
 * sections, plain arrays that only grow. The controller may read at any time, also after the target
 * has died: a record counts from the moment its kind's counter covers it. Nothing in here is a
 * pointer.
 */
#ifndef STROBE_WIRE_RESULTS_HEADER_H
#define STROBE_WIRE_RESULTS_HEADER_H

#include <stdint.h>

#include "wire/control.h"
#include "wire/functions.h"
#include "wire/plan.h"
#include "wire/results/blocks.h"
#include "wire/results/budget.h"
#include "wire/results/contexts.h"
#include "wire/results/coverage.h"
#include "wire/results/fallbacks.h"
#include "wire/results/known.h"
#include "wire/results/maps.h"
#include "wire/results/run.h"
#include "wire/results/samples.h"
#include "wire/results/stats.h"
#include "wire/results/streams.h"
#include "wire/results/tables.h"
#include "wire/results/threads.h"
#include "wire/results/tools.h"

#define ST_RESULTS_MAGIC 0x42525453u /* "STRB" */
#define ST_WIRE_VERSION 15u

enum { ST_STRINGS_BYTES = 256 << 20 };

/*
 * What does not change once the process runs. Offsets of the sections, which are bare arrays:
 * strings: char[]; labels: uint64_t[ST_MAX_LABELS]; nodes: strobe_node[ST_MAX_NODES] and costs:
 * strobe_cost[ST_MAX_NODES] (forest.h), by node; loops: strobe_loop[ST_MAX_LOOPS] (forest.h);
 * known: struct st_known_context[ST_MAX_KNOWN];
 * sites: strobe_site[ST_MAX_SITES] (tool.h); tables: see st_table; counters: per slot
 * uint64_t[ST_MAX_BLOCKS]; the others: of the structures with these names. Chunk i lies at
 * off_chunks + i * ST_CHUNK_STRIDE, which is such that its address in the target is a multiple of
 * ST_CHUNK_STRIDE.
 */
struct st_layout {
	uint32_t magic, version;
	uint32_t pid, ppid;
	uint64_t file_size;
	uint64_t off_maps, off_strings, off_blocks, off_amounts, off_partials, off_threads;
	uint64_t off_samples, off_stacks, off_sites, off_tables, off_entries, off_entry_names;
	uint64_t off_coverage, off_leaders, off_labels, off_nodes, off_costs, off_loops;
	uint64_t off_known;
	uint64_t off_overshoots, off_chunks, off_counters;
	uint64_t at;              /* address of the header in the target */
	uint64_t counters_stride; /* bytes from one slot's counters to the next */
	uint32_t slots_here;      /* counter slots that are mapped where this is read */
};

enum { ST_LAYOUT_BYTES = 4096 };

struct st_string_results {
	uint32_t n; /* bytes used */
};

struct st_results_header {
	/* The controller has a page of its own for it, which the program cannot write to:
	   control/layout.c. */
	union {
		struct st_layout layout;
		unsigned char layout_page[ST_LAYOUT_BYTES];
	};
	struct st_plan plan;
	struct st_control control;
	struct st_run_results run;
	struct st_map_results maps;
	struct st_string_results strings;
	struct st_block_results blocks;
	struct st_thread_results threads;
	struct st_context_results contexts;
	struct st_known_results known;
	struct st_budget_results budget;
	/* A fork's child begins with something in what stands before, see rt/os/follow.c; what
	   follows is large, and all zero until it is used. */
	struct st_counter_results counters;
	struct st_table_results tables;
	struct st_stream_results streams;
	struct st_sample_results samples;
	struct st_tool_outcomes tools;
	uint64_t stats[ST_STAT_COUNT]; /* enum st_stat */
	struct st_fallback_results fallbacks;
};

#endif
