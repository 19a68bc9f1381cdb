/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every memory operand that Zydis names must be one access of st_accesses, and the other way round.
 * Where Zydis is known to say something else than happens, is_exempt and its callers know it.
 */
#include "access_oracle.h"

#include <stdio.h>
#include <string.h>

#include "rt/arch/x86_64/operands.h"

struct judge {
	const ZydisDecodedInstruction *in;
	const ZydisDecodedOperand *ops;
	const uint8_t *p;
	const char *name; /* of the mnemonic */
};

static bool
begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/*
 * Zydis gives these an operand that is read or written. They access nothing: the address is all
 * they take (cache control, prefetches), or they are nops (MPX, which Linux does not enable, and
 * hints), or they only raise #UD.
 */
static bool
accesses_nothing(const struct judge *j)
{
	static const char *const names[] = {"prefetch", "clflush", "clwb", "cldemote", "bnd",
	                                    "invlpg",   "nop",     "ud0",  "ud1"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (begins(j->name, names[i]))
			return true;
	return begins(j->name, "vgatherpf") || begins(j->name, "vscatterpf") ||
	       j->in->meta.category == ZYDIS_CATEGORY_WIDENOP;
}

static ZydisRegister
full(ZydisRegister r)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
}

static bool
same_place(const struct judge *j, const ZydisDecodedOperand *op, const struct st_access *a)
{
	bool modrm = op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
	bool moffs = op->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64;
	ZydisRegister base = full(op->mem.base);

	switch (a->kind) {
	case ST_ACCESS_MODRM:
		return modrm;
	case ST_ACCESS_MOFFS:
		return moffs;
	case ST_ACCESS_PUSH:
	case ST_ACCESS_POP:
		return !modrm && !moffs && base == ZYDIS_REGISTER_RSP;
	case ST_ACCESS_LEAVE:
		return !modrm && !moffs && base == ZYDIS_REGISTER_RBP;
	case ST_ACCESS_RSI:
		return !modrm && !moffs && base == ZYDIS_REGISTER_RSI;
	case ST_ACCESS_RDI:
		return !modrm && !moffs && base == ZYDIS_REGISTER_RDI;
	case ST_ACCESS_XLAT:
		return begins(j->name, "xlat");
	case ST_ACCESS_REG:
		return !modrm && base - ZYDIS_REGISTER_RAX ==
		                         (unsigned)(j->in->raw.rex.R << 3 | j->in->raw.modrm.reg);
	default:
		return false;
	}
}

/* The elements of a gather or scatter, by the last letters of its name: index, then element. */
static unsigned
elements(const struct judge *j)
{
	const char *end = j->name + strlen(j->name) - 1;
	bool floats = *end == 's' || end[-1] == 'p';
	unsigned bytes = *end == 'd' && !floats ? 4 : *end == 's' ? 4 : 8;
	unsigned index = end[floats ? -2 : -1] == 'q' ? 8 : 4;

	return j->in->avx.vector_length / 8u / (bytes > index ? bytes : index);
}

/* The manual's classes of exceptions that end in NF: no fault is suppressed by the mask, so all is
 * read. And some of which Zydis says another class, as the processor showed. */
static bool
reads_all(const struct judge *j)
{
	static const ZydisExceptionClass classes[] = {
	        ZYDIS_EXCEPTION_CLASS_E1NF, ZYDIS_EXCEPTION_CLASS_E2NF,
	        ZYDIS_EXCEPTION_CLASS_E3NF, ZYDIS_EXCEPTION_CLASS_E4NF,
	        ZYDIS_EXCEPTION_CLASS_E5NF, ZYDIS_EXCEPTION_CLASS_E6NF,
	        ZYDIS_EXCEPTION_CLASS_E9NF, ZYDIS_EXCEPTION_CLASS_E10NF,
	        ZYDIS_EXCEPTION_CLASS_E11NF};

	if (begins(j->name, "vdbpsadbw") || begins(j->name, "vcvtne2ps2bf16") ||
	    begins(j->name, "vgf2p8affine"))
		return true;
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
		if (j->in->meta.exception_class == classes[i])
			return true;
	return false;
}

static bool
is_masked(const struct judge *j, const struct st_access *a)
{
	return strstr(j->name, "maskmov") || strstr(j->name, "gather") ||
	       strstr(j->name, "scatter") ||
	       (j->in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
	        j->p[j->in->raw.evex.offset + 3] & 7 && (a->write || !reads_all(j)));
}

/* Bits of the mask that count: one for each element of the operand, or of what it is repeated to.
 */
static unsigned
bits_of_mask(const struct judge *j, const ZydisDecodedOperand *op, const struct st_access *a)
{
	static const uint8_t repeated[] = {0, 2, 4, 8, 16, 32, 64, 4, 8, 16, 8, 16, 16};

	if (a->kind == ST_ACCESS_RDI)
		return a->bytes;
	if (j->in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && j->in->avx.broadcast.mode)
		return repeated[j->in->avx.broadcast.mode];
	return op->size / op->element_size;
}

