/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of allocations by all their callers, which strobe mem and the tool alloc leave in a
 * profile: `frames` and `contexts`. */
#ifndef STROBE_PROFILE_ALLOCATIONS_H
#define STROBE_PROFILE_ALLOCATIONS_H

#include <string.h>

#include "profile/tables.h"

#define ST_ALLOC_TOOL "alloc"

/* Columns in their order. */
enum {
	FRAME_AT,
	FRAME_PARENT,
	FRAME_FUNCTION,
	FRAME_IMAGE,
	FRAME_OFFSET,
	FRAME_FILE,
	FRAME_LINE,
	FRAME_INLINED,
	FRAME_BYTES,
	FRAME_COLUMNS
};
enum {
	CONTEXT_AT,
	CONTEXT_MAPPED,
	CONTEXT_CALLS,
	CONTEXT_BYTES,
	CONTEXT_LIVE,
	CONTEXT_BLOCKS,
	CONTEXT_PEAK,
	CONTEXT_OWN,
	CONTEXT_SHORT,
	CONTEXT_LARGEST,
	CONTEXT_COLUMNS
};

#define ST_FRAME_TABLE                                                                             \
	{                                                                                          \
		ST_KEY("frame", NUMBER), ST_KEY("parent", NUMBER), ST_KEY("function", TEXT),       \
		        ST_KEY("image", TEXT), ST_KEY("offset", NUMBER), ST_KEY("file", TEXT),     \
		        ST_KEY("line", NUMBER), ST_KEY("inlined", NUMBER), ST_SUM("bytes")         \
	}
#define ST_CONTEXT_TABLE                                                                           \
	{                                                                                          \
		ST_KEY("frame", NUMBER), ST_KEY("mapped", NUMBER), ST_SUM("calls"),                \
		        ST_SUM("bytes"), ST_SUM("live"), ST_SUM("blocks"), ST_SUM("peak"),         \
		        ST_MAX("own_peak"), ST_SUM("short_lived"), ST_MAX("largest")               \
	}

/* The function that has no callers, in FRAME_PARENT. */
enum { ST_FRAME_OUTERMOST = UINT32_MAX };
/* In place of a function: the callers are not known. */
#define ST_FRAME_UNKNOWN_CALLERS "[unknown callers]"

/* Whether the table is made of the frames of call stacks, which are printed as a tree. */
static inline bool
st_is_table_of_frames(const struct st_profile_table *t)
{
	const bool named = !strcmp(t->name, "frames") || !strcmp(t->name, "contexts");
	return named && !strcmp(t->tool, ST_ALLOC_TOOL);
}

#endif
