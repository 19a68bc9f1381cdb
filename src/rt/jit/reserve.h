/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers that the code of actions spills for a live range of a fragment, because nothing there
 * names them: saved once, given back once. Some hold a field of the thread, where the next row goes
 * or a sum; the field itself is out of date meanwhile. Recovery reads the same code again to learn
 * what is spilled at a place: no table is kept of it.
 */
#ifndef STROBE_RT_JIT_RESERVE_H
#define STROBE_RT_JIT_RESERVE_H

#include "rt/arch/x86_64/emit.h"
#include "rt/jit/jit.h"
#include "rt/tool/tool.h"

/* Registers of a set. */
static inline unsigned
count_bits(uint16_t set)
{
	unsigned n = 0;
	for (; set; set &= (uint16_t)(set - 1))
		n++;
	return n;
}

/* The spilled registers at a place of the code, while it is written or recovered. */
struct reserved {
	uint16_t saved;      /* registers whose program value is in action.save */
	uint16_t holds;      /* of these: they hold a field of the thread; the others nothing */
	uint32_t field[16];  /* by register */
	int32_t advance[16]; /* of one that says where rows go: bytes of rows since then */
};

/* The register that holds the field, or NOT_RESERVED. */
enum { NOT_RESERVED = 16 };
unsigned reserve_holding(const struct reserved *reserved, uint32_t field);

/*
 * The live ranges of a fragment. Positions are twice the index of an instruction: its actions
 * before it; and one more: itself, and its actions after it.
 */
enum { MAX_LIVE_RANGES = 6 };
struct live_range {
	uint16_t from, to;
	uint16_t work; /* a register that holds nothing; 0: none is needed */
	uint8_t n;     /* that hold fields */
	uint8_t reg[MAX_HELD];
	uint32_t field[MAX_HELD];
};
struct plan {
	uint8_t n, next;
	bool open;
	bool keeps_rcx; /* the first one's work is rcx, which nothing before it names: what checks
	                   for space need not give it back */
	struct live_range list[MAX_LIVE_RANGES];
};

/* Where registers can be spilled for the actions of the fragment. Sums of one cell in one live
 * range become one. */
void reserve_plan(struct plan *plan, const struct build *b);
/* Is there something to be written at the position? */
bool reserve_changes_at(const struct plan *plan, unsigned position);
/* Writes it. */
void reserve_write_at(struct plan *plan, struct reserved *reserved, struct emit *e,
                      unsigned position);

/*
 * Follows the machine code [start, end): of an action, or (setup) of what spills, gives back and
 * checks for space. Returns whether a row or a sum in a register was completed.
 */
bool reserve_follow(struct reserved *reserved, const uint8_t *start, const uint8_t *end,
                    bool setup);
/* Gives the program its registers, from those that have been found; what they held is late. */
void reserve_recover(const struct reserved *reserved, struct thread *t, struct recovered *out);

#endif
