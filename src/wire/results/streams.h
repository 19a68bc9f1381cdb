/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results: streams of rows, and the chunks that hold them. */
#ifndef STROBE_WIRE_RESULTS_STREAMS_H
#define STROBE_WIRE_RESULTS_STREAMS_H

#include <stdint.h>

#include "wire/results/tables.h"

enum {
	ST_MAX_STREAMS = 8,
	ST_MAX_SITES = 4 << 20,    /* places that make rows */
	ST_CHUNK_BYTES = 64 << 10, /* of rows; and some after it, up to ST_CHUNK_SLACK */
	ST_CHUNK_SLACK = 60 << 10,
	ST_CHUNK_STRIDE = 16 << 20, /* the third byte of an address in a chunk: 0 in its first
	                               ST_CHUNK_BYTES, then 1 */
	ST_MAX_CHUNKS = 1024,
	ST_CHUNK_QUEUE = 128, /* may wait for the controller: what fits in a processor's cache */
};

/* A stream of rows. Rows lie in chunks; their form is strobe_row of tool.h. */
struct st_stream {
	uint32_t name, help;
	uint32_t n_columns;
	uint32_t consumed; /* not 0: by the tool itself, so that the controller sees none */
	uint32_t lossy, tool;
	uint64_t dropped; /* rows */
	struct st_column columns[ST_MAX_COLUMNS];
};

/* 64 KiB of rows that one thread has made. A chunk that is owned is filled up to the address in the
 * counter ST_STREAM_ID(stream) of its thread's slot. */
enum st_chunk_state { ST_CHUNK_FREE = 0, ST_CHUNK_OWNED = 1, ST_CHUNK_FULL = 2 };
struct st_chunk {
	uint32_t state;
	uint32_t stream, thread; /* index of the thread record */
	uint32_t bytes;          /* when it is full */
	uint64_t sequence;       /* the order in which chunks were filled, from 1 */
};
#define ST_STREAM_ID(stream) (1u + (stream))
/* Branches to targets that look far for the branch: see rt/jit/target.c. */
#define ST_FAR_ID (1u + ST_MAX_STREAMS)

struct st_stream_results {
	uint32_t n;
	uint32_t n_sites;
	struct st_stream v[ST_MAX_STREAMS];
	uint64_t chunk_sequence; /* chunks filled so far */
	struct st_chunk chunks[ST_MAX_CHUNKS];
};

#endif
