/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pick.h"

#include <string.h>

static const struct fz_form *
corpus_form(struct fz_gen *g)
{
	const struct fz_corpus *c = g->opt->corpus;

	/* Half by mnemonic, so that rare ones get their turn; half by form, so that all encodings
	 * of one do. */
	if (fz_chance(&g->rng, 50))
		return &c->forms[fz_below(&g->rng, (uint32_t)c->n)];
	uint32_t k = fz_below(&g->rng, (uint32_t)c->nmnemonics);
	uint32_t n = c->first[k + 1] - c->first[k];

	return &c->forms[c->first[k] + fz_below(&g->rng, n)];
}

/* Inserts a legacy prefix in front of everything, where more than one may pile up. */
static unsigned
add_prefix(struct fz_gen *g, uint8_t *b, unsigned n)
{
	static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x2e, 0x3e, 0x26,
	                                   0x36, 0x64, 0x67, 0x67, 0x64, 0xf0};

	if (n >= 15)
		return n;
	memmove(b + 1, b, n);
	b[0] = prefixes[fz_below(&g->rng, sizeof prefixes)];
	return n + 1;
}

/* Adds a REX prefix, or changes the one there is. Only for legacy encodings. */
static unsigned
change_rex(struct fz_gen *g, const struct fz_insn *i, uint8_t *b, unsigned n)
{
	unsigned at = 0;

	if (i->in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return n;
	while (at < i->in.raw.prefix_count && (b[at] & 0xf0) != 0x40)
		at++;
	if (at < i->in.raw.prefix_count) {
		b[at] = (uint8_t)(0x40 | fz_below(&g->rng, 16));
		return n;
	}
	if (n >= 15)
		return n;
	memmove(b + at + 1, b + at, n - at);
	b[at] = (uint8_t)(0x40 | fz_below(&g->rng, 16));
	return n + 1;
}

/* Other registers through ModRM, and through the register fields of VEX and EVEX. */
static void
change_registers(struct fz_gen *g, const struct fz_insn *i, uint8_t *b)
{
	uint8_t *modrm = b + i->in.raw.modrm.offset;

	if (i->in.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
		if (fz_chance(&g->rng, 60))
			*modrm = (uint8_t)((*modrm & 0xc7) | fz_below(&g->rng, 8) << 3);
		if (*modrm >= 0xc0 && fz_chance(&g->rng, 60))
			*modrm = (uint8_t)((*modrm & 0xf8) | fz_below(&g->rng, 8));
	} else if (i->in.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	           i->in.raw.prefix_count < i->in.length) {
		b[i->in.raw.prefix_count] ^= (uint8_t)fz_below(&g->rng, 8);
	}
	if (i->in.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		b[i->in.raw.vex.offset + 1] ^= (uint8_t)(fz_next(&g->rng) & 0xe0);
	if (i->in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
		b[i->in.raw.evex.offset + 1] ^= (uint8_t)(fz_next(&g->rng) & 0xf0);
		b[i->in.raw.evex.offset + 2] ^= (uint8_t)(fz_next(&g->rng) & 0x78);
		if (fz_chance(&g->rng, 60))
			b[i->in.raw.evex.offset + 3] ^= (uint8_t)(fz_next(&g->rng) & 0x9f);
	}
}

/* Another addressing mode: a new ModRM, SIB and displacement before the same immediate. */
static unsigned
change_address(struct fz_gen *g, const struct fz_insn *i, uint8_t *b, unsigned n)
{
	unsigned at = i->in.raw.modrm.offset;
	unsigned tail = i->in.raw.imm[0].size / 8u + i->in.raw.imm[1].size / 8u;
	unsigned mod = fz_below(&g->rng, 3);
	unsigned rm = fz_chance(&g->rng, 20) ? 5 : fz_below(&g->rng, 8);
	uint8_t out[32];
	unsigned m = 0;

	if (!(i->in.attributes & ZYDIS_ATTRIB_HAS_MODRM) || i->in.raw.modrm.mod == 3)
		return n;
	out[m++] = (uint8_t)(mod << 6 | i->in.raw.modrm.reg << 3 | rm);
	if (rm == 4)
		out[m++] = (uint8_t)fz_next(&g->rng);
	unsigned disp = mod == 1                                                    ? 1
	                : mod == 2 || rm == 5 || (rm == 4 && (out[m - 1] & 7) == 5) ? 4
	                                                                            : 0;

	for (unsigned k = 0; k < disp; k++)
		out[m++] = (uint8_t)fz_next(&g->rng);
	if (at + m + tail > 15)
		return n;
	memcpy(out + m, b + n - tail, tail);
	memcpy(b + at, out, m + tail);
	return at + m + tail;
}

static unsigned
mutate(struct fz_gen *g, const struct fz_insn *i, uint8_t *b)
{
	unsigned n = i->in.length;
	unsigned tail = i->in.raw.imm[0].size / 8u;

	change_registers(g, i, b);
	if (fz_chance(&g->rng, 50))
		n = change_address(g, i, b, n);
	if (tail && fz_chance(&g->rng, 50))
		b[n - 1 - fz_below(&g->rng, tail)] = (uint8_t)fz_next(&g->rng);
	if (fz_chance(&g->rng, 30))
		n = change_rex(g, i, b, n);
	if (fz_chance(&g->rng, 15))
		n = add_prefix(g, b, n);
	return n;
}

/* Random bytes that have a good chance to be an instruction. */
static void
random_bytes(struct fz_gen *g, uint8_t *b)
{
	unsigned n = 0;

	for (unsigned k = 0; k < 16; k++)
		b[k] = (uint8_t)fz_next(&g->rng);
	switch (fz_below(&g->rng, 6)) {
	case 0: /* two-byte VEX */
		b[0] = 0xc5;
		b[1] |= 0x80;
		return;
	case 1: /* three-byte VEX */
		b[0] = 0xc4;
		b[1] = (uint8_t)((b[1] & 0xe0) | (1 + fz_below(&g->rng, 3)));
		return;
	case 2: /* EVEX */
		b[0] = 0x62;
		b[1] = (uint8_t)((b[1] & 0xf0) | (1 + fz_below(&g->rng, 6)));
		b[2] |= 0x04;
		return;
	default:
		break;
	}
	if (fz_chance(&g->rng, 20))
		b[n++] = (uint8_t[]){0x66, 0xf2, 0xf3}[fz_below(&g->rng, 3)];
	if (fz_chance(&g->rng, 50))
		b[n++] = (uint8_t)(0x40 | fz_below(&g->rng, 16));
	if (fz_chance(&g->rng, 50)) {
		b[n++] = 0x0f;
		if (fz_chance(&g->rng, 30))
			b[n++] = fz_chance(&g->rng, 50) ? 0x38 : 0x3a;
	}
}

/* The encoder's own form of the same instruction with other registers of the same kind. */
static unsigned
reencode(struct fz_gen *g, const struct fz_insn *i, uint8_t *b)
{
	ZydisEncoderRequest req;
	ZyanUSize n = 15;

	if (!ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
	            &i->in, i->ops, i->in.operand_count_visible, &req)))
		return i->in.length;
	for (unsigned k = 0; k < req.operand_count; k++) {
		ZydisEncoderOperand *o = &req.operands[k];

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || fz_chance(&g->rng, 40))
			continue;
		ZydisRegisterClass cls = ZydisRegisterGetClass(o->reg.value);
		ZydisRegister r = ZydisRegisterEncode(cls, (ZyanU8)fz_below(&g->rng, 16));

		if (r != ZYDIS_REGISTER_NONE)
			o->reg.value = r;
	}
	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&req, b, &n)))
		return i->in.length;
	return (unsigned)n;
}

bool
fz_pick_insn(struct fz_gen *g, struct fz_insn *i)
{
	uint8_t b[32];

	if (!g->opt->corpus || fz_chance(&g->rng, 12)) {
		random_bytes(g, b);
		return fz_decode(i, b, 15);
	}
	const struct fz_form *f = corpus_form(g);

	memset(b, 0, sizeof b);
	memcpy(b, f->bytes, f->len);
	if (!fz_decode(i, b, f->len))
		return false;
	if (fz_chance(&g->rng, 55))
		return true;
	unsigned n = fz_chance(&g->rng, 25) ? reencode(g, i, b) : mutate(g, i, b);

	return fz_decode(i, b, n);
}
