/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decoder. One word per opcode (decode_tables.h) drives it; decode_rules.h holds what a word
 * cannot say.
 *
 * All code below may read a little past the instruction's fifteen bytes, so it always runs on at
 * least WINDOW bytes: near the end of what the caller has, on a copy padded with zeros.
 */
#include "decode.h"

#include "decode_rules.h"
#include "decode_tables.h"

#define MAX_LEN 15
#define WINDOW 32

/* The classes, as bits, whose immediate is a displacement. */
#define HAVE_REL                                                                                   \
	(1u << ST_C_JMP | 1u << ST_C_JCC | 1u << ST_C_LOOP | 1u << ST_C_CALL | 1u << ST_C_XBEGIN)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* EVEX.mmm and VEX.mmmmm to opcode map; 0 is none. */
static const uint8_t vex_maps[8] = {0, MAP_V1, MAP_V2, MAP_V3, 0, MAP_V1, MAP_V2, 0};
static const uint8_t pp_prefix[4] = {0, P_66, P_F3, P_F2};

/* Consumes prefixes in any order and number. False when there are too many. */
static inline bool
read_all_prefixes(struct dec *d)
{
	d->rex = d->i = 0;
	d->op = d->p[0];
	d->word = st_opcodes[MAP_ONE][d->op];
	do {
		if ((d->op & 0xf0) == 0x40) {
			d->rex = d->op;
			d->out->rex_off = (uint8_t)d->i;
		} else {
			d->rex = 0; /* a REX prefix counts only directly before the opcode */
			d->out->rex_off = 0;
			d->pfx = (d->pfx & ~(unsigned)(d->word >> 40)) | (uint8_t)(d->word >> 32);
		}
		if (++d->i == MAX_LEN)
			return false;
		d->op = d->p[d->i];
		d->word = st_opcodes[MAP_ONE][d->op];
	} while (d->word & T_PREFIX);
	return true;
}

/*
 * Consumes prefixes up to the opcode and loads its word from the one-byte map. Half of all
 * instructions have a REX prefix and no other: that is no branch here, for none would be predicted,
 * and both words are loaded, for what counts is how soon the length is known.
 */
static inline bool
read_prefixes(struct dec *d)
{
	unsigned first = d->p[0], second = d->p[1];
	uint64_t one = st_opcodes[MAP_ONE][first], two = st_opcodes[MAP_ONE][second];
	bool rex = (first & 0xf0) == 0x40;

	d->rex = rex ? first : 0;
	d->i = rex;
	d->op = rex ? second : first;
	d->word = rex ? two : one;
	return likely(!(d->word & T_PREFIX)) || read_all_prefixes(d);
}

/*
 * Consumes a VEX or EVEX prefix and sets the equivalent legacy prefixes. R, X and B are stored
 * inverted. False when a legacy prefix is in the way or the opcode map does not exist.
 */
static inline bool
decode_vex(struct dec *d)
{
	const uint8_t *p = d->p + d->i;
	unsigned map = 1, payload;

	if (d->rex || d->pfx & (P_66 | P_F2 | P_F3 | P_LOCK))
		return false;
	d->out->vex_off = (uint8_t)d->i;
	d->flags |= d->op == 0x62 ? ST_I_EVEX : ST_I_VEX;
	if (d->op == 0xc5) {
		payload = p[1];
		d->rex = 0x80 | (~payload >> 5 & 4);
		d->i += 2;
	} else {
		payload = p[2];
		d->rex = 0x80 | (~(unsigned)p[1] >> 5 & 7) | (payload >> 4 & 8);
		d->i += 3;
		if (d->op == 0xc4) {
			map = p[1] & 0x1f;
			if (map > 3)
				return false;
		} else {
			map = p[1] & 7;
			if (p[1] & 8 || !(payload & 4))
				return false;
			d->i++;
		}
	}
	d->pfx |= pp_prefix[payload & 3];
	d->op = d->p[d->i];
	if (!vex_maps[map])
		return false;
	d->word = st_opcodes[vex_maps[map]][d->op];
	return true;
}

/* Finds the opcode after prefixes and escapes. False when there is none. */
static inline bool
read_opcode(struct dec *d)
{
	if (!read_prefixes(d))
		return false;
	if (d->word & T_ESC) {
		if (d->op != 0x0f) {
			if (!decode_vex(d))
				return false;
		} else {
			unsigned map = MAP_0F;

			d->op = d->p[++d->i];
			if ((d->op & 0xfd) == 0x38) {
				map = d->op == 0x38 ? MAP_38 : MAP_3A;
				d->op = d->p[++d->i];
			}
			d->word = st_opcodes[map][d->op];
		}
	}
	d->out->op_off = (uint8_t)d->i++;
	return d->word != 0;
}

