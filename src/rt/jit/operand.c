/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operands of actions, computed at their point. */
#include "rt/arch/x86_64/relocate.h"
#include "rt/jit/spill.h"

/* ---- memory accesses ---- */

const uint8_t *
seq_code(const struct seq *s)
{
	return program_code(s->pc);
}

static bool
operand_access(const struct seq *s, unsigned which, struct st_access *out)
{
	struct st_access found[ST_MAX_ACCESSES];
	unsigned n = st_accesses(s->in, seq_code(s), found);
	if (which >= n)
		return false;
	*out = found[which];
	return true;
}

/* Base and index of the ModRM operand, as a set; or the register that it is. */
static uint16_t
modrm_registers(const struct st_insn *in, const uint8_t *code)
{
	uint8_t modrm = code[in->modrm_off];
	unsigned mod = modrm >> 6, rm = modrm & 7, set = 0, b = 0, x = 0;
	if (in->flags & ST_I_REX) {
		b = (code[in->rex_off] & 1u) << 3;
		x = (code[in->rex_off] & 2u) << 2;
	} else if ((in->flags & ST_I_EVEX) ||
	           ((in->flags & ST_I_VEX) && code[in->vex_off] == 0xc4)) {
		b = (~code[in->vex_off + 1] & 0x20u) >> 2;
		x = (~code[in->vex_off + 1] & 0x40u) >> 3;
	}
	if (in->flags & ST_I_RIPREL)
		return 0;
	if (mod == 3 || rm != 4)
		return (uint16_t)(1u << (rm | b));
	uint8_t sib = code[in->modrm_off + 1];
	if ((sib & 7) != 5 || mod)
		set |= 1u << ((sib & 7) | b);
	if ((sib >> 3 & 7) != 4 || x)
		set |= 1u << ((sib >> 3 & 7) | x);
	return (uint16_t)set;
}

static uint16_t
access_registers(const struct st_insn *in, const uint8_t *code, const struct st_access *a)
{
	switch (a->kind) {
	case ST_ACCESS_MODRM:
		return modrm_registers(in, code) | (a->bit_string ? in->gpr_read : 0);
	case ST_ACCESS_LEAVE:
	case ST_ACCESS_FRAME:
		return 1u << RBP;
	case ST_ACCESS_RSI:
		return 1u << RSI;
	case ST_ACCESS_RDI: /* what is written is in rax or where rsi points to */
		return 1u << RDI | (a->write ? 1u << RSI | 1u << RAX : 0);
	case ST_ACCESS_PUSH: /* see emit_pushed */
		return 1u << RBP;
	case ST_ACCESS_XLAT:
		return 1u << RBX | 1u << RAX;
	case ST_ACCESS_REG:
		return in->gpr_read;
	case ST_ACCESS_LINE:
		return 1u << RAX;
	default:
		return 0;
	}
}

/* lea reg, operand: the instruction's own ModRM, SIB and displacement. */
static void
emit_lea_modrm(struct seq *s, unsigned reg, const struct st_access *a)
{
	struct emit *e = s->e;
	const struct st_insn *in = s->in;
	const uint8_t *code = seq_code(s);
	int32_t disp = 0;
	if (in->disp_len == 1)
		disp = (int8_t)code[in->disp_off];
	else if (in->disp_len == 4)
		memcpy(&disp, code + in->disp_off, 4);
	if (in->flags & ST_I_RIPREL) {
		uint64_t target = s->pc + in->len + (uint64_t)(int64_t)disp;
		emit_constant(e, reg, in->flags & ST_I_ADDR32 ? (uint32_t)target : target);
		return;
	}
	uint8_t modrm = code[in->modrm_off];
	unsigned b = 0, x = 0;
	if (in->flags & ST_I_REX) {
		b = code[in->rex_off] & 1u;
		x = code[in->rex_off] >> 1 & 1u;
	} else if ((in->flags & ST_I_EVEX) ||
	           ((in->flags & ST_I_VEX) && code[in->vex_off] == 0xc4)) {
		b = ~code[in->vex_off + 1] >> 5 & 1u;
		x = ~code[in->vex_off + 1] >> 6 & 1u;
	}
	if (in->flags & ST_I_EVEX && in->disp_len == 1)
		disp *= (int32_t)st_disp8_unit(in, code, a);
	unsigned mod = modrm >> 6, rm = modrm & 7, sib = rm == 4 ? code[in->modrm_off + 1] : 0;
	bool no_base = rm == 4 && (sib & 7) == 5 && mod == 0;
	if (rm == 4 && (sib & 7) == 4 && !b && !s->after)
		disp += a->pops;
	if (in->flags & ST_I_ADDR32)
		e8(e, 0x67);
	e8(e, 0x48 | (reg >> 3) << 2 | x << 1 | b);
	e8(e, 0x8d);
	e8(e, (no_base ? 0x00 : 0x80) | (reg & 7) << 3 | rm);
	if (rm == 4)
		e8(e, sib);
	e32(e, (uint32_t)disp);
}

