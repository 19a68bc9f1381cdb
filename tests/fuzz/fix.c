/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a template instruction do something: its memory operands must mean our memory (or a bad
 * address, on purpose), its counts must be small, its implicit operands sensible. Registers are set
 * before it, displacements and immediates changed within it.
 */
#include "env.h"
#include "pick.h"

#include <string.h>

#define CODE (&g->code)

static bool
set(struct fz_gen *g, unsigned r, uint64_t v)
{
	if (fz_reserved(g, r))
		return false;
	fz_set_reg(g, r, v);
	return true;
}

/* Somewhere to read or write `size` bytes. */
static uint64_t
pick_target(struct fz_gen *g, unsigned size)
{
	unsigned kind = g->opt->no_faults ? fz_below(&g->rng, 88) : fz_below(&g->rng, 100);
	uint64_t at = fz_arena.main + 0x200 + fz_below(&g->rng, (FZ_MAIN_SIZE - 0x600) / 64) * 64;
	uint64_t region = g->region->base;

	if (kind < 55)
		return at;
	if (kind < 65)
		return at + fz_below(&g->rng, 64);
	if (kind < 70) /* across the border between two pages */
		return fz_arena.main + FZ_PAGE - fz_below(&g->rng, size + 1);
	if (kind < 88)
		return region + (kind & 1 ? FZ_R_BEFORE : FZ_R_AFTER) + 0x100 +
		       fz_below(&g->rng, 100) * 32;
	if (kind < 93) /* the end of our memory, whole or in part beyond it */
		return fz_arena.main + FZ_MAIN_SIZE - size + fz_below(&g->rng, size + 1);
	if (kind < 95)
		return fz_arena.main - fz_below(&g->rng, size + 1);
	if (kind < 97)
		return fz_arena.readonly + 0x100;
	if (kind < 98)
		return fz_arena.none + 0x100;
	if (kind < 99)
		return 0x7fffffffffc0 + fz_below(&g->rng, 128);
	return fz_next(&g->rng) | 1ull << 63;
}

/* Same, where 32-bit and sign-extended 32-bit addresses reach. */
static uint64_t
pick_low_target(struct fz_gen *g, unsigned size)
{
	unsigned kind = g->opt->no_faults ? fz_below(&g->rng, 90) : fz_below(&g->rng, 100);

	if (kind < 80)
		return fz_arena.low + 0x100 + fz_below(&g->rng, 50) * 64;
	if (kind < 90)
		return fz_arena.low + 0x100 + fz_below(&g->rng, 0xc00);
	return fz_arena.low + FZ_PAGE - fz_below(&g->rng, size + 1);
}

/* The place for instructions that save or load machine state; 0: not one of them. */
static uint64_t
state_slot(struct fz_gen *g, const struct fz_insn *i)
{
	uint64_t e = fz_arena.env;

	switch (i->in.mnemonic) {
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FLDENV:
		return e + (i->in.operand_width == 16 ? FZ_ENV_FSTENV16 : FZ_ENV_FSTENV32);
	case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FRSTOR:
		return e + (i->in.operand_width == 16 ? FZ_ENV_FSAVE16 : FZ_ENV_FSAVE32);
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXRSTOR:
		return e + FZ_ENV_FXSAVE;
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR64:
		return e + FZ_ENV_FXSAVE64;
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XRSTOR:
		return e + FZ_ENV_XSAVE;
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XRSTOR64:
		return e + FZ_ENV_XSAVE64;
	case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR:
		return fz_chance(&g->rng, 90) ? e + FZ_ENV_MXCSR : 0;
	default:
		return 0;
	}
}

static void
patch_disp(struct fz_insn *i, uint64_t v)
{
	uint32_t d = (uint32_t)v;

	memcpy(i->bytes + i->in.raw.disp.offset, &d, 4);
}

