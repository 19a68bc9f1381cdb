/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving one instruction of the program to the cache: rip-relative and gs operands are the only
 * things that change. */
#ifndef STROBE_RT_ARCH_X86_64_RELOCATE_H
#define STROBE_RT_ARCH_X86_64_RELOCATE_H

#include "rt/arch/x86_64/decode.h"
#include "rt/arch/x86_64/emit.h"

/* The code that replaces a moved instruction. */
enum relocated {
	RELOCATED_COPY,  /* one machine instruction */
	RELOCATED_SPILL, /* a register is saved, has the address, and is given back */
	RELOCATED_LOAD,  /* the destination has the address first */
};

/* Of RELOCATED_SPILL: its first instruction saves the register (emitted_register), its last gives
 * it back; `at` bytes into the code, whose length is `len`: is the instruction's own work over?
 * Does its own work stand there? */
static inline bool
relocated_spill_is_over(const struct emit_target *target, uint32_t at, uint32_t len)
{
	return at + emit_field_len(target) >= len;
}
static inline bool
relocated_spill_works(const struct emit_target *target, uint32_t at, uint32_t len)
{
	return at > emit_field_len(target) && !relocated_spill_is_over(target, at, len);
}

/* Emits an equivalent of the instruction at pc, whose bytes are at `code`. */
enum relocated relocate_insn(struct emit *e, const struct st_insn *in, const uint8_t *code,
                             uint64_t pc);

/*
 * Emits `mov reg, operand` for the ModRM operand of an indirect jump or call. reg is rdx, whose
 * value, like that of rcx, is still the program's.
 */
void relocate_load_target(struct emit *e, const struct st_insn *in, const uint8_t *code,
                          uint64_t pc, unsigned reg);

#endif