/* reg += the base of fs. */
static void
emit_add_fs(struct seq *s, unsigned reg)
{
	unsigned base = scratch_register(s, 1u << reg);
	if (tools.has_rdfsbase) {
		e8(s->e, 0xf3); /* rdfsbase */
		e8(s->e, 0x48 | base >> 3);
		e8(s->e, 0x0f);
		e8(s->e, 0xae);
		e8(s->e, 0xc0 | (base & 7));
	} else { /* mov base, fs:0, where C libraries keep it */
		e8(s->e, 0x64);
		rex_rr(s->e, true, base, 0);
		e8(s->e, 0x8b);
		e8(s->e, 0x04 | (base & 7) << 3);
		e8(s->e, 0x25);
		e32(s->e, 0);
	}
	emit_sum(s->e, reg, reg, base);
}

static unsigned
reg_field(const struct seq *s)
{
	const uint8_t *code = seq_code(s);
	unsigned reg = code[s->in->modrm_off] >> 3 & 7;
	if ((s->in->flags & ST_I_REX) && (code[s->in->rex_off] & 4))
		reg |= 8;
	return reg;
}

/* Signed offset in bits / (8 * bytes) * bytes is added; flags are used. */
static void
emit_bit_offset(struct seq *s, unsigned reg, unsigned bytes)
{
	struct emit *e = s->e;
	unsigned bits = bytes == 8 ? 6 : bytes == 4 ? 5 : 4, from = reg_field(s);
	unsigned work = scratch_register(s, 1u << reg);
	save_flags(s);
	s->flags_dirty = true;
	if (bytes == 8) {
		emit_mov_rr(e, work, from);
	} else { /* movsx work, from */
		rex_rr(e, true, work, from);
		if (bytes == 2)
			e8(e, 0x0f);
		e8(e, bytes == 2 ? 0xbf : 0x63);
		e8(e, 0xc0 | (work & 7) << 3 | (from & 7));
	}
	rex_rr(e, true, 0, work); /* sar work, bits */
	e8(e, 0xc1);
	e8(e, 0xf8 | (work & 7));
	e8(e, bits);
	rex_rr(e, true, 0, work); /* shl work, log2 bytes */
	e8(e, 0xc1);
	e8(e, 0xe0 | (work & 7));
	e8(e, bits - 3);
	emit_sum(e, reg, reg, work);
}

/* reg = a register that is an address. */
static void
emit_pointer(struct seq *s, unsigned reg, unsigned from)
{
	rex_rr(s->e, !(s->in->flags & ST_I_ADDR32), from, reg);
	e8(s->e, 0x89);
	e8(s->e, 0xc0 | (from & 7) << 3 | (reg & 7));
}

/* reg = where a push writes, or has written. After `enter` rsp lies below the frame, and rbp at
 * its upper end. */
static void
emit_pushed(struct seq *s, unsigned reg, const struct st_access *a)
{
	int32_t bytes = a->bytes;
	if (!s->after)
		emit_lea_disp(s->e, reg, RSP, -bytes);
	else if (seq_code(s)[s->in->op_off] == 0xc8) /* enter */
		emit_lea_disp(s->e, reg, RBP, 8 - bytes);
	else
		emit_lea_disp(s->e, reg, RSP, 0);
}

static void
emit_address(struct seq *s, unsigned reg, const struct st_access *a)
{
	struct emit *e = s->e;
	uint64_t moffs = 0;
	switch (a->kind) {
	case ST_ACCESS_MODRM:
		emit_lea_modrm(s, reg, a);
		if (a->bit_string)
			emit_bit_offset(s, reg, a->bytes);
		break;
	case ST_ACCESS_PUSH:
		emit_pushed(s, reg, a);
		break;
	case ST_ACCESS_POP:
		emit_lea_disp(e, reg, RSP, 0);
		break;
	case ST_ACCESS_LEAVE:
		emit_lea_disp(e, reg, RBP, 0);
		break;
	case ST_ACCESS_FRAME:
		emit_lea_disp(e, reg, RBP, -(int32_t)a->bytes);
		break;
	case ST_ACCESS_RSI:
		emit_pointer(s, reg, RSI);
		break;
	case ST_ACCESS_RDI:
		emit_pointer(s, reg, RDI);
		break;
	case ST_ACCESS_MOFFS:
		memcpy(&moffs, seq_code(s) + s->in->disp_off, s->in->disp_len);
		emit_constant(e, reg, moffs);
		break;
	case ST_ACCESS_XLAT:
		rex_rr(e, false, reg, RAX); /* movzx reg, al */
		e8(e, 0x0f);
		e8(e, 0xb6);
		e8(e, 0xc0 | (reg & 7) << 3);
		emit_sum(e, reg, RBX, reg);
		break;
	case ST_ACCESS_REG:
		emit_pointer(s, reg, reg_field(s));
		break;
	default: /* ST_ACCESS_LINE: its 64 bytes, without a shift: and al with 0xc0 needs flags */
		save_flags(s);
		s->flags_dirty = true;
		emit_mov_rr(e, reg, RAX);
		rex_rr(e, true, 0, reg); /* and reg, -64 */
		e8(e, 0x83);
		e8(e, 0xe0 | (reg & 7));
		e8(e, 0xc0);
		break;
	}
	if (a->segment && (s->in->flags & ST_I_FSSEG))
		emit_add_fs(s, reg);
}

