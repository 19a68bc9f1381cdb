/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decoder's oracle: what Zydis says of the same bytes, in the terms of struct st_insn, and
 * where the two disagree. */
#ifndef STROBE_TESTS_DECODE_ORACLE_H
#define STROBE_TESTS_DECODE_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "rt/arch/x86_64/decode.h"

enum verdict {
	AGREE,
	NO_INSN,    /* neither takes the bytes for an instruction */
	ONLY_WE,    /* we do, Zydis does not: harmless, it raises #UD when it runs */
	ONLY_ZYDIS, /* Zydis does, we do not */
	EXEMPT,     /* so it is for a documented reason: XOP */
	DISAGREE,
};

/* Where our sets are safe but coarser than Zydis's: a count for each field. */
struct slack {
	uint64_t insns, gpr_read, gpr_written, flags_read, flags_written, mem;
};

struct outcome {
	enum verdict verdict;
	unsigned len;      /* Zydis's length, 0 if it takes the bytes for none */
	unsigned mnemonic; /* ZydisMnemonic */
	char why[200];     /* DISAGREE: the field and both values */
};

/* Compares the two decoders on the n bytes at p. Adds to slack (may be NULL) if they agree. */
void oracle_compare(const uint8_t *p, size_t n, struct outcome *out, struct slack *slack);

/* Name of a mnemonic, for reports. */
const char *oracle_mnemonic(unsigned mnemonic);

/* Zydis's length of the instruction at p, or 0. */
unsigned oracle_length(const uint8_t *p, size_t n);

#endif
