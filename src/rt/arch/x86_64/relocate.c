/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/arch/x86_64/relocate.h"

#include "base/seeded.h"

/* An instruction as bytes that may be edited; offsets move with them. */
struct edit {
	uint8_t b[24];
	unsigned n;
	unsigned modrm, disp, rex, vex, op;
};

static void
cut_bytes(struct edit *x, unsigned at, unsigned n)
{
	for (unsigned i = at; i + n < x->n; i++)
		x->b[i] = x->b[i + n];
	x->n -= n;
}

static void
shift_offset(unsigned *off, unsigned at, int by)
{
	if (*off > at)
		*off = (unsigned)((int)*off + by);
}

static void
load_edit(struct edit *x, const struct st_insn *in, const uint8_t *code)
{
	for (unsigned i = 0; i < in->len; i++)
		x->b[i] = code[i];
	x->n = in->len;
	x->modrm = in->modrm_off;
	x->disp = in->disp_off;
	x->rex = in->rex_off;
	x->vex = in->vex_off;
	x->op = in->op_off;
}

/* The program's gs base is 0 (programs that change it are handed back), so its gs prefix (0x65)
 * means nothing. */
static void
strip_prefix(struct edit *x, uint8_t prefix)
{
	unsigned prefixes = x->vex ? x->vex : x->op;
	for (unsigned i = 0; i < prefixes && i < 14; i++) {
		if (x->b[i] != prefix)
			continue;
		cut_bytes(x, i, 1);
		shift_offset(&x->modrm, i, -1);
		shift_offset(&x->disp, i, -1);
		shift_offset(&x->rex, i, -1);
		shift_offset(&x->vex, i, -1);
		shift_offset(&x->op, i, -1);
		prefixes--;
		i--;
	}
}

/* Clears the extensions of base and index: with rip they mean nothing, so they may be set. */
static void
clear_extensions(struct edit *x, const struct st_insn *in)
{
	if (in->flags & ST_I_REX)
		x->b[x->rex] &= (uint8_t)~3;
	else if (SEEDED(13) && in->flags & ST_I_EVEX)
		x->b[x->vex + 1] &= (uint8_t)~0x20;
	else if ((in->flags & ST_I_EVEX) || ((in->flags & ST_I_VEX) && x->b[x->vex] == 0xc4))
		x->b[x->vex + 1] |= 0x60;
}

/* The length of instructions ends somewhere. */
static bool
can_be_low(const struct edit *x, const struct st_insn *in, uint64_t address)
{
	enum { MOST_BYTES = 15 };
	return !(address >> 32) && (in->flags & ST_I_ADDR32 || x->n < MOST_BYTES);
}

/* [rip + disp] becomes [eip + disp], which reaches all below 4 GiB. [disp32] would be as long and
 * reach the half, but a load from there would wait for the last store: see emit_field_prefixes. */
static void
make_low(struct edit *x, const struct st_insn *in, uint32_t address, const struct emit *e)
{
	if (!(in->flags & ST_I_ADDR32)) {
		for (unsigned i = x->n; i > 0; i--)
			x->b[i] = x->b[i - 1];
		x->b[0] = 0x67;
		x->n++;
		x->disp++;
	}
	uint32_t d = address - (uint32_t)(e->target->area + e->off + x->n);
	__builtin_memcpy(x->b + x->disp, &d, 4);
}

/* [rip + disp] becomes [base]; base may be any register. */
static void
make_based(struct edit *x, const struct st_insn *in, unsigned base)
{
	unsigned low = base & 7;
	cut_bytes(x, x->disp, 4);
	clear_extensions(x, in);
	if (base >= 8)
		x->b[x->rex] |= 1;
	x->b[x->modrm] = (uint8_t)((x->b[x->modrm] & 0x38) | low);
	if (low != 4 && low != 5)
		return;
	for (unsigned i = x->n; i > x->modrm + 1; i--)
		x->b[i] = x->b[i - 1];
	x->n++;
	x->b[x->modrm + 1] = low == 4 ? 0x24 : 0;
	if (low == 5)
		x->b[x->modrm] |= 0x40;
}

