/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rules (A_*) for opcodes that one word of the table cannot describe: the groups, whose
 * ModRM.reg selects the instruction, and those where a prefix or the immediate does. Each corrects
 * what the table's word gave. Included by decode.c only.
 */
#ifndef STROBE_RT_ARCH_X86_64_DECODE_RULES_H
#define STROBE_RT_ARCH_X86_64_DECODE_RULES_H

#include "decode_tables.h"

/* An instruction in the making. */
struct dec {
	const uint8_t *p;    /* at least WINDOW readable bytes */
	struct st_insn *out; /* the fields not held here */
	uint64_t word;       /* from st_opcodes */
	uint32_t flags;      /* ST_I_* */
	uint32_t sets; /* registers read, and above them those written as if all operands were wide
	                  enough */
	unsigned pfx, rex; /* P_*; the REX byte, or 0x80 and its low bits from a VEX prefix, or 0 */
	unsigned i;        /* next byte */
	unsigned op, modrm; /* without a ModRM byte, 0xc0 and the opcode's low bits */
	/* for the rules: */
	unsigned reg, rm; /* the registers that these fields of ModRM name */
	uint32_t rd, wr;  /* the two halves of sets */
};

static inline unsigned
sel(const struct dec *d)
{
	return d->modrm >> 3 & 7;
}

static inline bool
is_mem(const struct dec *d)
{
	return d->modrm < 0xc0;
}

static inline void
use_flags(struct dec *d, unsigned set)
{
	d->out->flags_read = (uint8_t)set;
	d->out->flags_written = (uint8_t)(set >> 8);
}

static inline void
use_implicit(struct dec *d, unsigned which)
{
	d->rd |= st_implicit[which].sets & 0xffff;
	d->wr |= st_implicit[which].sets >> 16;
	d->flags |= st_implicit[which].flags;
}

/* Nothing is known but the length. */
static inline void
refuse_opcode(struct dec *d)
{
	use_implicit(d, IM_ALL);
	use_flags(d, FL_ALL);
	d->wr = 0;
}

static inline void
invalid(struct dec *d)
{
	d->out->cls = ST_C_INVALID;
}

/* The rm operand turns out to be written, */
static inline void
rm_written(struct dec *d)
{
	if (is_mem(d))
		d->flags |= ST_I_WRITES_MEM;
	else
		d->wr |= 1u << d->rm;
}

/* or only read. */
static inline void
rm_not_written(struct dec *d)
{
	d->wr = 0;
	d->flags &= ~(uint32_t)ST_I_WRITES_MEM;
}

/* mov to and from control and debug registers has no memory operand, whatever ModRM.mod */
static inline void
rule_control(struct dec *d)
{
	bool from = d->op < 0x22;

	d->i = d->out->modrm_off + 1u;
	d->out->disp_off = d->out->disp_len = 0;
	d->flags &= ~(uint32_t)(ST_I_MEM | ST_I_RIPREL | ST_I_GSSEG | ST_I_FSSEG);
	d->rd = from ? 0 : 1u << d->rm;
	d->wr = from ? 1u << d->rm : 0;
}

static inline void
rule_group1(struct dec *d)
{
	if (sel(d) == 7)
		rm_not_written(d);
	else if ((sel(d) & 6) == 2)
		use_flags(d, FL_ADC);
}

/* Flags of a shift or rotate by a constant count other than zero. */
static inline void
shift_flags(struct dec *d, bool by_one)
{
	if (sel(d) >= 4) {
		use_flags(d, by_one ? FL_SHIFT1 : FL_SHIFT);
	} else if (sel(d) < 2) {
		d->out->flags_written = by_one ? ST_F_CF | ST_F_OF : ST_F_CF;
	} else {
		/* rcl, rcr: a count that is a multiple of 9 or 17 may leave the flags alone */
		d->out->flags_read = ST_F_CF;
		d->out->flags_written = by_one ? ST_F_CF | ST_F_OF : 0;
	}
}

