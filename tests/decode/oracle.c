/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "oracle.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "access_oracle.h"

/* What Zydis says, in our terms. Sets are the exact ones; ours may be larger (reads) or smaller
 * (writes). */
struct expected {
	unsigned cls;
	unsigned disp_off, disp_len, imm_off, imm_len, modrm_off;
	uint32_t flags; /* the exact ones only, EXACT_FLAGS */
	bool reads_mem, writes_mem;
	bool hint;         /* a nop or prefetch, whose memory operand is never accessed */
	bool address_only; /* of the memory operand only the address counts: an override means
	                      nothing */
	unsigned fr, fw;
	unsigned rd, wr;
	unsigned named; /* read, or written in part or perhaps */
	int64_t rel;
	bool has_rel;
};

#define EXACT_FLAGS                                                                                \
	(ST_I_MODRM | ST_I_MEM | ST_I_RIPREL | ST_I_REP | ST_I_VEX | ST_I_EVEX | ST_I_REX |        \
	 ST_I_ADDR32 | ST_I_OP16 | ST_I_LOCK | ST_I_LEA | ST_I_GSSEG | ST_I_FSSEG)

static const ZydisDecoder *
decoder(void)
{
	static ZydisDecoder d;
	static bool ready;

	if (!ready) {
		ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		ready = true;
	}
	return &d;
}

const char *
oracle_mnemonic(unsigned mnemonic)
{
	return ZydisMnemonicGetString((ZydisMnemonic)mnemonic);
}

unsigned
oracle_length(const uint8_t *p, size_t n)
{
	ZydisDecodedInstruction in;

	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(), NULL, p, n, &in)) ? in.length
	                                                                               : 0;
}

static unsigned
flag_bits(ZydisAccessedFlagsMask m)
{
	return (m & ZYDIS_CPUFLAG_CF ? ST_F_CF : 0) | (m & ZYDIS_CPUFLAG_PF ? ST_F_PF : 0) |
	       (m & ZYDIS_CPUFLAG_AF ? ST_F_AF : 0) | (m & ZYDIS_CPUFLAG_ZF ? ST_F_ZF : 0) |
	       (m & ZYDIS_CPUFLAG_SF ? ST_F_SF : 0) | (m & ZYDIS_CPUFLAG_OF ? ST_F_OF : 0) |
	       (m & ZYDIS_CPUFLAG_DF ? ST_F_DF : 0);
}

/* The bit of a general register, or 0. */
static unsigned
gpr_bit(ZydisRegister r)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15)
		return 0;
	return 1u << (full - ZYDIS_REGISTER_RAX);
}

static bool
names_gs(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	for (unsigned i = 0; i < in->operand_count_visible; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ops[i].reg.value == ZYDIS_REGISTER_GS)
			return true;
	return false;
}

static unsigned
branch_class(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, unsigned direct,
             unsigned indirect)
{
	if (in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return ST_C_FAR;
	return ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? direct : indirect;
}

static unsigned
class_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		return branch_class(in, ops, ST_C_JMP, ST_C_IJMP);
	case ZYDIS_MNEMONIC_CALL:
		return branch_class(in, ops, ST_C_CALL, ST_C_ICALL);
	case ZYDIS_MNEMONIC_RET:
		return in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? ST_C_FAR : ST_C_RET;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_UIRET:
		return ST_C_FAR;
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
		return ST_C_LOOP;
	case ZYDIS_MNEMONIC_XBEGIN:
		return ST_C_XBEGIN;
	case ZYDIS_MNEMONIC_SYSCALL:
		return ST_C_SYSCALL;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_SYSRET:
		return ST_C_INT;
	case ZYDIS_MNEMONIC_INT3:
		return ST_C_INT3;
	case ZYDIS_MNEMONIC_RDGSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
	case ZYDIS_MNEMONIC_SWAPGS:
	case ZYDIS_MNEMONIC_LGS:
		return ST_C_GS;
	default:
		if (in->meta.category == ZYDIS_CATEGORY_COND_BR &&
		    in->mnemonic != ZYDIS_MNEMONIC_XEND)
			return ST_C_JCC;
		return names_gs(in, ops) ? ST_C_GS : ST_C_NORMAL;
	}
}