/* ---- operands ---- */

uint16_t
operand_registers(const struct st_insn *in, const uint8_t *code, const strobe_operand *o)
{
	struct st_access found[ST_MAX_ACCESSES];
	switch (o->kind) {
	case OPERAND_REGISTER:
		return (uint16_t)(1u << o->detail);
	case OPERAND_ADDRESS:
	case OPERAND_VALUE:
		return o->detail < st_accesses(in, code, found)
		               ? access_registers(in, code, &found[o->detail])
		               : 0;
	case OPERAND_TARGET:
	case OPERAND_TAKEN:
		return in->cls == ST_C_LOOP ? 1u << RCX : modrm_registers(in, code);
	case OPERAND_TIMESTAMP:
		return 1u << RAX | 1u << RDX; /* they are saved and given back */
	default:
		return 0;
	}
}

/* Base and displacement of a ModRM operand that has neither index nor segment. */
static bool
modrm_is_plain(const struct st_insn *in, const uint8_t *code, bool after, const struct st_access *a,
               unsigned *reg, int32_t *disp)
{
	uint16_t set = modrm_registers(in, code);
	/* [rsp] and [r12] have a SIB byte, without an index; others that have one are left out. */
	bool sib = (code[in->modrm_off] & 7) == 4;
	if (!set || (sib && set != 1u << RSP) || a->bit_string ||
	    (in->flags & (ST_I_RIPREL | ST_I_EVEX)))
		return false;
	*reg = (unsigned)__builtin_ctz(set);
	if (in->disp_len == 1)
		*disp = (int8_t)code[in->disp_off];
	else if (in->disp_len == 4)
		memcpy(disp, code + in->disp_off, 4);
	if (*reg == RSP && !after)
		*disp += a->pops;
	return true;
}

static bool
address_is_plain(const struct st_insn *in, const uint8_t *code, bool after,
                 const struct st_access *a, unsigned *reg, int32_t *disp)
{
	if (a->segment && (in->flags & ST_I_FSSEG))
		return false;
	*disp = 0;
	switch (a->kind) {
	case ST_ACCESS_PUSH:
		*reg = RSP;
		*disp = after ? 0 : -(int32_t)a->bytes;
		return !after || code[in->op_off] != 0xc8; /* enter: see emit_pushed */
	case ST_ACCESS_POP:
		*reg = RSP;
		return true;
	case ST_ACCESS_LEAVE:
		*reg = RBP;
		return true;
	case ST_ACCESS_RSI:
		*reg = RSI;
		return !(in->flags & ST_I_ADDR32);
	case ST_ACCESS_RDI:
		*reg = RDI;
		return !after && !(in->flags & ST_I_ADDR32);
	case ST_ACCESS_MODRM:
		return !(in->flags & ST_I_ADDR32) && modrm_is_plain(in, code, after, a, reg, disp);
	default:
		return false;
	}
}

bool
operand_is_plain(const struct st_insn *in, const uint8_t *code, bool after, const strobe_operand *o,
                 unsigned *reg, int32_t *disp)
{
	struct st_access found[ST_MAX_ACCESSES];
	*disp = 0;
	if (o->kind == OPERAND_REGISTER) {
		*reg = o->detail;
		return true;
	}
	return o->kind == OPERAND_ADDRESS && o->detail < st_accesses(in, code, found) &&
	       address_is_plain(in, code, after, &found[o->detail], reg, disp);
}

static void
emit_timestamp(struct seq *s, unsigned reg)
{
	struct emit *e = s->e;
	uint32_t field = offsetof(struct thread, action.ticks);
	if (rt_tsc_forbidden) {
		emit_constant(e, reg, 0);
		return;
	}
	spill_register(s, RAX);
	spill_register(s, RDX);
	e8(e, 0x0f);
	e8(e, 0x31); /* rdtsc: the upper halves are 0 */
	emit_save(e, RAX, field);
	emit_save(e, RDX, field + 4); /* over the zeros, and some more after them */
	emit_restore(e, RAX, spill_field(RAX));
	emit_restore(e, RDX, spill_field(RDX));
	emit_restore(e, reg, field);
}