/* How far [rsp+..] may go: above our frame only where nothing must stay. */
static bool
fix_stack_operand(struct fz_gen *g, struct fz_insn *i, const ZydisDecodedOperand *o)
{
	int64_t disp = o->mem.disp.value;
	bool write = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	int index = fz_gpr_of(o->mem.index);

	if (i->in.raw.disp.size == 32) {
		disp = fz_below(&g->rng, 0x400) - 0x200;
		if (g->balanced && write)
			disp = -0x200 + fz_below(&g->rng, 0x180);
		patch_disp(i, (uint64_t)disp);
	}
	if (o->mem.index != ZYDIS_REGISTER_NONE && index < 0)
		return false; /* VSIB */
	if (index >= 0 && !set(g, (unsigned)index, 0))
		return false;
	return !(write && g->balanced && disp > -(int64_t)(o->size / 8));
}

/* A small index for each element of a gather or scatter. */
static void
fix_vector_index(struct fz_gen *g, const ZydisDecodedOperand *o)
{
	unsigned n = (unsigned)ZydisRegisterGetId(o->mem.index) & 31;
	unsigned ll = o->mem.index >= ZYDIS_REGISTER_ZMM0   ? 2
	              : o->mem.index >= ZYDIS_REGISTER_YMM0 ? 1
	                                                    : 0;
	unsigned slot = fz_new_table(g, 8);

	for (unsigned k = 0; k < 8; k++) /* fits 32-bit and 64-bit indices: high halves are zero */
		g->ctrl[slot + k] = fz_below(&g->rng, 48);
	if (g->opt->isa == FZ_ISA_ALL) { /* vmovdqu64 xmm/ymm/zmm, [slot] */
		FZ_PUT(CODE, 0x62, (uint8_t)(0x61 | (~n >> 3 & 1) << 7 | (~n >> 4 & 1) << 4), 0xfe,
		       (uint8_t)(0x08 | ll << 5), 0x6f);
	} else { /* vmovdqu xmm/ymm, [slot] */
		FZ_PUT(CODE, 0xc5, (uint8_t)(0x7a | (~n >> 3 & 1) << 7 | (ll & 1) << 2), 0x6f);
	}
	fz_rip(CODE, n & 7, fz_ctrl_address(g, slot), 0);
}

/* base + index * scale + disp = target, by setting the registers. */
static bool
solve(struct fz_gen *g, const ZydisDecodedOperand *o, uint64_t target)
{
	int base = fz_gpr_of(o->mem.base);
	int index = fz_gpr_of(o->mem.index);
	uint64_t rest = target - (uint64_t)o->mem.disp.value;
	uint64_t scale = o->mem.scale;

	if (base < 0 && index < 0)
		return false;
	if (base < 0)
		return set(g, (unsigned)index, rest / scale);
	if (index == base)
		return set(g, (unsigned)base, rest / (scale + 1));
	if (index >= 0) {
		if (!(g->known >> index & 1) || fz_chance(&g->rng, 50))
			if (!set(g, (unsigned)index,
			         fz_chance(&g->rng, 60) ? fz_below(&g->rng, 256)
			                                : fz_some_value(&g->rng)))
				return false;
		rest -= (g->value[index] &
		         (o->mem.index == ZYDIS_REGISTER_AL ? 0xff : UINT64_MAX)) *
		        scale;
	}
	if ((g->known >> base & 1) && g->value[base] == rest)
		return true;
	return set(g, (unsigned)base, rest);
}

static bool
fix_absolute(struct fz_gen *g, struct fz_insn *i, const ZydisDecodedOperand *o, unsigned size)
{
	uint64_t target = pick_low_target(g, size);

	if (i->in.raw.disp.size == 64) { /* moffs */
		if (i->in.address_width == 64)
			target = pick_target(g, size);
		memcpy(i->bytes + i->in.raw.disp.offset, &target, 8);
		return true;
	}
	if (i->in.raw.disp.size != 32)
		return false;
	if (ZydisRegisterGetClass(o->mem.index) != ZYDIS_REGCLASS_INVALID)
		fix_vector_index(g, o);
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		target = fz_below(&g->rng, 0xf00);
	patch_disp(i, target);
	return true;
}