static uint32_t
prefix_flags(const ZydisDecodedInstruction *in)
{
	uint32_t flags = 0;

	for (unsigned i = 0; i < in->raw.prefix_count; i++) {
		flags |= in->raw.prefixes[i].value == 0x66 ? ST_I_OP16 : 0;
		flags |= in->raw.prefixes[i].value == 0x67 ? ST_I_ADDR32 : 0;
		flags |= in->raw.prefixes[i].value == 0xf0 ? ST_I_LOCK : 0;
	}
	if (in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		flags |= ST_I_VEX;
	if (in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		flags |= ST_I_EVEX;
	if (in->attributes & ZYDIS_ATTRIB_HAS_REX)
		flags |= ST_I_REX;
	if (in->meta.category != ZYDIS_CATEGORY_PADLOCK &&
	    in->attributes &
	            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		flags |= ST_I_REP;
	return flags;
}

static void
memory_operand(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct expected *e)
{
	/* SIB's "no base" is not recognized as such by Zydis under 67 and REX.B */
	bool no_base = in->attributes & ZYDIS_ATTRIB_HAS_SIB && in->raw.modrm.mod == 0 &&
	               in->raw.sib.base == 5 && op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;

	e->rd |= gpr_bit(op->mem.index) | (no_base ? 0 : gpr_bit(op->mem.base));
	if (op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP)
		e->flags |= ST_I_RIPREL;
	e->reads_mem |= op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	e->writes_mem |= op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
		e->address_only = true;
		return;
	}
	if (op->mem.segment == ZYDIS_REGISTER_GS)
		e->flags |= ST_I_GSSEG;
	if (op->mem.segment == ZYDIS_REGISTER_FS)
		e->flags |= ST_I_FSSEG;
}

static void
add_operand(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct expected *e)
{
	unsigned bit;

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		e->flags |= op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM ? ST_I_MEM : 0;
		memory_operand(in, op, e);
	}
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || in->mnemonic == ZYDIS_MNEMONIC_NOP)
		return;
	bit = gpr_bit(op->reg.value);
	e->named |= bit;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		e->rd |= bit;
	if (op->actions & ZYDIS_OPERAND_ACTION_WRITE && op->size >= 32)
		e->wr |= bit;
}

static void
expect_fields(const ZydisDecodedInstruction *in, struct expected *e)
{
	bool amd3dnow = in->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW;

	if (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) {
		e->modrm_off = in->raw.modrm.offset;
		e->flags |= ST_I_MODRM;
	}
	if (in->raw.disp.size) {
		e->disp_off = in->raw.disp.offset;
		e->disp_len = in->raw.disp.size / 8;
	}
	if (in->raw.imm[0].size) {
		e->imm_off = in->raw.imm[0].offset;
		e->imm_len = (in->raw.imm[0].size + in->raw.imm[1].size) / 8;
	} else if (amd3dnow) { /* the opcode comes last, as an immediate would */
		e->imm_off = in->length - 1u;
		e->imm_len = 1;
	}
	if (in->raw.imm[0].is_relative) {
		e->has_rel = true;
		e->rel = in->raw.imm[0].value.s;
	}
}

static void
expect(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, struct expected *e)
{
	*e = (struct expected){.cls = class_of(in, ops), .flags = prefix_flags(in)};
	expect_fields(in, e);
	for (unsigned i = 0; i < in->operand_count; i++)
		add_operand(in, &ops[i], e);
	if (in->mnemonic == ZYDIS_MNEMONIC_LEA)
		e->flags |= ST_I_LEA;
	e->hint = in->meta.category == ZYDIS_CATEGORY_NOP ||
	          in->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	          in->meta.category == ZYDIS_CATEGORY_PREFETCH ||
	          in->meta.category == ZYDIS_CATEGORY_PREFETCHWT1 ||
	          in->mnemonic == ZYDIS_MNEMONIC_CLDEMOTE;
	if (!in->cpu_flags)
		return;
	e->fr = flag_bits(in->cpu_flags->tested);
	e->fw = flag_bits(in->cpu_flags->modified | in->cpu_flags->set_0 | in->cpu_flags->set_1 |
	                  in->cpu_flags->undefined);
	if (in->mnemonic == ZYDIS_MNEMONIC_VPTEST || in->mnemonic == ZYDIS_MNEMONIC_VTESTPS ||
	    in->mnemonic == ZYDIS_MNEMONIC_VTESTPD)
		e->fw |= ST_F_OF | ST_F_AF | ST_F_PF |
		         ST_F_SF; /* cleared, as by ptest; Zydis omits it */
}

static bool __attribute__((format(printf, 2, 3))) differ(struct outcome *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->why, sizeof(out->why), fmt, ap);
	va_end(ap);
	return false;
}