/* Consumes SIB, notes its registers, and returns the length of the displacement. */
static inline unsigned
read_sib(struct dec *d, unsigned disp)
{
	unsigned sib = d->p[d->i++], index = (sib >> 3 & 7) | (d->rex & 2) << 2;
	bool base = (sib & 7) != 5 || disp != 0;

	d->sets |= (unsigned)base << ((sib & 7) | (d->rex & 1) << 3);
	d->sets |= (unsigned)(index != 4) << index;
	return base ? disp : LEN(4);
}

/*
 * Consumes ModRM and what hangs on it, and notes the registers and memory that it names. Without a
 * ModRM byte the register in the opcode takes the part of ModRM.rm. Like much here this computes
 * more than it branches: to a branch predictor the stream of opcodes is as good as random.
 */
static inline void
read_modrm(struct dec *d)
{
	uint32_t operands = (uint32_t)d->word;
	unsigned has = operands & T_M, modrm = 0xc0 | (d->op & 7), form, disp, reg, rm;

	modrm ^= (modrm ^ d->p[d->i]) & -has;
	d->out->modrm_off = (uint8_t)(d->i & -has);
	d->i += has;
	d->modrm = modrm;
	form = (modrm >> 3 & 0x18) | (modrm & 7);
	operands = (operands & st_forms[form].keep) | st_forms[form].set;
	disp = st_forms[form].disp;
	reg = (modrm >> 3 & 7) | (d->rex & 4) << 1;
	rm = (modrm & 7) | (d->rex & 1) << 3;
	if (operands & T_RM8 && !d->rex) { /* ah, ch, dh, bh */
		reg &= operands & T_NARROW ? 3 : 15;
		rm &= operands & T_MEM ? 15 : 3;
	}
	d->sets = (uint32_t)(operands / T_GR & 0x10001) << reg |
	          (uint32_t)(operands / T_RR & 0x10001) << rm;
	d->flags |= operands & T_FLAGS;
	if (operands & T_SIB)
		disp = read_sib(d, disp);
	d->out->disp_off = (uint8_t)(d->i & disp >> 8);
	d->out->disp_len = (uint8_t)disp;
	d->i += disp & 0xff;
}

/* Immediates whose length takes more than a table, and moffs, which counts as a displacement. */
static inline unsigned
odd_immediate(struct dec *d, unsigned kind, unsigned width)
{
	switch (kind) {
	case IMM_MOFFS:
		d->out->disp_off = (uint8_t)d->i;
		d->out->disp_len = d->pfx & P_67 ? 4 : 8;
		d->i += d->out->disp_len;
		return 0;
	case IMM_G3B:
		return sel(d) < 2 ? LEN(1) : 0;
	case IMM_G3Z:
		return sel(d) < 2 ? st_imm_len[IMM_Z][width] : 0;
	default:
		return d->pfx & (P_66 | P_F2) ? LEN(2) : 0;
	}
}

static inline void
read_immediate(struct dec *d)
{
	unsigned kind = (uint32_t)d->word >> 28, width = (d->rex >> 2 & 2) | (d->pfx & P_66);
	unsigned len = st_imm_len[kind][width];

	if (unlikely(len == IMM_ODD))
		len = odd_immediate(d, kind, width);
	d->out->imm_off = (uint8_t)(d->i & len >> 8);
	d->out->imm_len = (uint8_t)len;
	d->i += len & 0xff;
}

/* Prefixes that are reported, and segment overrides where there is memory that they apply to. */
static inline void
note_prefixes(struct dec *d, unsigned implicit)
{
	unsigned pfx = d->pfx;

	if (pfx & P_66 && !(d->flags & (ST_I_VEX | ST_I_EVEX))) {
		d->flags |= ST_I_OP16;
		if (d->word & T_V && !(d->rex & 8))
			d->word |= T_NARROW;
	}
	if (pfx & P_67)
		d->flags |= ST_I_ADDR32;
	if (pfx & P_LOCK)
		d->flags |= ST_I_LOCK;
	if (pfx & (P_FS | P_GS) && !(d->flags & ST_I_LEA) &&
	    (d->flags & ST_I_MEM || implicit >= IM_SEG))
		d->flags |= pfx & P_GS ? ST_I_GSSEG : ST_I_FSSEG;
}

