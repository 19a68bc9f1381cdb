/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/jit/action.h"
#include "rt/arch/x86_64/relocate.h"

struct invokes invokes;

/* A sequence being written. */
struct seq {
	struct emit *e;
	const struct build *b;
	const struct st_insn *in;
	uint64_t pc;
	uint16_t saved;   /* registers whose program value is in tool_save */
	uint16_t avoid;   /* registers that some operand reads */
	bool flags_saved; /* the program's flags are in tool_flags */
	bool flags_dirty; /* they are no longer in the register */
	bool after;       /* the instruction has been executed */
	uint8_t live;     /* flags that must be kept */
};

static uint32_t
save_field(unsigned reg)
{
	return (uint32_t)(offsetof(struct thread, tool_save) + 8 * reg);
}

static void
save(struct seq *s, unsigned reg)
{
	if (s->saved >> reg & 1)
		return;
	emit_save(s->e, reg, save_field(reg));
	s->saved |= (uint16_t)(1u << reg);
}

/* A register to work with, which no operand reads. Not rax, which flags go through. */
static unsigned
scratch(struct seq *s, unsigned taken)
{
	static const uint8_t choice[] = {RCX, RDX, RSI, RDI, RBX, R8,  R9,
	                                 R10, R11, RBP, R12, R13, R14, R15};
	for (unsigned i = 0; i < sizeof choice; i++)
		if (!((s->avoid | taken) >> choice[i] & 1)) {
			save(s, choice[i]);
			return choice[i];
		}
	save(s, RCX);
	return RCX;
}

static void
save_flags(struct seq *s)
{
	if (s->flags_saved || !s->live)
		return;
	save(s, RAX);
	e8(s->e, 0x9f); /* lahf */
	e8(s->e, 0x0f); /* seto al */
	e8(s->e, 0x90);
	e8(s->e, 0xc0);
	emit_save(s->e, RAX, offsetof(struct thread, tool_flags));
	emit_restore(s->e, RAX, save_field(RAX));
	s->flags_saved = true;
}

static void
load_flags(struct emit *e)
{
	emit_restore(e, RAX, offsetof(struct thread, tool_flags));
	e8(e, 0x04); /* add al, 0x7f: OF as it was */
	e8(e, 0x7f);
	e8(e, 0x9e); /* sahf */
}

/* For an operand that is about flags, after others have been at work. */
static void
bring_flags(struct seq *s)
{
	if (!s->flags_saved || !s->flags_dirty)
		return;
	load_flags(s->e);
	emit_restore(s->e, RAX, save_field(RAX));
	s->flags_dirty = false;
}

static void
restore_all(struct seq *s)
{
	if (s->flags_saved)
		load_flags(s->e);
	for (unsigned r = 0; r < 16; r++)
		if (s->saved >> r & 1)
			emit_restore(s->e, r, save_field(r));
}

/* ---- machine instructions ---- */

static void
rex_rr(struct emit *e, bool wide, unsigned reg, unsigned rm)
{
	e8(e, 0x40 | (wide ? 8 : 0) | (reg >> 3) << 2 | rm >> 3);
}

static void
emit_mov_rr(struct emit *e, unsigned to, unsigned from)
{
	rex_rr(e, true, from, to);
	e8(e, 0x89);
	e8(e, 0xc0 | (from & 7) << 3 | (to & 7));
}

static void
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
static void
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

static void
emit_store(struct emit *e, unsigned base, int32_t disp, unsigned reg)
{
	rex_rr(e, true, reg, base);
	e8(e, 0x89);
	emit_modrm_disp(e, reg, base, disp);
}

/* reg = the first `bytes` bytes at [base + disp], zero-extended. */
static void
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

/* lea reg, [a + b] */
static void
emit_sum(struct emit *e, unsigned reg, unsigned a, unsigned b)
{
	/* rbp and r13 as base need a displacement; neither operand may be rsp as index. */
	e8(e, 0x48 | (reg >> 3) << 2 | (b >> 3) << 1 | a >> 3);
	e8(e, 0x8d);
	bool displaced = (a & 7) == 5;
	e8(e, (displaced ? 0x44 : 0x04) | (reg & 7) << 3);
	e8(e, (b & 7) << 3 | (a & 7));
	if (displaced)
		e8(e, 0);
}

static void
emit_lea_disp(struct emit *e, unsigned reg, unsigned base, int32_t disp)
{
	rex_rr(e, true, reg, base);
	e8(e, 0x8d);
	emit_modrm_disp(e, reg, base, disp);
}

