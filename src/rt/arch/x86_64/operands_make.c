/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hosted, run by the build: writes operands_tables.h to the standard output. Every opcode of every
 * map is put to Zydis under every key; what the opcode does not depend on is left out of its table.
 */
#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operands.h"
#include "operands_key.h"

#define KEYS (1u << OK_BITS)
#define UNKNOWN 0xffff /* no instruction under this key: any entry will do */

static ZydisDecoder decoder;

static struct st_access accesses[256];
static struct operand_set sets[256];
static struct operand_opcode opcodes[256];
static uint8_t entries[0x10000];
static unsigned n_accesses, n_sets, n_opcodes, n_entries;
static uint8_t opcode_index[OM_COUNT][256];

static unsigned
check_limit(unsigned n, unsigned limit, const char *table)
{
	if (n >= limit) {
		fprintf(stderr, "operands_make: %s: more than %u\n", table, limit);
		exit(1);
	}
	return n;
}

static unsigned
number_of_access(const struct st_access *a)
{
	unsigned i;

	for (i = 0; i < n_accesses; i++)
		if (memcmp(&accesses[i], a, sizeof *a) == 0)
			return i;
	accesses[check_limit(n_accesses++, 256, "accesses")] = *a;
	return i;
}

static unsigned
number_of_set(const struct operand_set *s)
{
	unsigned i;

	for (i = 0; i < n_sets; i++)
		if (memcmp(&sets[i], s, sizeof *s) == 0)
			return i;
	sets[check_limit(n_sets++, 256, "sets")] = *s;
	return i;
}

/* Zydis lists memory operands of these, though the bytes are not accessed, or only #UD comes of
 * them. */
static bool
only_address(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_CLDEMOTE:
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_INVLPG:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
		return true;
	default:
		break;
	}
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_MPX:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
		return true;
	default:
		return in->meta.isa_set == ZYDIS_ISA_SET_AVX512PF_512;
	}
}

static bool
has_mask_operand(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_MASKMOVQ || m == ZYDIS_MNEMONIC_MASKMOVDQU ||
	       m == ZYDIS_MNEMONIC_VMASKMOVDQU || m == ZYDIS_MNEMONIC_VMASKMOVPS ||
	       m == ZYDIS_MNEMONIC_VMASKMOVPD || m == ZYDIS_MNEMONIC_VPMASKMOVD ||
	       m == ZYDIS_MNEMONIC_VPMASKMOVQ;
}

static bool
is_bit_string(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	return (in->mnemonic == ZYDIS_MNEMONIC_BT || in->mnemonic == ZYDIS_MNEMONIC_BTS ||
	        in->mnemonic == ZYDIS_MNEMONIC_BTR || in->mnemonic == ZYDIS_MNEMONIC_BTC) &&
	       ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static unsigned
zydis_kind(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
		return ST_ACCESS_MODRM;
	if (op->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64)
		return ST_ACCESS_MOFFS;
	if (in->mnemonic == ZYDIS_MNEMONIC_MOVDIR64B)
		return ST_ACCESS_REG;
	switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->mem.base)) {
	case ZYDIS_REGISTER_RSP:
		return op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? ST_ACCESS_PUSH
		                                                     : ST_ACCESS_POP;
	case ZYDIS_REGISTER_RBP:
		return ST_ACCESS_LEAVE;
	case ZYDIS_REGISTER_RSI:
		return ST_ACCESS_RSI;
	case ZYDIS_REGISTER_RDI:
		return ST_ACCESS_RDI;
	case ZYDIS_REGISTER_RBX:
		return ST_ACCESS_XLAT;
	default:
		fprintf(stderr, "operands_make: %s: unknown base register\n",
		        ZydisMnemonicGetString(in->mnemonic));
		exit(1);
	}
}

/* Elements of a gather or scatter: as many as the wider of element and index leave space for. Odd
 * opcodes have indices of 8 bytes, the others of 4. */
