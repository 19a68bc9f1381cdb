/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The judge of st_accesses: Zydis's memory operands of the same instruction. */
#ifndef STROBE_TESTS_DECODE_ACCESS_ORACLE_H
#define STROBE_TESTS_DECODE_ACCESS_ORACLE_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/arch/x86_64/decode.h"

/* Whether st_accesses says the same of the instruction at p as Zydis; if not, why says what is
 * wrong. */
bool access_agrees(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
                   const uint8_t *p, const struct st_insn *x, char *why, size_t size);

#endif
