/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers that the code of actions borrows for a stretch of a piece, because nothing there names
 * them: saved once, given back once. Some hold a field of the thread, where the next row goes or a
 * sum; the field itself is out of date meanwhile. Recovery reads the same code again to learn what
 * is borrowed at a place: no table is kept of it.
 */
#ifndef STROBE_RT_JIT_PINS_H
#define STROBE_RT_JIT_PINS_H

#include "rt/arch/x86_64/emit.h"
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

/* What is borrowed at a place of the code, while it is written or when it is recovered. */
struct pins {
	uint16_t saved;      /* registers whose program value is in tool_save */
	uint16_t holds;      /* of these: they hold a field of the thread; the others nothing */
	uint32_t field[16];  /* by register */
	int32_t advance[16]; /* of one that says where rows go: bytes of rows since then */
};

/* The register that holds the field, or NO_PIN. */
enum { NO_PIN = 16 };
unsigned pins_holding(const struct pins *pins, uint32_t field);

/*
 * The stretches of a piece. Positions are twice the index of an instruction: its actions before it;
 * and one more: itself, and its actions behind it.
 */
enum { MAX_STRETCHES = 6 };
struct stretch {
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
	                   for room need not give it back */
	struct stretch list[MAX_STRETCHES];
};

/* Where registers can be borrowed for the actions of the piece. Sums of one cell in one stretch
 * become one. */
void pins_plan(struct plan *plan, const struct build *b);
/* Is there something to be written at the position? */
bool pins_change_at(const struct plan *plan, unsigned position);
/* Writes it. */
void pins_write_at(struct plan *plan, struct pins *pins, struct emit *e, unsigned position);

/*
 * Follows the machine code [start, end): of an action, or (setup) of what borrows, gives back and
 * checks for room. Returns whether a row or a sum in a register was completed.
 */
bool pins_follow(struct pins *pins, const uint8_t *start, const uint8_t *end, bool setup);
/* Gives the program its registers, from those that have been found; what they held is late. */
void pins_recover(const struct pins *pins, struct thread *t, struct recovered *out);

#endif