static unsigned
elements(const ZydisDecodedInstruction *in, unsigned bytes)
{
	return in->avx.vector_length / 8u / (in->opcode & 1 ? 8 : bytes);
}

/* Instructions that read the whole operand, whatever their mask says; some of them have another
 * class in Zydis. What a mask leaves out is never written. */
static bool
reads_all(const ZydisDecodedInstruction *in)
{
	if (in->mnemonic == ZYDIS_MNEMONIC_VDBPSADBW ||
	    in->mnemonic == ZYDIS_MNEMONIC_VCVTNE2PS2BF16 ||
	    in->mnemonic == ZYDIS_MNEMONIC_VGF2P8AFFINEQB ||
	    in->mnemonic == ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB)
		return true;
	switch (in->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E1NF:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E4NF:
	case ZYDIS_EXCEPTION_CLASS_E5NF:
	case ZYDIS_EXCEPTION_CLASS_E6NF:
	case ZYDIS_EXCEPTION_CLASS_E9NF:
	case ZYDIS_EXCEPTION_CLASS_E10NF:
	case ZYDIS_EXCEPTION_CLASS_E11NF:
		return true;
	default:
		return false;
	}
}

/* The elements that a mask leaves out or not. */
static void
fill_elements(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, struct st_access *a)
{
	static const uint8_t broadcasts[] = {
	        [ZYDIS_BROADCAST_MODE_1_TO_2] = 2,   [ZYDIS_BROADCAST_MODE_1_TO_4] = 4,
	        [ZYDIS_BROADCAST_MODE_1_TO_8] = 8,   [ZYDIS_BROADCAST_MODE_1_TO_16] = 16,
	        [ZYDIS_BROADCAST_MODE_1_TO_32] = 32, [ZYDIS_BROADCAST_MODE_1_TO_64] = 64,
	        [ZYDIS_BROADCAST_MODE_2_TO_4] = 4,   [ZYDIS_BROADCAST_MODE_2_TO_8] = 8,
	        [ZYDIS_BROADCAST_MODE_2_TO_16] = 16, [ZYDIS_BROADCAST_MODE_4_TO_8] = 8,
	        [ZYDIS_BROADCAST_MODE_4_TO_16] = 16, [ZYDIS_BROADCAST_MODE_8_TO_16] = 16};
	bool evex = in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	unsigned mode = evex ? in->avx.broadcast.mode : 0;
	if (a->kind == ST_ACCESS_RDI && a->masked) {
		a->element = 1;
		a->count = (uint8_t)a->bytes;
	} else if (a->vsib) {
		a->element = (uint8_t)a->bytes;
	} else if (a->masked || (evex && (a->write || !reads_all(in)))) {
		a->element = (uint8_t)(op->element_size / 8);
		a->count = (uint8_t)(a->bytes / (a->element ? a->element : 1));
		if (mode < sizeof broadcasts && broadcasts[mode])
			a->count = broadcasts[mode];
	}
}

static struct st_access
zydis_access(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
             const ZydisDecodedOperand *op)
{
	struct st_access a;

	memset(&a, 0, sizeof a); /* padding too: accesses are compared as bytes */
	a.kind = (uint8_t)zydis_kind(in, op);
	a.count = 1;
	a.bytes = op->size / 8;
	if (in->mnemonic == ZYDIS_MNEMONIC_MOVSXD && in->operand_width == 16)
		a.bytes = 2; /* Zydis: 4, but processors read a word */
	a.read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	a.write = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	a.masked = has_mask_operand(in->mnemonic);
	a.segment = a.kind == ST_ACCESS_MODRM || a.kind == ST_ACCESS_RSI ||
	            a.kind == ST_ACCESS_MOFFS || a.kind == ST_ACCESS_XLAT ||
	            (a.kind == ST_ACCESS_RDI && a.masked);
	a.rep = in->attributes &
	        (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	a.variable = in->meta.category == ZYDIS_CATEGORY_XSAVE ||
	             in->meta.category == ZYDIS_CATEGORY_XSAVEOPT || a.bytes == 0;
	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		a.vsib = true;
		a.count = (uint8_t)elements(in, a.bytes);
		a.masked = true;
	}
	a.bit_string = is_bit_string(in, ops);
	fill_elements(in, op, &a);
	return a;
}

