/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers and flags that the code of actions spills, and the machine instructions it is made of.
 */
#include "rt/jit/spill.h"

uint32_t
spill_field(unsigned reg)
{
	return (uint32_t)(offsetof(struct thread, action.save) + 8 * reg);
}

void
spill_register(struct seq *s, unsigned reg)
{
	if (s->saved >> reg & 1)
		return;
	emit_save(s->e, reg, spill_field(reg));
	s->saved |= (uint16_t)(1u << reg);
}

unsigned
scratch_register(struct seq *s, unsigned taken)
{
	unsigned work = s->reserved.saved & ~(s->reserved.holds | s->avoid | taken);
	if (work)
		return (unsigned)__builtin_ctz(work);
	static const uint8_t choice[] = {RCX, RDX, RSI, RDI, RBX, R8,  R9,
	                                 R10, R11, RBP, R12, R13, R14, R15};
	for (unsigned i = 0; i < sizeof choice; i++)
		if (!((s->avoid | s->reserved.saved | taken) >> choice[i] & 1)) {
			spill_register(s, choice[i]);
			return choice[i];
		}
	spill_register(s, RCX);
	return RCX;
}

void
save_flags(struct seq *s)
{
	if (s->flags_saved || !s->live)
		return;
	spill_register(s, RAX);
	e8(s->e, 0x9f); /* lahf */
	e8(s->e, 0x0f); /* seto al */
	e8(s->e, 0x90);
	e8(s->e, 0xc0);
	emit_save(s->e, RAX, offsetof(struct thread, action.flags));
	emit_restore(s->e, RAX, spill_field(RAX));
	s->flags_saved = true;
}

static void
load_flags(struct emit *e)
{
	emit_restore(e, RAX, offsetof(struct thread, action.flags));
	e8(e, 0x04); /* add al, 0x7f: OF as it was */
	e8(e, 0x7f);
	e8(e, 0x9e); /* sahf */
}

/* For an operand that is about flags, after others have been at work. */
void
bring_flags(struct seq *s)
{
	if (!s->flags_saved || !s->flags_dirty)
		return;
	load_flags(s->e);
	emit_restore(s->e, RAX, spill_field(RAX));
	s->flags_dirty = false;
}

void
restore_all(struct seq *s)
{
	if (s->flags_saved)
		load_flags(s->e);
	for (unsigned r = 0; r < 16; r++)
		if (s->saved >> r & 1)
			emit_restore(s->e, r, spill_field(r));
}

/* ---- machine instructions ---- */

void
rex_rr(struct emit *e, bool wide, unsigned reg, unsigned rm)
{
	e8(e, 0x40 | (wide ? 8 : 0) | (reg >> 3) << 2 | rm >> 3);
}

void
emit_mov_rr(struct emit *e, unsigned to, unsigned from)
{
	rex_rr(e, true, from, to);
	e8(e, 0x89);
	e8(e, 0xc0 | (from & 7) << 3 | (to & 7));
}

void
emit_constant(struct emit *e, unsigned reg, uint64_t v)
{
	if (v >> 32) {
		emit_mov_imm64(e, reg, v);
		return;
	}
	if (reg >= 8)
		e8(e, 0x41);
	e8(e, 0xb8 | (reg & 7));
	e32(e, (uint32_t)v);
}

/* A memory operand [base + disp], base neither rsp's nor rbp's special case is left out. */
void
emit_modrm_disp(struct emit *e, unsigned reg, unsigned base, int32_t disp)
{
	bool small = disp >= -128 && disp < 128;
	e8(e, (small ? 0x40 : 0x80) | (reg & 7) << 3 | (base & 7));
	if ((base & 7) == 4)
		e8(e, 0x24);
	if (small)
		e8(e, (uint8_t)disp);
	else
		e32(e, (uint32_t)disp);
}

void
emit_store(struct emit *e, unsigned base, int32_t disp, unsigned reg)
{
	rex_rr(e, true, reg, base);
	e8(e, 0x89);
	emit_modrm_disp(e, reg, base, disp);
}

/* reg = the first `bytes` bytes at [base + disp], zero-extended. */
void
emit_load(struct emit *e, unsigned reg, unsigned base, int32_t disp, unsigned bytes)
{
	if (bytes == 1 || bytes == 2) {
		rex_rr(e, false, reg, base);
		e8(e, 0x0f);
		e8(e, bytes == 1 ? 0xb6 : 0xb7);
	} else {
		rex_rr(e, bytes >= 8, reg, base);
		e8(e, 0x8b);
	}
	emit_modrm_disp(e, reg, base, disp);
}

/* lea reg, [a + b + disp] */
void
emit_sum_disp(struct emit *e, unsigned reg, unsigned a, unsigned b, int32_t disp)
{
	/* rbp and r13 as base need a displacement; rsp cannot be the index. */
	bool small = disp >= -128 && disp < 128, none = disp == 0 && (a & 7) != 5;
	e8(e, 0x48 | (reg >> 3) << 2 | (b >> 3) << 1 | a >> 3);
	e8(e, 0x8d);
	e8(e, (none ? 0x04 : small ? 0x44 : 0x84) | (reg & 7) << 3);
	e8(e, (b & 7) << 3 | (a & 7));
	if (none)
		return;
	if (small)
		e8(e, (uint8_t)disp);
	else
		e32(e, (uint32_t)disp);
}

void
emit_sum(struct emit *e, unsigned reg, unsigned a, unsigned b)
{
	emit_sum_disp(e, reg, a, b, 0);
}

void
emit_lea_disp(struct emit *e, unsigned reg, unsigned base, int32_t disp)
{
	rex_rr(e, true, reg, base);
	e8(e, 0x8d);
	emit_modrm_disp(e, reg, base, disp);
}

/* ---- and how they are read ---- */

int64_t
field_of(const uint8_t *p, const struct st_insn *in, unsigned *opcode, unsigned *reg)
{
	if (!in->modrm_off || (p[in->modrm_off] >> 6) != 0)
		return -1;
	uint32_t disp;
	if (!(in->flags & ST_I_RIPREL) || !(in->flags & ST_I_GSSEG) == rt.target.threaded)
		return -1;
	memcpy(&disp, p + in->disp_off, 4);
	*opcode = p[in->op_off];
	*reg = (p[in->modrm_off] >> 3 & 7) |
	       (in->flags & ST_I_REX ? (p[in->rex_off] & 4u) << 1 : 0);
	return emitted_field(&rt.target, disp, (uint32_t)(p - cache_write(0)) + in->len);
}

void
emit_load_byte(struct emit *e, uint32_t field)
{
	emit_field_prefixes(e);
	e8(e, 0x0f); /* movzx ecx, byte [field] */
	e8(e, 0xb6);
	emit_field_operand(e, RCX, field, 0);
}

uint8_t *
emit_jump_if_zero(struct emit *e, uint32_t field)
{
	emit_load_byte(e, field);
	e8(e, 0xe3); /* jrcxz */
	e8(e, 0);
	return e->p;
}