/* reg = taken ? yes : no; of a conditional jump, loop or jrcxz. */
static void
emit_outcome(struct seq *s, unsigned reg, uint64_t yes, uint64_t no)
{
	struct emit *e = s->e;
	const struct st_insn *in = s->in;
	const uint8_t *code = seq_code(s);
	bring_flags(s);
	if (in->cls == ST_C_JCC) {
		unsigned other = scratch_register(s, 1u << reg);
		emit_constant(e, reg, no);
		emit_constant(e, other, yes);
		rex_rr(e, true, reg, other); /* cmovcc reg, other */
		e8(e, 0x0f);
		e8(e, 0x40 | in->cond);
		e8(e, 0xc0 | (reg & 7) << 3 | (other & 7));
		return;
	}
	if (in->cls == ST_C_XBEGIN) {
		emit_constant(e, reg, yes);
		return;
	}
	uint8_t op = code[in->op_off];
	bool jrcxz = op == 0xe3, half = in->flags & ST_I_ADDR32;
	if (!jrcxz) {
		spill_register(s, RCX);
		emit_lea_disp(e, RCX, RCX, -1);
	}
	uint64_t if_zero = jrcxz ? yes : no, else_ = jrcxz ? no : yes;
	emit_mov_imm64(e, reg, if_zero); /* 10 bytes */
	if (half)
		e8(e, 0x67);
	e8(e, 0xe3); /* jrcxz over the other */
	e8(e, 10);
	emit_mov_imm64(e, reg, else_);
	if (jrcxz)
		return;
	emit_restore(e, RCX, spill_field(RCX));
	if (op == 0xe2)
		return;
	unsigned other = scratch_register(s, 1u << reg | 1u << RCX);
	emit_constant(e, other, no);
	rex_rr(e, true, reg, other); /* loope: not taken when ZF is 0; loopne: when it is 1 */
	e8(e, 0x0f);
	e8(e, op == 0xe1 ? 0x45 : 0x44);
	e8(e, 0xc0 | (reg & 7) << 3 | (other & 7));
}

/* reg = the low bytes of rax. */
static void
emit_accumulator(struct emit *e, unsigned reg, unsigned bytes)
{
	rex_rr(e, bytes == 8, reg, RAX);
	if (bytes < 4)
		e8(e, 0x0f);
	e8(e, bytes == 1 ? 0xb6 : bytes == 2 ? 0xb7 : 0x8b);
	e8(e, 0xc0 | (reg & 7) << 3);
}

static void
emit_value(struct seq *s, unsigned reg, const struct st_access *a)
{
	struct emit *e = s->e;
	bool string_store = a->kind == ST_ACCESS_RDI && a->write;
	uint8_t op = seq_code(s)[s->in->op_off] & 0xfe;
	struct st_access from = *a;
	if (string_store) /* movs writes what it reads, stos the accumulator */
		operand_access(s, 0, &from);
	emit_address(s, reg, &from);
	if (string_store && op == 0xaa)
		emit_accumulator(e, reg, a->bytes);
	else
		emit_load(e, reg, reg, 0, a->bytes >= 8 ? 8 : a->bytes);
}

/* reg = the operand. */
void
emit_operand(struct seq *s, unsigned reg, const strobe_operand *o)
{
	struct st_access a;
	struct emit *e = s->e;
	bool access = o->kind == OPERAND_ADDRESS || o->kind == OPERAND_VALUE;
	if (access && !operand_access(s, o->detail, &a)) {
		emit_constant(e, reg, 0);
		return;
	}
	uint64_t next = s->pc + s->in->len;
	switch (o->kind) {
	case OPERAND_CONSTANT:
		emit_constant(e, reg, o->value);
		break;
	case OPERAND_TIMESTAMP:
		emit_timestamp(s, reg);
		break;
	case OPERAND_THREAD:
		emit_restore(e, reg, offsetof(struct thread, number));
		break;
	case OPERAND_REGISTER:
		emit_mov_rr(e, reg, o->detail);
		break;
	case OPERAND_ADDRESS:
		emit_address(s, reg, &a);
		break;
	case OPERAND_VALUE:
		emit_value(s, reg, &a);
		break;
	case OPERAND_TAKEN:
		emit_outcome(s, reg, 1, 0);
		break;
	case OPERAND_RETURN_TO:
		emit_load(e, reg, RSP, 0, 8);
		break;
	default: /* OPERAND_TARGET */
		if (s->in->cls == ST_C_IJMP || s->in->cls == ST_C_ICALL)
			relocate_load_target(e, s->in, program_code(s->pc), s->pc, reg);
		else
			emit_outcome(s, reg, next + (uint64_t)(int64_t)s->in->rel, next);
		break;
	}
}