static inline void
rule_shift(struct dec *d, unsigned act)
{
	unsigned mask = d->rex & 8 ? 63 : 31;

	if (act == A_SHIFT1)
		shift_flags(d, true);
	else if (act == A_SHIFT && (d->p[d->out->imm_off] & mask) != 0)
		shift_flags(d, (d->p[d->out->imm_off] & mask) == 1);
	else if ((sel(d) & 6) == 2)
		d->out->flags_read = ST_F_CF;
}

static inline void
rule_group3(struct dec *d)
{
	bool byte = d->op == 0xf6;

	switch (sel(d)) {
	case 0:
	case 1:
		break;
	case 2: /* not */
		d->out->flags_written = 0;
		rm_written(d);
		break;
	case 3: /* neg */
		rm_written(d);
		break;
	default: /* mul, imul, div, idiv: ax, or rdx:rax; only divisions read rdx */
		d->rd |= RAX | (!byte && sel(d) >= 6 ? RDX : 0);
		d->wr |= byte ? 0 : RAX | RDX;
		use_flags(d, FL_MUL);
		/* A division may fault, and leaves the "undefined" flags alone: they stay visible.
		 */
		if (sel(d) >= 6)
			use_flags(d, F_SET(ST_F_ARITH, 0));
	}
}

static inline void
rule_group5(struct dec *d)
{
	switch (sel(d)) {
	case 0:
	case 1:
		use_flags(d, FL_INC);
		rm_written(d);
		break;
	case 2:
		d->out->cls = ST_C_ICALL;
		use_implicit(d, IM_PUSH);
		break;
	case 4:
		d->out->cls = ST_C_IJMP;
		break;
	case 3:
	case 5:
		d->out->cls = is_mem(d) ? ST_C_FAR : ST_C_INVALID;
		refuse_opcode(d);
		break;
	case 6:
		use_implicit(d, IM_PUSH);
		break;
	default:
		invalid(d);
	}
}

/* c6, c7: mov /0, and xabort and xbegin at /7 */
static inline void
rule_movi(struct dec *d)
{
	if (sel(d) == 0)
		return;
	if (d->modrm != 0xf8) {
		invalid(d);
		return;
	}
	refuse_opcode(d);
	if (d->op == 0xc7)
		d->out->cls = ST_C_XBEGIN;
}

static inline void
rule_x87(struct dec *d)
{
	unsigned esc = d->op & 7;

	if (is_mem(d)) {
		bool stores = st_x87_stores[esc] >> sel(d) & 1;

		d->flags |= stores ? ST_I_WRITES_MEM : ST_I_READS_MEM;
	} else if ((esc == 2 || esc == 3) && sel(d) < 4) {
		d->out->flags_read = ST_F_CF | ST_F_ZF | ST_F_PF; /* fcmov */
	} else if ((esc == 3 || esc == 7) && (sel(d) == 5 || sel(d) == 6)) {
		d->out->flags_written = ST_F_CF | ST_F_ZF | ST_F_PF; /* fcomi and its kin */
	} else if (esc == 7 && d->modrm == 0xe0) {
		d->rd |= RAX; /* fnstsw ax */
	}
}

/* 0f 01: privileged or rare, except for a few */
static inline void
rule_group7(struct dec *d)
{
	d->rd &= is_mem(d) ? ALL_GPR : 0;
	switch (d->modrm) {
	case 0xd0: /* xgetbv */
		use_implicit(d, IM_RDMSR);
		d->flags &= ~(uint32_t)(ST_I_READS_MEM | ST_I_WRITES_MEM);
		break;
	case 0xd6: /* xtest */
		d->out->flags_written = ST_F_ARITH;
		d->flags &= ~(uint32_t)(ST_I_READS_MEM | ST_I_WRITES_MEM);
		break;
	case 0xec: /* uiret */
		d->out->cls = ST_C_FAR;
		refuse_opcode(d);
		break;
	case 0xf8: /* swapgs */
		d->out->cls = ST_C_GS;
		refuse_opcode(d);
		break;
	case 0xf9: /* rdtscp */
		d->wr = RAX | RCX | RDX;
		d->flags &= ~(uint32_t)(ST_I_READS_MEM | ST_I_WRITES_MEM);
		break;
	default:
		refuse_opcode(d);
	}
}

