/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a profile that keep allocations: names and columns, for who writes and reads them.
 */
#ifndef STROBE_MEM_TABLES_H
#define STROBE_MEM_TABLES_H

#include "profile/allocations.h"

/* Columns in their order. */
enum { TOTAL_WHAT, TOTAL_HEAP, TOTAL_MAPPED, TOTAL_COLUMNS };
enum { SIZE_BELOW, SIZE_HEAP, SIZE_MAPPED, SIZE_COLUMNS };
enum { TIME_AT, TIME_LIVE, TIME_BLOCKS, TIME_MAPPED, TIME_COLUMNS };
enum { PLACE_TIME, PLACE_FROM, PLACE_LIVE, PLACE_COLUMNS };
enum { SHARE_TIME, SHARE_CONTEXT, SHARE_LIVE, SHARE_COLUMNS };
enum {
	SITE_FUNCTION,
	SITE_PLACE,
	SITE_KIND,
	SITE_PEAK,
	SITE_BYTES,
	SITE_CALLS,
	SITE_LIVE,
	SITE_BLOCKS,
	SITE_SHORT,
	SITE_COLUMNS
};

/* Rows of the table of totals. T(member of struct st_mem_totals, name) */
#define ST_MEM_TOTALS(T)                                                                           \
	T(calls, "allocations")                                                                    \
	T(bytes, "bytes allocated")                                                                \
	T(frees, "blocks freed")                                                                   \
	T(freed, "bytes freed")                                                                    \
	T(live, "bytes live at the end")                                                           \
	T(live_blocks, "blocks live at the end")                                                   \
	T(peak, "peak")                                                                            \
	T(in_place, "reallocations in place")                                                      \
	T(moved, "reallocations that moved")                                                       \
	T(failed, "failed calls")                                                                  \
	T(unknown, "unknown blocks freed")                                                         \
	T(short_lived, "short-lived blocks")

/* Further rows, in the column of the heap. */
#define ST_MEM_FURTHER(T)                                                                          \
	T(missed, "calls missed")                                                                  \
	T(cut, "allocations with unknown callers")                                                 \
	T(interval_ns, "ns between snapshots")                                                     \
	T(range_bytes, "bytes of a range of addresses")                                            \
	T(peak_from_ns, "peak after ns")                                                           \
	T(peak_to_ns, "peak before ns")

#endif