static unsigned
modrm_reg(const struct st_insn *in, const struct edit *x)
{
	unsigned reg = x->b[x->modrm] >> 3 & 7;
	if ((in->flags & ST_I_REX) && (x->b[x->rex] & 4))
		reg |= 8;
	return reg;
}

/* A load that overwrites all of its destination: the destination can hold the address first. */
static bool
is_plain_load(const struct st_insn *in, const struct edit *x)
{
	if (in->flags &
	    (ST_I_VEX | ST_I_EVEX | ST_I_OP16 | ST_I_FSSEG | ST_I_ADDR32 | ST_I_LOCK | ST_I_REP))
		return false;
	unsigned reg = modrm_reg(in, x);
	if (reg == RSP || !(in->gpr_written >> reg & 1))
		return false;
	uint8_t op = x->b[x->op];
	bool escaped = x->op > 0 && x->b[x->op - 1] == 0x0f;
	return escaped ? op == 0xb6 || op == 0xb7 || op == 0xbe || op == 0xbf
	               : op == 0x8b || op == 0x63;
}

/* Seeded bug 14: without need, and without thought of ah, ch, dh and bh. */
static void
add_rex(struct edit *x, const struct st_insn *in)
{
	unsigned at = x->op;
	if (in->flags & (ST_I_REX | ST_I_VEX | ST_I_EVEX) || (at && x->b[at - 1] == 0x0f))
		return;
	for (unsigned i = x->n; i > at; i--)
		x->b[i] = x->b[i - 1];
	x->b[at] = 0x40;
	x->n++;
	x->op++;
	x->modrm++;
	x->disp++;
}

/* A register that the instruction neither reads nor writes, by whatever name. rsi and rdi are no
 * implicit operands of any instruction that has a ModRM byte. */
static unsigned
pick_scratch(const struct st_insn *in, const struct edit *x)
{
	static const uint8_t choice[] = {RSI, RDI, RAX, RDX, RCX, RBX};
	unsigned used = in->gpr_read == 0xffff ? 0xffffu & ~(1u << RSI | 1u << RDI) : in->gpr_read;
	used |= in->gpr_written;
	used |= 1u << (x->b[x->modrm] >> 3 & 7);
	if (in->flags & (ST_I_VEX | ST_I_EVEX)) {
		uint8_t v = in->flags & ST_I_EVEX || x->b[x->vex] == 0xc4 ? x->b[x->vex + 2]
		                                                          : x->b[x->vex + 1];
		used |= 1u << (~v >> 3 & 7);
	}
	for (unsigned i = 0; i < sizeof choice; i++)
		if (!(used >> choice[i] & 1))
			return choice[i];
	return RSI; /* not reached: at most one of rsi and rdi is ModRM.reg, another may be VEX.vvvv
	             */
}

static void
emit_lea(struct emit *e, const struct st_insn *in, const struct edit *x, uint64_t target)
{
	unsigned reg = modrm_reg(in, x);
	bool wide = (in->flags & ST_I_REX) && (x->b[x->rex] & 8);
	if (wide && target >> 32) {
		emit_mov_imm64(e, reg, target);
		return;
	}
	if (reg >= 8)
		e8(e, 0x41);
	e8(e, 0xb8 | (reg & 7));
	e32(e, (uint32_t)target);
}