/* A register combined with itself to clear it is not read, whatever Zydis says. */
static bool
is_zeroing(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	return (in->mnemonic == ZYDIS_MNEMONIC_XOR || in->mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[0].reg.value == ops[1].reg.value &&
	       ops[0].size >= 32;
}

static bool
same_fields(const struct expected *e, const struct st_insn *x, struct outcome *out)
{
	uint32_t flags = x->flags & EXACT_FLAGS;

	if (x->cls != e->cls)
		return differ(out, "class %u, Zydis says %u", x->cls, e->cls);
	if (x->modrm_off != e->modrm_off)
		return differ(out, "modrm_off %u, Zydis says %u", x->modrm_off, e->modrm_off);
	if (x->disp_off != e->disp_off || x->disp_len != e->disp_len)
		return differ(out, "disp %u+%u, Zydis says %u+%u", x->disp_off, x->disp_len,
		              e->disp_off, e->disp_len);
	if (x->imm_off != e->imm_off || x->imm_len != e->imm_len)
		return differ(out, "imm %u+%u, Zydis says %u+%u", x->imm_off, x->imm_len,
		              e->imm_off, e->imm_len);
	if (e->has_rel && x->rel != e->rel)
		return differ(out, "rel %d, Zydis says %" PRId64, x->rel, e->rel);
	if (e->address_only && x->cls == ST_C_NORMAL)
		flags &= ~(uint32_t)(ST_I_GSSEG | ST_I_FSSEG);
	if (flags != e->flags)
		return differ(out, "flags %x, Zydis says %x", flags, e->flags);
	return true;
}

static bool
sets_are_safe(const struct expected *e, const struct st_insn *x, struct outcome *out)
{
	if (e->fr & ~x->flags_read)
		return differ(out, "flags_read %x lacks some of %x", x->flags_read, e->fr);
	if (x->flags_written & ~e->fw)
		return differ(out, "flags_written %x has more than %x", x->flags_written, e->fw);
	if (e->rd & ~x->gpr_read)
		return differ(out, "gpr_read %x lacks some of %x", x->gpr_read, e->rd);
	if (x->gpr_written & ~e->wr)
		return differ(out, "gpr_written %x has more than %x", x->gpr_written, e->wr);
	if (e->named & ~(x->gpr_read | (unsigned)x->gpr_written))
		return differ(out, "neither gpr_read %x nor gpr_written %x has all of %x",
		              x->gpr_read, x->gpr_written, e->named);
	if (e->hint)
		return true;
	if (e->reads_mem && !(x->flags & ST_I_READS_MEM))
		return differ(out, "READS_MEM is missing");
	if (e->writes_mem && !(x->flags & ST_I_WRITES_MEM))
		return differ(out, "WRITES_MEM is missing");
	return true;
}

static void
count_slack(const struct expected *e, const struct st_insn *x, struct slack *s)
{
	s->insns++;
	s->gpr_read += x->gpr_read != e->rd;
	s->gpr_written += x->gpr_written != e->wr;
	s->flags_read += x->flags_read != e->fr;
	s->flags_written += x->flags_written != e->fw;
	s->mem += !e->hint && (!(x->flags & ST_I_READS_MEM) != !e->reads_mem ||
	                       !(x->flags & ST_I_WRITES_MEM) != !e->writes_mem);
}

/*
 * What Zydis knows and we do not: XOP, which only AMD's family 15h had, and the VEX instructions of
 * Knights Corner, which ran no Linux program of ours.
 */
static bool
is_exempt(const ZydisDecodedInstruction *in)
{
	return in->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP ||
	       in->meta.isa_ext == ZYDIS_ISA_EXT_KNC || in->meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
	       in->meta.isa_ext == ZYDIS_ISA_EXT_KNCV;
}

void
oracle_compare(const uint8_t *p, size_t n, struct outcome *out, struct slack *slack)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct st_insn x;
	struct expected e;
	bool theirs = ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), p, n, &in, ops));
	unsigned len = st_decode(p, n, &x);

	*out = (struct outcome){.verdict = NO_INSN, .len = theirs ? in.length : 0};
	if (!theirs) {
		out->verdict = len ? ONLY_WE : NO_INSN;
		return;
	}
	out->mnemonic = in.mnemonic;
	if (is_exempt(&in) || !len) {
		out->verdict = is_exempt(&in) ? EXEMPT : ONLY_ZYDIS;
		return;
	}
	out->verdict = DISAGREE;
	if (len != in.length || x.len != len) {
		differ(out, "length %u, Zydis says %u", len, in.length);
		return;
	}
	expect(&in, ops, &e);
	if (is_zeroing(&in, ops))
		e.rd = 0;
	if (!same_fields(&e, &x, out) || !sets_are_safe(&e, &x, out) ||
	    !access_agrees(&in, ops, p, &x, out->why, sizeof(out->why)))
		return;
	out->verdict = AGREE;
	if (slack)
		count_slack(&e, &x, slack);
}