static bool
takes_bit_offset(const struct judge *j)
{
	return begins(j->name, "bt") && j->ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* What is wrong with an access that is at the operand's place, or NULL. */
static const char *
wrong(const struct judge *j, const ZydisDecodedOperand *op, const struct st_access *a)
{
	bool fs_gs = op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS;
	bool rep = j->in->attributes &
	           (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);

	/* movsxd to 16 bits reads as many, as the processor showed; Zydis: 32 */
	if (a->bytes * 8 != (j->in->mnemonic == ZYDIS_MNEMONIC_MOVSXD
	                             ? j->in->operand_width == 16 ? 16 : 32
	                             : op->size))
		return "size";
	if (a->read != ((op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0))
		return "read";
	if (a->write != ((op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0))
		return "write";
	/* movdir64b writes through es, which has no override: Zydis gives it one */
	if (a->segment != (fs_gs && a->kind != ST_ACCESS_REG))
		return "segment";
	if (a->rep != rep)
		return "rep";
	if (a->vsib != (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB))
		return "vsib";
	if (a->count != (a->vsib ? elements(j) : a->masked ? bits_of_mask(j, op, a) : 1))
		return "count";
	if (a->masked != is_masked(j, a))
		return "masked";
	if (a->masked && a->element != (a->kind == ST_ACCESS_RDI ? 1 : op->element_size / 8))
		return "element";
	if (a->variable !=
	    (begins(j->name, "xsave") || begins(j->name, "xrstor") || begins(j->name, "tile")))
		return "variable";
	if (a->bit_string != takes_bit_offset(j))
		return "bit_string";
	if (a->pops != (begins(j->name, "pop") && a->write ? j->in->operand_width / 8 : 0))
		return "pops";
	return NULL;
}

static const char *
judge_operands(const struct judge *j, const struct st_access *a, unsigned n)
{
	unsigned matched = 0;

	for (unsigned i = 0; i < j->in->operand_count; i++) {
		const ZydisDecodedOperand *op = &j->ops[i];
		const char *what = "missing";

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		for (unsigned k = 0; k < n; k++)
			if (same_place(j, op, &a[k]))
				what = wrong(j, op, &a[k]);
		if (what)
			return what;
		matched++;
	}
	return matched == n ? NULL : "one too many";
}

/* Of the frames that enter copies Zydis says nothing. */
static const char *
judge_enter(const struct judge *j, const struct st_access *a, unsigned n)
{
	unsigned level = j->in->raw.imm[1].value.u & 31, item = j->in->operand_width / 8;
	const struct st_access *push = &a[n - 1];

	if (n != (level > 1 ? 2 : 1))
		return "number";
	if (level > 1 &&
	    (a->kind != ST_ACCESS_FRAME || !a->read || a->write || a->bytes != (level - 1) * item))
		return "outer frames";
	if (push->kind != ST_ACCESS_PUSH || push->read || !push->write ||
	    push->bytes != (level + 1) * item)
		return "push";
	return NULL;
}

static const char *
judge_accesses(const struct judge *j, const struct st_access *a, unsigned n)
{
	if (accesses_nothing(j))
		return n ? "an access" : NULL;
	if (j->in->mnemonic == ZYDIS_MNEMONIC_ENTER)
		return judge_enter(j, a, n);
	if (j->in->mnemonic == ZYDIS_MNEMONIC_CLZERO) /* Zydis: no memory */
		return n == 1 && a->kind == ST_ACCESS_LINE && a->write ? NULL : "line";
	if (j->in->meta.category == ZYDIS_CATEGORY_PADLOCK) /* Zydis: a few bytes at registers */
		return n == 2 && a[0].variable && a[1].variable ? NULL : "variable";
	if (begins(j->name, "enqcmd")) { /* Zydis: only the source */
		if (n != 2 || a[1].kind != ST_ACCESS_REG || !a[1].write || a[1].bytes != 64)
			return "destination";
		n = 1;
	}
	return judge_operands(j, a, n);
}

bool
access_agrees(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, const uint8_t *p,
              const struct st_insn *x, char *why, size_t size)
{
	struct judge j = {
	        .in = in, .ops = ops, .p = p, .name = ZydisMnemonicGetString(in->mnemonic)};
	struct st_access a[ST_MAX_ACCESSES];
	unsigned n = st_accesses(x, p, a);
	const char *what = judge_accesses(&j, a, n);
	int at;

	if (!what)
		return true;
	at = snprintf(why, size, "accesses: %s, of", what);
	for (unsigned i = 0; i < n; i++)
		at += snprintf(why + at, size - (size_t)at, " %u:%s%s%u", a[i].kind,
		               a[i].read ? "r" : "", a[i].write ? "w" : "", a[i].bytes);
	return false;
}
