/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving one instruction of the program to the cache: rip-relative and gs operands are the only
 * things that change. */
#ifndef STROBE_RT_ARCH_X86_64_RELOCATE_H
#define STROBE_RT_ARCH_X86_64_RELOCATE_H

#include "rt/arch/x86_64/decode.h"
#include "rt/arch/x86_64/emit.h"

/*
 * Emits an equivalent of the instruction at pc. Returns the enum record_kind of what was emitted:
 * REC_COPY (one machine instruction), REC_LOAD or REC_SPILL.
 */
unsigned relocate_insn(struct emit *e, const struct st_insn *in, uint64_t pc);

/*
 * Emits `mov reg, operand` for the ModRM operand of an indirect jump or call. reg is rdx, whose
 * value, like that of rcx, is still the program's.
 */
void relocate_load_target(struct emit *e, const struct st_insn *in, uint64_t pc, unsigned reg);

#endif
