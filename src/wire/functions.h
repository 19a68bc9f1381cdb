/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that the controller tells the runtime of (control.h: images_done). */
#ifndef STROBE_WIRE_FUNCTIONS_H
#define STROBE_WIRE_FUNCTIONS_H

#include <stdint.h>

enum {
	ST_MAX_ENTRIES = 1 << 20,  /* functions that the controller tells the runtime of */
	ST_ENTRY_NAMES = 64 << 20, /* bytes of their names */
};

/*
 * A function of the program that a tool, or the region of interest, is about. Written by the
 * controller before it says that the images up to there are done.
 */
struct st_entry {
	uint64_t start, end; /* addresses in the target */
	uint64_t whole;      /* where the function begins; of a part elsewhere not start */
	uint32_t name;       /* offset into the entries' names */
	uint16_t map;        /* index of its mapping */
	uint16_t what;       /* ST_ENTRY_* */
	uint32_t next;       /* the runtime's: 1 + the index of the same function by another name */
	uint32_t known;      /* its number in results/known.h; 0: it has none */
	uint32_t data;       /* data for a tool: offset in the entries' names; 0: it has none */
	uint32_t unused;
};
enum {
	ST_ENTRY_TOOL = 1,
	ST_ENTRY_BEGIN = 2,
	ST_ENTRY_END = 4,
	ST_ENTRY_CHOSEN = 8,
	ST_ENTRY_PART = 16,
	ST_ENTRY_FRAMES = 32, /* no function: .eh_frame, which nothing in memory leads to */
};

#endif