/* PadLock: how much is read and written is in registers, and rep is part of the opcode. */
static unsigned
padlock(struct st_access out[])
{
	memset(out, 0, 2 * sizeof *out);
	out[0].kind = ST_ACCESS_RSI;
	out[0].read = true;
	out[1].kind = ST_ACCESS_RDI;
	out[1].write = true;
	for (int i = 0; i < 2; i++) {
		out[i].count = 1;
		out[i].variable = true;
	}
	return 2;
}

/* Zydis omits where these write. */
static unsigned
write_64(unsigned kind, struct st_access *out)
{
	memset(out, 0, sizeof *out);
	out->kind = (uint8_t)kind;
	out->count = 1;
	out->bytes = 64;
	out->write = true;
	out->segment = kind == ST_ACCESS_LINE;
	return 1;
}

/* The accesses of an instruction, reads before writes, rsi before rdi. */
static unsigned
accesses_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops,
            struct st_access out[])
{
	unsigned n = 0;

	if (only_address(in))
		return 0;
	if (in->meta.category == ZYDIS_CATEGORY_PADLOCK)
		return padlock(out);
	if (in->mnemonic == ZYDIS_MNEMONIC_CLZERO)
		return write_64(ST_ACCESS_LINE, out);
	for (unsigned i = 0; i < in->operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
		    ops[i].mem.type != ZYDIS_MEMOP_TYPE_MIB)
			out[check_limit(n++, ST_MAX_ACCESSES, "accesses of one instruction")] =
			        zydis_access(in, ops, &ops[i]);
	if (n == 2 && out[0].write && !out[1].write) {
		struct st_access written = out[0];

		out[0] = out[1];
		out[1] = written;
	}
	if (in->mnemonic == ZYDIS_MNEMONIC_ENQCMD || in->mnemonic == ZYDIS_MNEMONIC_ENQCMDS)
		n += write_64(ST_ACCESS_REG, &out[n]);
	if (n == 2 && in->mnemonic == ZYDIS_MNEMONIC_POP)
		out[1].pops = (uint8_t)out[0].bytes;
	return n;
}

/* The bytes of an instruction before its ModRM, ModRM not included. */
static unsigned
put_opcode(uint8_t *p, unsigned map, unsigned opcode, unsigned key, unsigned free_bits)
{
	unsigned pp = key & OK_F2 ? 3 : key & OK_F3 ? 2 : key & OK_66 ? 1 : 0;
	unsigned w = (key & OK_W) != 0, l = key / OK_L & 3, n = 0;
	unsigned vvvv = free_bits & 1 ? 0 : 0x78, aaa = free_bits >> 1 & 1;

	if (map >= OM_EVEX) {
		p[n++] = 0x62;
		p[n++] = (uint8_t)(0xf0 | (map - OM_EVEX + 1));
		p[n++] = (uint8_t)(w << 7 | vvvv | 4 | pp);
		p[n++] = (uint8_t)(l << 5 | (key & OK_B ? 0x10 : 0) | 8 | aaa);
	} else if (map >= OM_VEX) {
		p[n++] = 0xc4;
		p[n++] = (uint8_t)(0xe0 | (map - OM_VEX + 1));
		p[n++] = (uint8_t)(w << 7 | vvvv | (l & 1) << 2 | pp);
	} else {
		if (key & OK_66)
			p[n++] = 0x66;
		if (pp > 1)
			p[n++] = pp == 2 ? 0xf3 : 0xf2;
		if (w)
			p[n++] = 0x48;
		if (map != OM_ONE)
			p[n++] = 0x0f;
		if (map > OM_0F)
			p[n++] = map == OM_38 ? 0x38 : 0x3a;
	}
	p[n++] = (uint8_t)opcode;
	return n;
}