static bool
fix_rip(struct fz_gen *g, struct fz_insn *i, const ZydisDecodedOperand *o, uint64_t low_target)
{
	if (o->mem.base == ZYDIS_REGISTER_EIP) { /* the low half of the sum */
		patch_disp(i, low_target - (fz_here(CODE) + i->in.length));
		return true;
	}
	uint64_t page = g->region->base + (fz_chance(&g->rng, 50) ? FZ_R_BEFORE : FZ_R_AFTER);
	uint64_t at = page + 64 * fz_below(&g->rng, 56);

	if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && !g->rwx && fz_chance(&g->rng, 5))
		at = CODE->base + fz_below(&g->rng, 64); /* reads its own code */
	else if (fz_chance(&g->rng, 20))
		at += fz_below(&g->rng, 64);
	patch_disp(i, at - (fz_here(CODE) + i->in.length));
	return true;
}

static bool
fix_memory(struct fz_gen *g, struct fz_insn *i, const ZydisDecodedOperand *o)
{
	unsigned size = o->size / 8u ? o->size / 8u : 8;
	uint64_t slot = state_slot(g, i);
	uint64_t target = slot                        ? slot
	                  : i->in.address_width == 32 ? pick_low_target(g, size)
	                                              : pick_target(g, size);
	bool explicit_rip = o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP;
	int base = fz_gpr_of(o->mem.base);

	if (size > 512)
		size = 512;
	if (o->mem.segment == ZYDIS_REGISTER_FS) {
		if (g->opt->no_fs || explicit_rip || slot)
			return false;
		g->uses_fs = true;
		target = fz_below(&g->rng, 0xf00);
	}
	/* With base and index the same register not every address can be reached. */
	if (slot && (base < 0 || base == RSP || base == fz_gpr_of(o->mem.index) ||
	             i->in.address_width == 32))
		return false;
	if (explicit_rip)
		return fix_rip(g, i, o, target);
	if (base == RSP)
		return o->mem.segment != ZYDIS_REGISTER_FS && i->in.address_width == 64 &&
		       fix_stack_operand(g, i, o);
	if (base < 0 && fz_gpr_of(o->mem.index) < 0)
		return fix_absolute(g, i, o, size);
	if (o->mem.index != ZYDIS_REGISTER_NONE && fz_gpr_of(o->mem.index) < 0)
		fix_vector_index(g, o);
	return solve(g, o, target);
}