/* The displacement of a branch: the immediate, sign-extended. */
static inline int32_t
branch_displacement(const uint8_t *p, unsigned len)
{
	if (len == 1)
		return (int8_t)p[0];
	if (len == 2)
		return (int16_t)(p[0] | p[1] << 8);
	return (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	                 (uint32_t)p[3] << 24);
}

/*
 * Applies the rule that d->word names to what store left. Not inline, on a copy: so the state of
 * those who need no rule stays in registers. False: no instruction.
 */
static bool __attribute__((noinline)) correct(const uint8_t *p, struct st_insn *out, uint64_t word,
                                              unsigned pfx, unsigned rex, unsigned modrm)
{
	struct dec d = {
	        .p = p,
	        .out = out,
	        .word = word,
	        .flags = out->flags,
	        .pfx = pfx,
	        .rex = rex,
	        .i = out->len,
	        .op = p[out->op_off],
	        .modrm = modrm,
	        .reg = (modrm >> 3 & 7) | (rex & 4) << 1,
	        .rm = (modrm & 7) | (rex & 1) << 3,
	        .rd = out->gpr_read,
	        .wr = out->gpr_written,
	};

	if (word & T_RM8 && !rex)
		d.rm &= 3;
	out->cls = ST_C_NORMAL;
	decode_by_rule(&d, (unsigned)(word >> 56));
	out->len = (uint8_t)d.i;
	out->flags = d.flags;
	out->gpr_read = (uint16_t)d.rd;
	out->gpr_written = (uint16_t)d.wr;
	return out->cls != ST_C_INVALID;
}

static inline void
store(const struct dec *d)
{
	d->out->gpr_read = (uint16_t)d->sets;
	d->out->gpr_written = (uint16_t)(d->sets >> 16);
	d->out->flags = d->flags | (d->rex & 0x40) / 0x40 * ST_I_REX;
	d->out->len = (uint8_t)d->i;
}

/* Decodes at d->p. Returns the length, or 0 when there is no instruction and d->i is the best guess
 * at its length. */
static inline unsigned
decode_insn(struct dec *d)
{
	struct st_insn *out = d->out; /* cppcheck-suppress ctuuninitvar */
	unsigned implicit, act, len;

	if (!read_opcode(d))
		return 0;
	use_flags(d, d->word >> 32 & 0xffff);
	read_modrm(d);
	read_immediate(d);
	implicit = d->word >> 48 & 0xff;
	d->sets |= st_implicit[implicit].sets;
	d->flags |= st_implicit[implicit].flags;
	if (d->pfx)
		note_prefixes(d, implicit);
	if (d->i > MAX_LEN || (d->flags & (ST_I_LEA | ST_I_MEM)) == ST_I_LEA)
		return 0;
	store(d);
	len = d->i;
	act = (unsigned)(d->word >> 56);
	if (act) {
		out->cls = (uint8_t)act;
		out->cond = d->p[out->op_off] & 15;
		if (act >= A_RULES) {
			if (!correct(d->p, out, d->word, d->pfx, d->rex, d->modrm))
				return 0;
			len = out->len;
		}
		if (1u << out->cls & HAVE_REL)
			out->rel = branch_displacement(d->p + out->imm_off, out->imm_len);
	}
	if (d->word & T_NARROW) { /* the rest of the register stays: that is a read */
		out->gpr_read |= out->gpr_written;
		out->gpr_written = 0;
	}
	return len;
}

/* What st_decode leaves when it returns 0: all zero but the class and, unless cut off, a length. */
static void
give_up(struct st_insn *out, unsigned len, size_t n)
{
	*out = (struct st_insn){.cls = ST_C_INVALID};
	if (len <= n)
		out->len = (uint8_t)(len == 0 ? 1 : len > MAX_LEN ? MAX_LEN : len);
}

unsigned
st_decode(const uint8_t *p, size_t n, struct st_insn *out)
{
	uint8_t copy[WINDOW];
	struct dec d;
	unsigned len;

	if (n < WINDOW) {
		for (size_t i = 0; i < WINDOW; i++) {
			copy[i] = i < n ? p[i] : 0;
			__asm__ volatile(
			        "" ::
			                : "memory"); /* or gcc makes this loop a call of memcpy */
		}
		p = copy;
	}
	/* field by field: an initializer becomes rep stos, which costs as much as half the rest */
	d.p = p;
	d.out = out;
	d.flags = 0;
	d.pfx = 0;
	out->cls = out->cond = 0;
	out->rex_off = out->vex_off = 0;
	out->rel = 0;
	len = decode_insn(&d);
	if (len && len <= n)
		return len;
	give_up(out, d.i, n);
	return 0;
}
