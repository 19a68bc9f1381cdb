/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses of which data decides where they go: gathers and scatters, what a mask leaves out,
 * string instructions that repeat, the xsave family. Each becomes pieces: address and bytes.
 *
 * A pure function of the instruction and of the machine's state before it; freestanding.
 * tests/decode compares it with the processor.
 */
#ifndef STROBE_RT_ARCH_X86_64_PIECES_H
#define STROBE_RT_ARCH_X86_64_PIECES_H

#include "operands.h"

enum { ST_MOST_PIECES = 32, ST_VECTOR_BYTES = 64, ST_XSAVE_PARTS = 63 };

struct st_piece {
	uint64_t address, bytes;
};

/* The layout of the xsave area of this processor: cpuid 0xd. */
struct st_xsave {
	uint64_t enabled; /* xcr0 */
	uint64_t in_use;  /* of these, those that are not in their first state */
	uint64_t aligned; /* in the compacted form each begins at a multiple of 64 */
	uint32_t offset[ST_XSAVE_PARTS], bytes[ST_XSAVE_PARTS];
};

/* Registers that an access needs beside the general ones; -1: none. */
struct st_vectors {
	int8_t index, mask; /* vectors */
	int8_t mmx;         /* a mask in one of those */
	int8_t k;           /* a mask register */
};

/* The state before the instruction. */
struct st_state {
	const uint64_t *gpr;
	uint64_t flags, fs_base;
	uint64_t next;                  /* address of the instruction after it */
	uint8_t index[ST_VECTOR_BYTES]; /* what st_vectors asks for */
	uint8_t mask[ST_VECTOR_BYTES];
	uint64_t k;
	const struct st_xsave *xsave; /* NULL: this processor has none */
	/* Reads the program's memory; not 0: it cannot be read. */
	int (*read)(void *to, uint64_t from, size_t bytes);
};

/* Whether an access is such a one, and what it is in is known: not of tiles and of PadLock. */
bool st_access_has_pieces(const struct st_insn *in, const uint8_t *code, const struct st_access *a);
struct st_vectors st_access_vectors(const struct st_insn *in, const uint8_t *code,
                                    const struct st_access *a);
/* What an 8-bit displacement of an EVEX instruction counts in: the operand, or an element where a
 * mask packs them (compress, expand). Intel SDM volume 2, 2.7.5. */
unsigned st_disp8_unit(const struct st_insn *in, const uint8_t *code, const struct st_access *a);
/* The pieces, in the order of the elements; those that follow one another in memory are one,
 * unless each has an address of its own. Returns their number: 0 when all is left out. */
unsigned st_pieces(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
                   const struct st_state *s, struct st_piece out[ST_MOST_PIECES]);

#endif
