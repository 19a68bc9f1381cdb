/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the generator needs to know about an instruction. */
#ifndef FUZZ_INSN_H
#define FUZZ_INSN_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fz_insn {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t bytes[16];
};

/* Which instructions may be generated. */
enum fz_isa { FZ_ISA_ALL, FZ_ISA_AVX2 };

/* Decodes the instruction at p; false when it is none. */
bool fz_decode(struct fz_insn *i, const uint8_t *p, size_t n);

/* Why this instruction is never generated, as a sentence fragment; NULL when it may be. */
const char *fz_excluded(const struct fz_insn *i, enum fz_isa isa);

/* A branch, call or return: generated on its own terms, never from a template. */
bool fz_is_flow(const struct fz_insn *i);

/* Number 0..15 of the 64-bit register that contains r, or -1. */
int fz_gpr_of(ZydisRegister r);

/* General registers that may be written, as a bit set. */
uint16_t fz_gpr_written(const struct fz_insn *i);

#endif
