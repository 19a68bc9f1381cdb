/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The basic blocks of a profile. Those of the engine begin wherever control enters, so that blocks
 * that end with the same branch overlap where code is entered in the middle of a block. Here they
 * are cut where others begin, and the counts of what they share are added up: no two overlap, and
 * sums over all of them are those over the engine's blocks.
 */
#ifndef STROBE_REPORT_BASIC_BLOCKS_H
#define STROBE_REPORT_BASIC_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "report/report.h"

struct st_basic_blocks {
	struct st_profile_block *v; /* ordered by image, offset */
	size_t n;
	uint32_t *order; /* indices, the hottest first */
	size_t hottest;  /* how many of them r->top_parts asks for */
};

/*
 * Two entries between which no instruction begins (code is jumped over the prefix `lock` into) are
 * one basic block. Instructions of executions that ended early are counted where the execution
 * began. Code that changed while it ran may still overlap. ST_FAILED: no memory.
 */
st_status st_basic_blocks_open(struct st_basic_blocks *b, const struct st_report *r);
void st_basic_blocks_close(struct st_basic_blocks *b);

/* Marks those that r->top_parts asks for, malloc'ed. NULL: no memory. */
bool *st_basic_blocks_kept(const struct st_basic_blocks *b);

#endif