/*
 * The number of the set of accesses, or UNKNOWN. Some instructions want certain values of bits that
 * are not in the key: VEX.vvvv, EVEX.aaa, and a SIB byte with an index of its own.
 */
static unsigned
judge_form(unsigned map, unsigned opcode, unsigned key)
{
	static const uint8_t rm[] = {1, 4};
	unsigned modrm = key & OK_REGISTER ? 0xc0 | (key / OK_RM & 7) : 0;

	modrm |= (key / OK_REG & 7) << 3;
	for (unsigned attempt = 0; attempt < (key & OK_REGISTER ? 4 : 8); attempt++) {
		ZydisDecodedInstruction in;
		ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
		struct st_access found[ST_MAX_ACCESSES];
		struct operand_set set = {0};
		uint8_t p[ZYDIS_MAX_INSTRUCTION_LENGTH + 8] = {0};
		unsigned n;

		if (map < OM_VEX && attempt & 3)
			continue;
		n = put_opcode(p, map, opcode, key, attempt);
		p[n] = (uint8_t)(modrm | (key & OK_REGISTER ? 0 : rm[attempt >> 2]));
		p[n + 1] = 0x31 ^ (p[n] & 8); /* rcx and rsi, or xmm6 or xmm7 */
		if (map == OM_0F && opcode == 0x0f)
			memset(p + n + 1, 0x9e, 8); /* 3DNow: its true opcode comes last */
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, p, ZYDIS_MAX_INSTRUCTION_LENGTH,
		                                       &in, ops)))
			continue;
		set.count = (uint8_t)accesses_of(&in, ops, found);
		for (unsigned i = 0; i < set.count; i++)
			set.access[i] = (uint8_t)number_of_access(&found[i]);
		return number_of_set(&set);
	}
	return UNKNOWN;
}

/* Keys that no instruction has. */
static bool
is_impossible(unsigned map, unsigned key)
{
	unsigned prefixes = key & (OK_66 | OK_F2 | OK_F3);

	if ((key & (OK_F2 | OK_F3)) == (OK_F2 | OK_F3))
		return true;
	if (!(key & OK_REGISTER) && key / OK_RM & 7)
		return true;
	if (map < OM_VEX)
		return key / OK_L & 3 || key & OK_B;
	if (key & OK_REGISTER && key / OK_RM & 7)
		return true; /* with VEX the opcode never goes on in ModRM.rm */
	if (prefixes & (prefixes - 1))
		return true;
	return map < OM_EVEX && key & (2 * OK_L | OK_B);
}

/* Leaves one bit out of a table of 2^bits entries, unless it makes a difference. */
static bool
drop_bit(uint16_t *table, unsigned bits, unsigned bit)
{
	unsigned low = (1u << bit) - 1, half = 1u << (bits - 1);

	for (unsigned i = 0; i < half; i++) {
		unsigned at = (i & low) | (i & ~low) << 1;
		unsigned a = table[at], b = table[at | (low + 1)];

		if (a != b && a != UNKNOWN && b != UNKNOWN)
			return false;
	}
	for (unsigned i = 0; i < half; i++) {
		unsigned at = (i & low) | (i & ~low) << 1;

		table[i] = table[at] != UNKNOWN ? table[at] : table[at | (low + 1)];
	}
	return true;
}

static unsigned
place_entries(const uint16_t *table, unsigned n)
{
	uint8_t want[KEYS] = {0};
	unsigned at;

	for (unsigned i = 0; i < n; i++)
		if (table[i] != UNKNOWN)
			want[i] = (uint8_t)table[i];
	for (at = 0; at + n <= n_entries; at++)
		if (memcmp(entries + at, want, n) == 0)
			return at;
	check_limit(n_entries + n, sizeof entries, "entries");
	memcpy(entries + n_entries, want, n);
	n_entries += n;
	return n_entries - n;
}