static enum relocated
relocate_riprel(struct emit *e, const struct st_insn *in, struct edit *x, uint64_t pc)
{
	int32_t disp;
	__builtin_memcpy(&disp, x->b + x->disp, 4);
	uint64_t target = pc + in->len + (uint64_t)(int64_t)disp;
	if (SEEDED(3))
		target -= in->imm_len;
	if (in->flags & ST_I_ADDR32 && !SEEDED(20))
		target &= 0xffffffff;
	bool far = e->target->far || in->flags & ST_I_ADDR32;
	if (!far && emit_reaches(e, target)) {
		uint32_t d = (uint32_t)(target - (e->target->area + e->off + x->n));
		__builtin_memcpy(x->b + x->disp, &d, 4);
		ebytes(e, x->b, x->n);
		return RELOCATED_COPY;
	}
	if ((in->flags & ST_I_LEA) && !(in->flags & ST_I_OP16)) {
		emit_lea(e, in, x, target);
		return RELOCATED_COPY;
	}
	if (can_be_low(x, in, target)) {
		make_low(x, in, (uint32_t)target, e);
		ebytes(e, x->b, x->n);
		return RELOCATED_COPY;
	}
	if (is_plain_load(in, x)) {
		unsigned reg = modrm_reg(in, x);
		emit_mov_imm64(e, reg, target);
		make_based(x, in, reg);
		ebytes(e, x->b, x->n);
		return RELOCATED_LOAD;
	}
	unsigned scratch = pick_scratch(in, x);
	if (SEEDED(14))
		add_rex(x, in);
	emit_save(e, scratch, THREAD_SLOT_SPILL);
	emit_mov_imm64(e, scratch, target);
	make_based(x, in, scratch);
	ebytes(e, x->b, x->n);
	emit_restore(e, scratch, THREAD_SLOT_SPILL);
	return RELOCATED_SPILL;
}

enum relocated
relocate_insn(struct emit *e, const struct st_insn *in, const uint8_t *code, uint64_t pc)
{
	if (!(in->flags & (ST_I_RIPREL | ST_I_GSSEG))) {
		ebytes(e, code, in->len);
		return RELOCATED_COPY;
	}
	struct edit x;
	load_edit(&x, in, code);
	if (in->flags & ST_I_GSSEG)
		strip_prefix(&x, 0x65);
	if (SEEDED(20))
		strip_prefix(&x, 0x67);
	if (in->flags & ST_I_RIPREL)
		return relocate_riprel(e, in, &x, pc);
	ebytes(e, x.b, x.n);
	return RELOCATED_COPY;
}

void
relocate_load_target(struct emit *e, const struct st_insn *in, const uint8_t *code, uint64_t pc,
                     unsigned reg)
{
	struct edit x;
	load_edit(&x, in, code);
	if (in->flags & ST_I_GSSEG)
		strip_prefix(&x, 0x65);
	/* Keep segment and address-size prefixes; drop the others; then REX.W + 8b with the same
	 * operand. */
	unsigned rex = in->flags & ST_I_REX ? x.b[x.rex] & 3u : 0;
	unsigned n = x.n - x.modrm;
	struct edit y = {.n = 0};
	for (unsigned i = 0; i < x.op; i++)
		if (x.b[i] == 0x64 || x.b[i] == 0x67)
			y.b[y.n++] = x.b[i];
	y.rex = y.n;
	y.b[y.n++] = (uint8_t)(0x48 | rex | (reg >> 3) << 2);
	y.op = y.n;
	y.b[y.n++] = 0x8b;
	y.modrm = y.n;
	for (unsigned i = 0; i < n; i++)
		y.b[y.n++] = x.b[x.modrm + i];
	y.b[y.modrm] = (uint8_t)((y.b[y.modrm] & 0xc7) | (reg & 7) << 3);
	if (!(in->flags & ST_I_RIPREL)) {
		ebytes(e, y.b, y.n);
		return;
	}
	int32_t disp;
	y.disp = y.modrm + 1;
	__builtin_memcpy(&disp, y.b + y.disp, 4);
	uint64_t target = pc + in->len + (uint64_t)(int64_t)disp;
	if (in->flags & ST_I_ADDR32)
		target &= 0xffffffff;
	struct st_insn as_load = *in;
	as_load.flags |= ST_I_REX;
	bool far = e->target->far || in->flags & ST_I_ADDR32;
	if (!far && emit_reaches(e, target)) {
		uint32_t d = (uint32_t)(target - (e->target->area + e->off + y.n));
		__builtin_memcpy(y.b + y.disp, &d, 4);
	} else if (can_be_low(&y, in, target)) {
		make_low(&y, in, (uint32_t)target, e);
	} else {
		emit_mov_imm64(e, reg, target);
		make_based(&y, &as_load, reg);
	}
	ebytes(e, y.b, y.n);
}