/* Only these may write the stack pointer, with a value that stays within the stack. */
static bool
fix_stack_pointer(struct fz_gen *g, struct fz_insn *i)
{
	const ZydisDecodedOperand *src = &i->ops[1];
	uint64_t at = fz_arena.stack + FZ_STACK_SIZE / 2 + 8 * fz_below(&g->rng, 64);

	if (g->balanced)
		return false;
	switch (i->in.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		return true;
	case ZYDIS_MNEMONIC_POP:
		if (i->ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    fz_gpr_of(i->ops[0].reg.value) == RSP)
			fz_put8(CODE, 0x54);
		return true;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ: /* no trap, nested task or alignment flag */
		fz_put8(CODE, 0x68);
		fz_put32(CODE, 0x202 | (uint32_t)(fz_next(&g->rng) & 0xcd5));
		return true;
	case ZYDIS_MNEMONIC_LEAVE:
		fz_rm(CODE, 0x8d, RBP, RSP, (int32_t)(8 * fz_below(&g->rng, 8)));
		return !fz_reserved(g, RBP);
	case ZYDIS_MNEMONIC_ENTER:
		i->bytes[i->in.raw.imm[0].offset + 1] = 0;
		i->bytes[i->in.raw.imm[1].offset] &= 3;
		return set(g, RBP, at);
	case ZYDIS_MNEMONIC_MOV:
		return i->in.operand_width == 64 && src->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       fz_gpr_of(src->reg.value) >= 0 &&
		       set(g, (unsigned)fz_gpr_of(src->reg.value), at);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (i->in.operand_width != 64 || src->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return false;
		if (i->in.raw.imm[0].size == 32)
			memcpy(i->bytes + i->in.raw.imm[0].offset, "\x80\0\0", 4);
		return true;
	case ZYDIS_MNEMONIC_LEA:
		if (i->in.operand_width != 64 || i->in.raw.disp.size == 32)
			return false;
		return fz_gpr_of(src->mem.base) == RSP ? src->mem.index == ZYDIS_REGISTER_NONE
		                                       : solve(g, src, at);
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return i->in.operand_width == 64;
	default:
		return false;
	}
}

static bool
is_string(const struct fz_insn *i)
{
	return i->in.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

/* The rest of what single mnemonics want. */
static bool
fix_special(struct fz_gen *g, struct fz_insn *i)
{
	const ZydisDecodedOperand *o = i->ops;

	if (is_string(i) && (i->in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
	                                         ZYDIS_ATTRIB_HAS_REPNE)))
		return set(g, RCX, fz_chance(&g->rng, 10) ? 0 : fz_below(&g->rng, 60));
	switch (i->in.mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		if (fz_chance(&g->rng, 20) && !g->opt->no_faults)
			return true;
		if (i->in.operand_width == 8 || fz_chance(&g->rng, 50))
			return set(g, RAX, fz_below(&g->rng, 100)) &&
			       (i->in.operand_width == 8 || set(g, RDX, 0));
		return set(g, RDX, 0);
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS: {
		int bit = o[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? fz_gpr_of(o[1].reg.value) : -1;

		if (bit < 0 || o[0].type != ZYDIS_OPERAND_TYPE_MEMORY)
			return true;
		return set(g, (unsigned)bit,
		           (uint64_t)(int64_t)((int32_t)fz_below(&g->rng, 2000) - 1000));
	}
	case ZYDIS_MNEMONIC_MOVDIR64B: {
		int to = fz_gpr_of(o[0].reg.value);

		return to >= 0 && i->in.address_width == 64 &&
		       set(g, (unsigned)to, fz_arena.main + 64 * (1 + fz_below(&g->rng, 60)));
	}
	case ZYDIS_MNEMONIC_XGETBV:
		return set(g, RCX, 0);
	case ZYDIS_MNEMONIC_CPUID:
		return false; /* see fz_emit_cpu() */
	case ZYDIS_MNEMONIC_WRFSBASE:
		g->uses_fs = true;
		return !g->opt->no_fs && i->in.operand_width == 64 &&
		       fz_gpr_of(o[0].reg.value) != RSP &&
		       set(g, (unsigned)fz_gpr_of(o[0].reg.value), fz_arena.fs);
	case ZYDIS_MNEMONIC_RDFSBASE:
		g->uses_fs = true;
		return !g->opt->no_fs;
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
		return set(g, RAX,
		           fz_below(&g->rng, 256) & (g->opt->isa == FZ_ISA_ALL ? 0xe7 : 7)) &&
		       set(g, RDX, 0);
	default:
		return true;
	}
}

static bool
fix_operands(struct fz_gen *g, struct fz_insn *i)
{
	for (unsigned k = 0; k < i->in.operand_count; k++) {
		const ZydisDecodedOperand *o = &i->ops[k];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		    fz_gpr_of(o->mem.base) == RSP)
			continue;
		if (!fix_memory(g, i, o))
			return false;
	}
	return true;
}

static bool
try_insn(struct fz_gen *g)
{
	struct fz_insn i;
	uint16_t written;

	if (!fz_pick_insn(g, &i) || fz_excluded(&i, g->opt->isa) || fz_is_flow(&i))
		return false;
	written = fz_gpr_written(&i);
	if (written & g->reserved)
		return false;
	if ((written >> RSP & 1) && !fix_stack_pointer(g, &i))
		return false;
	if (!fix_special(g, &i) || !fix_operands(g, &i))
		return false;
	fz_put(CODE, i.bytes, i.in.length);
	fz_clobber(g, written);
	return true;
}

/* One instruction; attempts that fail leave no code behind. */
void
fz_emit_insn(struct fz_gen *g, unsigned unit)
{
	(void)unit;
	for (unsigned tries = 0; tries < 64; tries++) {
		uint32_t len = CODE->len;
		uint16_t known = g->known;
		uint64_t value[16];

		memcpy(value, g->value, sizeof value);
		if (try_insn(g))
			return;
		CODE->len = len;
		g->known = known;
		memcpy(g->value, value, sizeof value);
	}
}