static unsigned
number_of_opcode(struct operand_opcode o)
{
	unsigned i;

	for (i = 0; i < n_opcodes; i++)
		if (opcodes[i].mask == o.mask && opcodes[i].entries == o.entries)
			return i;
	opcodes[check_limit(n_opcodes++, 256, "opcodes")] = o;
	return i;
}

static void
make_opcode(unsigned map, unsigned opcode)
{
	static uint16_t table[KEYS];
	struct operand_opcode o = {0};
	unsigned bits = OK_BITS;

	for (unsigned key = 0; key < KEYS; key++)
		table[key] =
		        is_impossible(map, key) ? UNKNOWN : (uint16_t)judge_form(map, opcode, key);
	for (unsigned bit = OK_BITS; bit-- > 0;) {
		if (drop_bit(table, bits, bit))
			bits--;
		else
			o.mask |= (uint16_t)(1 << bit);
	}
	o.entries = (uint16_t)place_entries(table, 1u << bits);
	opcode_index[map][opcode] = (uint8_t)number_of_opcode(o);
}

/* Prefixes and escapes, which only the one-byte map has. */
static bool
is_no_opcode(unsigned map, unsigned opcode)
{
	static const uint8_t none[] = {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65,
	                               0x66, 0x67, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3};

	return map == OM_ONE &&
	       ((opcode & 0xf0) == 0x40 || memchr(none, (int)opcode, sizeof none) != NULL);
}

static void
print_tables(void)
{
	puts("/* Generated by operands_make.c from Zydis. */\n"
	     "static const struct st_access operand_accesses[] = {");
	for (unsigned i = 0; i < n_accesses; i++) {
		const struct st_access *a = &accesses[i];

		printf("\t{.kind = %u, .count = %u, .bytes = %u, .element = %u, .pops = %u, "
		       ".read = %d, "
		       ".write = %d, .rep = %d, .vsib = %d, .masked = %d, .variable = %d, "
		       ".bit_string = %d, .segment = %d},\n",
		       a->kind, a->count, a->bytes, a->element, a->pops, a->read, a->write, a->rep,
		       a->vsib, a->masked, a->variable, a->bit_string, a->segment);
	}
	puts("};\nstatic const struct operand_set operand_sets[] = {");
	for (unsigned i = 0; i < n_sets; i++)
		printf("\t{%u, {%u, %u}},\n", sets[i].count, sets[i].access[0], sets[i].access[1]);
	puts("};\nstatic const struct operand_opcode operand_opcodes[] = {");
	for (unsigned i = 0; i < n_opcodes; i++)
		printf("\t{%#x, %u},\n", opcodes[i].mask, opcodes[i].entries);
	puts("};\nstatic const uint8_t operand_entries[] = {");
	for (unsigned i = 0; i < n_entries; i++)
		printf("%u,%s", entries[i], i % 16 == 15 ? "\n" : " ");
	printf("\n};\nstatic const uint8_t operand_index[%d][256] = {\n", OM_COUNT);
	for (unsigned map = 0; map < OM_COUNT; map++) {
		printf("{");
		for (unsigned i = 0; i < 256; i++)
			printf("%u,%s", opcode_index[map][i], i % 16 == 15 ? "\n" : " ");
		puts("},");
	}
	puts("};");
}

int
main(void)
{
	static const struct operand_set none;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	number_of_set(&none);
	for (unsigned map = 0; map < OM_COUNT; map++)
		for (unsigned opcode = 0; opcode < 256; opcode++)
			if (!is_no_opcode(map, opcode))
				make_opcode(map, opcode);
	print_tables();
	return 0;
}