/* 0f c7: cmpxchg8b, xsavec, rdrand .. */
static inline void
rule_group9(struct dec *d)
{
	if (!is_mem(d)) {
		d->flags &= ~(uint32_t)(ST_I_READS_MEM | ST_I_WRITES_MEM);
		if (sel(d) < 6) {
			invalid(d);
		} else if (d->pfx & P_F3) {
			refuse_opcode(d); /* senduipi, rdpid */
		} else {
			d->wr = 1u << d->rm;
			d->out->flags_written = ST_F_ARITH;
		}
		return;
	}
	if (sel(d) == 1) {
		d->rd |= RAX | RBX | RCX | RDX;
		d->out->flags_written = ST_F_ZF;
	} else if (sel(d) == 0 || sel(d) == 2) {
		invalid(d);
	} else {
		d->rd |= RAX | RDX;
	}
}

/* 0f ae with a register: fences, rdfsbase and its kin */
static inline void
group15_register(struct dec *d)
{
	d->flags &= ~(uint32_t)(ST_I_READS_MEM | ST_I_WRITES_MEM);
	if (!(d->pfx & P_F3)) {
		if (d->pfx & (P_66 | P_F2) || sel(d) < 5)
			refuse_opcode(d); /* umwait, tpause */
		return;
	}
	switch (sel(d)) {
	case 1:
		d->out->cls = ST_C_GS;
		/* fall through */
	case 0:
		d->wr = 1u << d->rm;
		break;
	case 3:
		d->out->cls = ST_C_GS;
		/* fall through */
	case 2:
		d->rd = 1u << d->rm;
		break;
	default:
		refuse_opcode(d);
	}
}

static inline void
rule_group15(struct dec *d)
{
	if (!is_mem(d)) {
		group15_register(d);
		return;
	}
	if (sel(d) >= 4)
		d->rd |= RAX | RDX; /* the xsave family */
	if (d->pfx & (P_66 | P_F2 | P_F3))
		return;
	if (sel(d) == 2)
		d->flags &= ~(uint32_t)ST_I_WRITES_MEM;
	else if (sel(d) == 3)
		d->flags &= ~(uint32_t)ST_I_READS_MEM;
}

static inline void
rule_string(struct dec *d)
{
	if (!(d->pfx & (P_F2 | P_F3)))
		return;
	d->flags |= ST_I_REP;
	d->rd |= RCX | d->wr;
	d->wr = 0;
	if (d->out->flags_written) {
		d->out->flags_read |= ST_F_ZF; /* cmps, scas: without an iteration the flags stay */
		d->out->flags_written = 0;
	}
}

/* 0f 7e: movd and movq store, f3 makes it a load */
static inline void
rule_movd(struct dec *d)
{
	if (d->pfx & P_F3)
		return;
	if (is_mem(d))
		d->flags ^= ST_I_READS_MEM | ST_I_WRITES_MEM;
	else
		d->wr |= 1u << d->rm;
}

static inline void
rule_adx(struct dec *d)
{
	if (!(d->pfx & (P_66 | P_F3)))
		return; /* wrss */
	d->flags &= ~(uint32_t)ST_I_WRITES_MEM;
	d->wr |= 1u << d->reg;
	d->out->flags_read = d->out->flags_written = d->pfx & P_F3 ? ST_F_OF : ST_F_CF;
}

