/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the code of actions is made of. It may use any register, once that is saved: to the thread's
 * action.save, where recovery finds it.
 */
#ifndef STROBE_RT_JIT_SPILL_H
#define STROBE_RT_JIT_SPILL_H

#include "rt/arch/x86_64/emit.h"
#include "rt/jit/reserve.h"
#include "rt/tool/tool.h"

/* A sequence being written. */
struct seq {
	struct emit *e;
	const struct st_insn *in;
	uint64_t pc;
	uint16_t saved;           /* registers whose program value is in action.save */
	uint16_t avoid;           /* registers that some operand reads */
	bool flags_saved;         /* the program's flags are in action.flags */
	bool flags_dirty;         /* they are no longer in the register */
	bool after;               /* the instruction has been executed */
	uint8_t live;             /* flags that must be kept */
	struct reserved reserved; /* what is spilled for longer */
};

/* The program's instruction. */
const uint8_t *seq_code(const struct seq *s);
uint32_t spill_field(unsigned reg);
/* Once for each register. */
void spill_register(struct seq *s, unsigned reg);
/* A register to work with, which no operand reads, and none of those taken; saved, by this sequence
 * or for longer. Not rax, which flags go through. */
unsigned scratch_register(struct seq *s, unsigned taken);
void save_flags(struct seq *s);
/* For an operand that is about flags, after others have been at work. */
void bring_flags(struct seq *s);
void restore_all(struct seq *s);

/* Machine instructions; none changes flags. */
void rex_rr(struct emit *e, bool wide, unsigned reg, unsigned rm);
void emit_mov_rr(struct emit *e, unsigned to, unsigned from);
void emit_constant(struct emit *e, unsigned reg, uint64_t v);
/* ModRM and what follows it: [base + disp]. */
void emit_modrm_disp(struct emit *e, unsigned reg, unsigned base, int32_t disp);
void emit_store(struct emit *e, unsigned base, int32_t disp, unsigned reg);
/* reg = the first `bytes` bytes at [base + disp], zero-extended. */
void emit_load(struct emit *e, unsigned reg, unsigned base, int32_t disp, unsigned bytes);
/* reg = a + b + disp; b is not rsp. */
void emit_sum_disp(struct emit *e, unsigned reg, unsigned a, unsigned b, int32_t disp);
void emit_sum(struct emit *e, unsigned reg, unsigned a, unsigned b);
void emit_lea_disp(struct emit *e, unsigned reg, unsigned base, int32_t disp);

/* operand.c: registers that the operand reads; reg = the operand. */
uint16_t operand_registers(const struct st_insn *in, const uint8_t *code, const strobe_operand *o);
void emit_operand(struct seq *s, unsigned reg, const strobe_operand *o);
/* Is the operand but a register's value and a constant? */
bool operand_is_plain(const struct st_insn *in, const uint8_t *code, bool after,
                      const strobe_operand *o, unsigned *reg, int32_t *disp);

/* movzx ecx, byte [field of the thread] */
void emit_load_byte(struct emit *e, uint32_t field);
/* The same; jrcxz. What is after the jump, whose last byte is its distance, still to be written.
 */
uint8_t *emit_jump_if_zero(struct emit *e, uint32_t field);

/* The field of the thread that `mov [field], reg` or the like at p, in the cache, names, or -1;
 * opcode, register: of it. */
int64_t field_of(const uint8_t *p, const struct st_insn *in, unsigned *opcode, unsigned *reg);

#endif