/* ---- memory accesses ---- */

static const uint8_t *
code_of(const struct seq *s)
{
	return (const uint8_t *)s->pc;
}

/* An 8-bit displacement of EVEX counts in units: of the operand, or of an element where a mask
 * packs them (compress, expand). Intel SDM volume 2, 2.7.5. */
static int32_t
disp8_unit(const struct st_insn *in, const uint8_t *code, const struct st_access *a)
{
	uint8_t op = code[in->op_off];
	bool map2 = (code[in->vex_off + 1] & 7) == 2, wide = code[in->vex_off + 2] & 0x80;
	if (map2 && op >= 0x88 && op <= 0x8b)
		return wide ? 8 : 4;
	if (map2 && (op == 0x62 || op == 0x63))
		return wide ? 2 : 1;
	return a->bytes;
}

static bool
access_of(const struct seq *s, unsigned which, struct st_access *out)
{
	struct st_access found[ST_MAX_ACCESSES];
	unsigned n = st_accesses(s->in, code_of(s), found);
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
	case ST_ACCESS_RDI:
		return 1u << RDI;
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

/* lea reg, operand: the instruction's own ModRM, SIB and displacement. An index that is a vector is
 * left out. */
static void
emit_lea_modrm(struct seq *s, unsigned reg, const struct st_access *a)
{
	struct emit *e = s->e;
	const struct st_insn *in = s->in;
	const uint8_t *code = code_of(s);
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
		disp *= disp8_unit(in, code, a);
	unsigned mod = modrm >> 6, rm = modrm & 7, sib = rm == 4 ? code[in->modrm_off + 1] : 0;
	bool no_base = rm == 4 && (sib & 7) == 5 && mod == 0;
	if (a->vsib) {
		sib = (sib & 7) | 4 << 3;
		x = 0;
	}
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
	unsigned base = scratch(s, 1u << reg);
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
	const uint8_t *code = code_of(s);
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
	unsigned work = scratch(s, 1u << reg);
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
		emit_lea_disp(e, reg, RSP, s->after ? 0 : -(int32_t)a->bytes);
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
	case ST_ACCESS_RDI: /* upwards, if it has moved */
		emit_pointer(s, reg, RDI);
		if (s->after)
			emit_lea_disp(e, reg, reg, -(int32_t)a->bytes);
		break;
	case ST_ACCESS_MOFFS:
		memcpy(&moffs, code_of(s) + s->in->disp_off, s->in->disp_len);
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

static uint16_t
operand_registers(const struct st_insn *in, const uint8_t *code, const strobe_operand *o)
{
	struct st_access found[ST_MAX_ACCESSES];
	switch (o->kind) {
	case OPERAND_REGISTER:
		return (uint16_t)(1u << o->detail);
	case OPERAND_SIZE:
		return 1u << RCX;
	case OPERAND_ADDRESS:
	case OPERAND_VALUE:
		if (o->detail >= st_accesses(in, code, found))
			return 0;
		return access_registers(in, code, &found[o->detail]);
	case OPERAND_TARGET:
	case OPERAND_TAKEN:
		return in->cls == ST_C_LOOP ? 1u << RCX : modrm_registers(in, code);
	case OPERAND_TIMESTAMP:
		return 1u << RAX | 1u << RDX; /* they are saved and given back */
	default:
		return 0;
	}
}

static void
emit_timestamp(struct seq *s, unsigned reg)
{
	struct emit *e = s->e;
	uint32_t field = offsetof(struct thread, tool_ticks);
	if (rt_tsc_forbidden) {
		emit_constant(e, reg, 0);
		return;
	}
	save(s, RAX);
	save(s, RDX);
	e8(e, 0x0f);
	e8(e, 0x31); /* rdtsc: the upper halves are 0 */
	emit_save(e, RAX, field);
	emit_save(e, RDX, field + 4); /* over the zeros, and some more behind them */
	emit_restore(e, RAX, save_field(RAX));
	emit_restore(e, RDX, save_field(RDX));
	emit_restore(e, reg, field);
}

/* reg = taken ? yes : no; of a conditional jump, loop or jrcxz. */
static void
emit_outcome(struct seq *s, unsigned reg, uint64_t yes, uint64_t no)
{
	struct emit *e = s->e;
	const struct st_insn *in = s->in;
	const uint8_t *code = code_of(s);
	bring_flags(s);
	if (in->cls == ST_C_JCC) {
		unsigned other = scratch(s, 1u << reg);
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
		save(s, RCX);
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
	emit_restore(e, RCX, save_field(RCX));
	if (op == 0xe2)
		return;
	unsigned other = scratch(s, 1u << reg | 1u << RCX);
	emit_constant(e, other, no);
	rex_rr(e, true, reg, other); /* loope: not taken when ZF is 0; loopne: when it is 1 */
	e8(e, 0x0f);
	e8(e, op == 0xe1 ? 0x45 : 0x44);
	e8(e, 0xc0 | (reg & 7) << 3 | (other & 7));
}

static void
emit_size(struct seq *s, unsigned reg, const struct st_access *a)
{
	struct emit *e = s->e;
	unsigned scale = a->bytes == 8 ? 3 : a->bytes == 4 ? 2 : a->bytes == 2 ? 1 : 0;
	if (s->in->flags & ST_I_ADDR32)
		e8(e, 0x67);
	e8(e, 0x48 | (reg >> 3) << 2); /* lea reg, [rcx * bytes] */
	e8(e, 0x8d);
	e8(e, 0x04 | (reg & 7) << 3);
	e8(e, scale << 6 | RCX << 3 | 5);
	e32(e, 0);
}

static void
emit_value(struct seq *s, unsigned reg, const struct st_access *a)
{
	emit_address(s, reg, a);
	emit_load(s->e, reg, reg, 0, a->bytes >= 8 ? 8 : a->bytes);
}

/* reg = the operand. */
static void
emit_operand(struct seq *s, unsigned reg, const strobe_operand *o)
{
	struct st_access a;
	struct emit *e = s->e;
	bool access =
	        o->kind == OPERAND_ADDRESS || o->kind == OPERAND_SIZE || o->kind == OPERAND_VALUE;
	if (access && !access_of(s, o->detail, &a)) {
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
	case OPERAND_SIZE:
		emit_size(s, reg, &a);
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
			relocate_load_target(e, s->in, s->pc, reg);
		else
			emit_outcome(s, reg, next + (uint64_t)(int64_t)s->in->rel, next);
		break;
	}
}

/* ---- conditions ---- */

/* A jump of which the rel32 is to be filled in. */
static uint8_t *
emit_forward(struct emit *e, unsigned opcode)
{
	if (opcode > 0xff)
		e8(e, opcode >> 8);
	e8(e, opcode & 0xff);
	e32(e, 0);
	return e->p - 4;
}

static void
land(const struct emit *e, uint8_t *rel)
{
	uint32_t distance = (uint32_t)(e->p - (rel + 4));
	memcpy(rel, &distance, 4);
}

/* lea rcx, [rsp + rcx] */
static void
emit_lea_sp_sum(struct emit *e)
{
	static const uint8_t code[] = {0x48, 0x8d, 0x0c, 0x0c};
	ebytes(e, code, sizeof code);
}

static const uint8_t condition_codes[] = {
        [STROBE_EQUAL] = 4, [STROBE_NOT_EQUAL] = 5, [STROBE_BELOW] = 2,      [STROBE_NOT_BELOW] = 3,
        [STROBE_ABOVE] = 7, [STROBE_NOT_ABOVE] = 6, [STROBE_SHARES_BITS] = 5};

/* Where to go when the condition does not hold: to fill in. */
static uint8_t *
emit_condition(struct seq *s, const struct condition *c)
{
	struct emit *e = s->e;
	bool relation = c->kind == CONDITION_RELATION;
	if (c->kind == CONDITION_RETURNS) {
		save(s, RCX);
		emit_restore(e, RCX, offsetof(struct thread, returns_at));
		emit_lea_sp_sum(e);
		e8(e, 0xe3); /* jrcxz over the jump */
		e8(e, 5);
		return emit_forward(e, 0xe9);
	}
	if (!relation && s->in->cls == ST_C_JCC) {
		unsigned cc = s->in->cond ^ (c->kind == CONDITION_TAKEN);
		return emit_forward(e, 0x0f80 | cc);
	}
	static const strobe_operand taken = {OPERAND_TAKEN, 0, 0}, one = {OPERAND_CONSTANT, 0, 1};
	unsigned x = scratch(s, 0), y = scratch(s, 1u << x);
	s->avoid |= (uint16_t)(1u << x | 1u << y);
	emit_operand(s, x, relation ? &c->a : &taken);
	emit_operand(s, y, relation ? &c->b : &one);
	save_flags(s);
	s->flags_dirty = true;
	rex_rr(e, true, y, x);
	e8(e, relation && c->relation == STROBE_SHARES_BITS ? 0x85 : 0x39);
	e8(e, 0xc0 | (y & 7) << 3 | (x & 7));
	unsigned cc = relation                     ? condition_codes[c->relation]
	              : c->kind == CONDITION_TAKEN ? 4u
	                                           : 5u;
	return emit_forward(e, 0x0f80 | (cc ^ 1));
}

/* ---- actions ---- */

static uint32_t
tally_field(uint32_t id)
{
	return ST_THREAD_PRIVATE + id * 8;
}

static void
emit_inc(struct seq *s, uint32_t id)
{
	struct emit *e = s->e;
	if (s->live && !s->flags_saved) {
		unsigned r = scratch(s, 0);
		emit_restore(e, r, tally_field(id));
		emit_lea_disp(e, r, r, 1);
		emit_save(e, r, tally_field(id));
		return;
	}
	emit_field(e, 0xff, 0, tally_field(id)); /* inc qword [field] */
}

static void
emit_sum_field(struct seq *s, uint32_t id, const strobe_operand *o)
{
	struct emit *e = s->e;
	unsigned v = scratch(s, 0);
	emit_operand(s, v, o);
	if (!s->live || s->flags_saved) {
		emit_field(e, 0x01, v, tally_field(id)); /* add [field], v */
		return;
	}
	unsigned sum = scratch(s, 1u << v);
	emit_restore(e, sum, tally_field(id));
	emit_sum(e, sum, sum, v);
	emit_save(e, sum, tally_field(id));
}

static void
emit_row(struct seq *s, const struct action *a)
{
	struct emit *e = s->e;
	uint32_t fill = tally_field(ST_STREAM_ID(a->stream));
	unsigned p = scratch(s, 0), v = a->n ? scratch(s, 1u << p) : p;
	emit_restore(e, p, fill);
	rex_rr(e, true, 0, p); /* mov qword [p], tag */
	e8(e, 0xc7);
	emit_modrm_disp(e, 0, p, 0);
	e32(e, a->id << 4 | a->n);
	for (unsigned i = 0; i < a->n; i++) {
		s->avoid |= (uint16_t)(1u << p | 1u << v);
		emit_operand(s, v, &a->operand[i]);
		emit_store(e, p, 8 + 8 * (int32_t)i, v);
	}
	emit_lea_disp(e, p, p, 8 + 8 * a->n);
	emit_save(e, p, fill);
}

static void
emit_invoke(struct seq *s, const struct action *a)
{
	unsigned v = a->n ? scratch(s, 0) : 0;
	s->avoid |= (uint16_t)(a->n ? 1u << v : 0);
	for (unsigned i = 0; i < a->n; i++) {
		emit_operand(s, v, &a->operand[i]);
		emit_save(s->e, v, (uint32_t)(offsetof(struct thread, tool_values) + 8 * i));
	}
}

static void
emit_call_stub(struct emit *e, uint32_t call)
{
	e8(e, rt.threaded ? 0x65 : 0xc7);
	if (rt.threaded) {
		e8(e, 0xc7);
		e8(e, 0x04);
		e8(e, 0x25);
		e32(e, offsetof(struct thread, exit_id));
	} else {
		e8(e, 0x05);
		erel(e, (uint64_t)rt.main + offsetof(struct thread, exit_id), 4);
	}
	e32(e, call);
	emit_jmp(e, (uint64_t)rt_stub_call);
}

static uint16_t
registers_of(const struct seq *s, const struct action *a)
{
	uint16_t set = 1u << RSP;
	for (unsigned i = 0; i < a->n; i++)
		set |= operand_registers(s->in, code_of(s), &a->operand[i]);
	if (a->condition) {
		const struct condition *c = &asked.conditions[a->condition - 1];
		if (c->kind == CONDITION_RELATION)
			set |= operand_registers(s->in, code_of(s), &c->a) |
			       operand_registers(s->in, code_of(s), &c->b);
		else if (s->in->cls == ST_C_LOOP)
			set |= 1u << RCX;
	}
	return set;
}

static void
emit_work(struct seq *s, const struct action *a)
{
	switch ((enum action_kind)a->kind) {
	case ACTION_TALLY:
		emit_inc(s, a->id);
		break;
	case ACTION_ADD:
		emit_sum_field(s, a->id, &a->operand[0]);
		break;
	case ACTION_RECORD:
		emit_row(s, a);
		break;
	case ACTION_INVOKE:
		emit_invoke(s, a);
		break;
	}
}

/* What is saved must be the same on both ways to the end: a condition that needs registers comes
 * behind all saves, so the sequence is written twice, the first time to learn what it saves. */
static void
emit_all(struct seq *s, const struct action *a, uint32_t call, uint16_t saves, bool flags)
{
	struct emit *e = s->e;
	const struct condition *c = a->condition ? &asked.conditions[a->condition - 1] : NULL;
	bool plain = c && c->kind <= CONDITION_NOT_TAKEN && s->in->cls == ST_C_JCC;
	uint8_t *over = NULL;
	if (plain)
		over = emit_condition(s, c);
	for (unsigned r = 0; r < 16; r++)
		if (saves >> r & 1)
			save(s, r);
	if (flags)
		save_flags(s);
	if (c && !plain)
		over = emit_condition(s, c);
	emit_work(s, a);
	if (a->kind == ACTION_INVOKE) {
		restore_all(s);
		emit_call_stub(e, call);
		if (over && !plain) {
			land(e, over);
			over = NULL;
			restore_all(s);
		}
	} else {
		if (over && !plain) {
			land(e, over);
			over = NULL;
		}
		restore_all(s);
	}
	if (over)
		land(e, over);
}

bool
action_emit(struct emit *e, const struct build *b, const struct action *a, uint8_t flags_live,
            uint32_t call)
{
	struct seq first = {.e = e,
	                    .b = b,
	                    .in = &b->insn[a->insn],
	                    .pc = b->pc + b->at[a->insn],
	                    .live = flags_live,
	                    .after = a->after};
	first.avoid = registers_of(&first, a);
	struct seq s = first;
	struct emit begin = *e;
	emit_all(&s, a, call, 0, false);
	if (a->condition) {
		uint16_t saves = s.saved;
		bool flags = s.flags_saved;
		*e = begin;
		s = first;
		emit_all(&s, a, call, saves, flags);
	}
	if (e->off - begin.off <= 255)
		return true;
	*e = begin;
	return false;
}

/* ---- recovery ---- */

/* The field of the thread that `mov [field], reg` or the like at p names, or -1; opcode, register:
 * of it. */
static int64_t
field_of(const uint8_t *p, const struct st_insn *in, unsigned *opcode, unsigned *reg)
{
	if (!in->modrm_off || (p[in->modrm_off] >> 6) != 0)
		return -1;
	int32_t disp;
	bool gs = in->flags & ST_I_GSSEG, rip = in->flags & ST_I_RIPREL;
	if (in->disp_len != 4 || (!gs && !rip))
		return -1;
	memcpy(&disp, p + in->disp_off, 4);
	*opcode = p[in->op_off];
	*reg = (p[in->modrm_off] >> 3 & 7) |
	       (in->flags & ST_I_REX ? (p[in->rex_off] & 4u) << 1 : 0);
	if (gs)
		return disp;
	uint64_t at =
	        rt.region + (uint64_t)(p - cache_write(0)) + in->len + (uint64_t)(int64_t)disp;
	return (int64_t)(at - (uint64_t)rt.main);
}

static uint64_t
flags_from(uint64_t kept, uint64_t rflags)
{
	enum { OF = 0x800, LOW = 0xd5 };
	uint64_t low = kept >> 8 & LOW;
	return (rflags & ~(uint64_t)(OF | LOW)) | low | (kept & 1 ? OF : 0);
}

bool
action_recover(const struct thread *t, uint32_t start, uint32_t at, struct regs *regs)
{
	const uint8_t *p = cache_write(start), *end = p + at;
	bool done = false;
	struct st_insn in;
	while (p < end && st_decode(p, 15, &in)) {
		unsigned opcode = 0, reg = 0;
		int64_t field = field_of(p, &in, &opcode, &reg);
		if (field >= ST_THREAD_PRIVATE && opcode != 0x8b)
			done = true;
		if (opcode == 0x89 && field == (int64_t)save_field(reg))
			regs->r[reg] = t->tool_save[reg];
		if (opcode == 0x89 && field == (int64_t)offsetof(struct thread, tool_flags))
			regs->rflags = flags_from(t->tool_flags, regs->rflags);
		p += in.len;
	}
	return done;
}