/* BMI instructions with a third operand in VEX.vvvv */
static inline void
rule_bmi(struct dec *d, unsigned act)
{
	bool plain = !(d->pfx & (P_66 | P_F2 | P_F3));
	const uint8_t *vex = d->p + d->out->vex_off;
	unsigned vvvv = ~(unsigned)vex[*vex == 0xc5 ? 1 : 2] >> 3 & 15;

	if (act == A_MULX)
		d->rd |= RDX;
	if (act == A_BLS || act == A_MULX)
		d->wr |= 1u << vvvv;
	else
		d->rd |= 1u << vvvv;
	/* bextr and bzhi; the others on these opcodes leave the flags alone */
	if (act == A_BMI && plain)
		use_flags(d, d->op == 0xf7 ? FL_BEXTR : FL_BMI);
}

/* mov to and from segment registers */
static inline void
rule_segment(struct dec *d, unsigned act)
{
	if (sel(d) >= 6 || (act == A_TO_SEG && sel(d) == 1))
		invalid(d);
	else if (sel(d) == 5)
		d->out->cls = ST_C_GS;
}

static inline void
decode_by_rule(struct dec *d, unsigned act)
{
	switch (act) {
	case A_ZERO:
		if (!is_mem(d) && d->reg == d->rm)
			d->rd = 0;
		break;
	case A_CONTROL:
		rule_control(d);
		break;
	case A_NOP:
		if (!(d->rex & 1))
			d->rd = d->wr = 0;
		else if (d->pfx & P_F3)
			d->wr = 0; /* pause on some processors */
		break;
	case A_GRP1:
		rule_group1(d);
		break;
	case A_SHIFT:
	case A_SHIFT1:
	case A_SHIFTCL:
		rule_shift(d, act);
		break;
	case A_GRP3:
		rule_group3(d);
		break;
	case A_INCDEC:
		if (sel(d) >= 2)
			invalid(d);
		break;
	case A_GRP5:
		rule_group5(d);
		break;
	case A_FROM_SEG:
	case A_TO_SEG:
		rule_segment(d, act);
		break;
	case A_POPE:
		if (sel(d) != 0)
			invalid(d); /* XOP */
		break;
	case A_STRING:
		rule_string(d);
		break;
	case A_MOVI:
		rule_movi(d);
		break;
	case A_X87:
		rule_x87(d);
		break;
	case A_GRP6:
		if (sel(d) >= 6)
			invalid(d);
		else if (sel(d) >= 4)
			d->out->flags_written = ST_F_ZF;
		break;
	case A_GRP7:
		rule_group7(d);
		break;
	case A_CVT: /* the scalar forms have a general destination */
		if (d->pfx & (P_F2 | P_F3))
			d->wr |= 1u << d->reg;
		break;
	case A_MOVD:
		rule_movd(d);
		break;
	case A_POPCNT:
		if (!(d->pfx & P_F3))
			invalid(d);
		break;
	case A_RDSSP: /* without a shadow stack, and in all other forms, a nop */
		if (d->pfx & P_F3 && !is_mem(d) && sel(d) == 1)
			d->rd |= 1u << d->rm;
		break;
	case A_BIT:
		if (sel(d) < 4)
			invalid(d);
		else if (sel(d) == 4)
			rm_not_written(d);
		break;
	case A_GRP9:
		rule_group9(d);
		break;
	case A_GRP15:
		rule_group15(d);
		break;
	case A_SHLD:
		/* of 16 bits: nothing is sure when the count is greater */
		if (d->p[d->out->imm_off] & (d->rex & 8 ? 63 : 31) &&
		    (d->rex & 8 || !(d->pfx & P_66)))
			use_flags(d, FL_SHIFT);
		break;
	case A_LOADIWKEY: /* else aesenc */
		if (d->pfx & P_F3)
			d->rd |= RAX;
		break;
	case A_CRC32: /* without f2 movbe */
		if (d->pfx & P_F2)
			d->rd |= 1u << d->reg;
		break;
	case A_ADX:
		rule_adx(d);
		break;
	case A_VPMOV: /* EVEX with f3: down conversions, which store */
		if (d->flags & ST_I_EVEX && d->pfx & P_F3 && is_mem(d))
			d->flags |= ST_I_WRITES_MEM;
		break;
	default:
		rule_bmi(d, act);
	}
}

#endif
