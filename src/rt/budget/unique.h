/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code is measured once (--unique).
 *
 * What has been measured is known for each instruction: a bit in the results for each byte of the
 * files that code comes from, set where an instruction begins. The controller sets those of earlier
 * runs, and reads those of this one. Basic blocks end where the one kind of code meets the other,
 * so that blocks that are measured never overlap. Code without a file has no bits: there whole
 * blocks are seen once, or have not been (ST_BLOCK_SEEN).
 */
#ifndef STROBE_RT_BUDGET_UNIQUE_H
#define STROBE_RT_BUDGET_UNIQUE_H

#include "rt/maps.h"

/* The bits of a mapping. */
struct unique_bits {
	uint8_t *bytes; /* of the section; NULL: it has none */
	uint64_t first; /* bit of the program's address 0 */
	uint64_t end;   /* of the mapping */
};
struct unique_bits unique_bits(const struct map *map);

/* Has the instruction there been measured? */
static inline bool
unique_is_seen(const struct unique_bits *bits, uint64_t pc)
{
	uint64_t bit = bits->first + pc;
	return bits->bytes && pc < bits->end && (bits->bytes[bit / 8] >> bit % 8 & 1);
}

/* Has the block's code bits? */
bool unique_is_tracked(const struct st_block *block);

enum unique_answer {
	UNIQUE_NEW,   /* nothing of it had been measured; now all of it counts as measured */
	UNIQUE_SEEN,  /* all of it had been */
	UNIQUE_MIXED, /* some of it: it has to be translated again, as several blocks */
};
/* A block is about to be executed for the first time. rt.lock held. */
enum unique_answer unique_take(struct st_block *block);
/* That block, new now, is not measured again until rt.budget.unique_last others have been; its exit
 * to there, and what stood in the place of the jump over it; 0: another thread has jumped over it
 * before. rt.lock held. */
void unique_note(uint32_t id, uint32_t exit, uint16_t armed);
/* The thread has been stopped within a block that it measures, and goes elsewhere: the rest of it
 * has not been measured. Before jit_suspend_resume; rt.lock held. */
void unique_suspend(const struct thread *t);
/* The same, without the lock. */
void unique_leave(const struct thread *t);
/* It comes back. False: the rest has been measured meanwhile. rt.lock held. */
bool unique_resume(const struct thread *t);

#endif
