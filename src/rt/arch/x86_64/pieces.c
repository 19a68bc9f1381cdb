/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pieces.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum { DIRECTION_FLAG = 0x400, LEGACY_AREA = 512, XSAVE_HEADER = 64 };
#define COMPACTED (1ull << 63)

/* ---- the registers ---- */

/* VEX and EVEX have the bits of REX inverted. */
static bool
has_long_vex(const struct st_insn *in, const uint8_t *code)
{
	return (in->flags & ST_I_EVEX) || ((in->flags & ST_I_VEX) && code[in->vex_off] == 0xc4);
}

static unsigned
bit_x(const struct st_insn *in, const uint8_t *code)
{
	if (in->flags & ST_I_REX)
		return code[in->rex_off] >> 1 & 1u;
	return has_long_vex(in, code) ? ~code[in->vex_off + 1] >> 6 & 1u : 0;
}

static unsigned
bit_b(const struct st_insn *in, const uint8_t *code)
{
	if (in->flags & ST_I_REX)
		return code[in->rex_off] & 1u;
	return has_long_vex(in, code) ? ~code[in->vex_off + 1] >> 5 & 1u : 0;
}

static unsigned
vvvv(const struct st_insn *in, const uint8_t *code)
{
	return ~code[in->vex_off + (code[in->vex_off] == 0xc5 ? 1 : 2)] >> 3 & 15u;
}

static unsigned
vector_index(const struct st_insn *in, const uint8_t *code)
{
	unsigned n = (code[in->modrm_off + 1] >> 3 & 7u) | bit_x(in, code) << 3;
	return in->flags & ST_I_EVEX ? n | (~code[in->vex_off + 3] & 8u) << 1 : n;
}

/* maskmovq, maskmovdqu: the mask is in ModRM.rm. */
static bool
is_by_bytes(const struct st_access *a)
{
	return a->kind == ST_ACCESS_RDI && a->masked;
}

struct st_vectors
st_access_vectors(const struct st_insn *in, const uint8_t *code, const struct st_access *a)
{
	struct st_vectors v = {-1, -1, -1, -1};
	if (a->vsib)
		v.index = (int8_t)vector_index(in, code);
	if (!a->masked)
		return v;
	if (is_by_bytes(a)) {
		int8_t rm = (int8_t)((code[in->modrm_off] & 7u) | bit_b(in, code) << 3);
		if (a->bytes == 8)
			v.mmx = rm & 7;
		else
			v.mask = rm;
	} else if (in->flags & ST_I_EVEX) {
		v.k = code[in->vex_off + 3] & 7;
	} else {
		v.mask = (int8_t)vvvv(in, code);
	}
	return v;
}

static bool
is_xsave(const struct st_insn *in, const uint8_t *code)
{
	return !(in->flags & (ST_I_VEX | ST_I_EVEX)) && in->op_off &&
	       code[in->op_off - 1] == 0x0f &&
	       (code[in->op_off] == 0xae || code[in->op_off] == 0xc7);
}

bool
st_access_has_pieces(const struct st_insn *in, const uint8_t *code, const struct st_access *a)
{
	return a->rep || a->vsib || a->masked || (a->variable && is_xsave(in, code));
}

/* ---- addresses ---- */

/* The unit of an 8-bit displacement: st_insn lacks it, because only addresses need it. */
static int64_t
access_displacement(const struct st_insn *in, const uint8_t *code, const struct st_access *a)
{
	const uint8_t *at = code + in->disp_off;
	if (in->disp_len == 1)
		return (int8_t)*at *
		       (in->flags & ST_I_EVEX ? (int64_t)st_disp8_unit(in, code, a) : 1);
	if (in->disp_len != 4)
		return 0;
	return (int32_t)(at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	                 (uint32_t)at[3] << 24);
}

/* Of the ModRM operand, without a vector index. */
static uint64_t
modrm_address(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
              const struct st_state *s)
{
	uint8_t modrm = code[in->modrm_off];
	unsigned mod = modrm >> 6, rm = modrm & 7, b = bit_b(in, code) << 3;
	uint64_t at = (uint64_t)access_displacement(in, code, a);
	if (in->flags & ST_I_RIPREL)
		return at + s->next;
	if (rm != 4)
		return at + s->gpr[rm | b];
	uint8_t sib = code[in->modrm_off + 1];
	unsigned index = (sib >> 3 & 7u) | bit_x(in, code) << 3;
	if ((sib & 7) != 5 || mod)
		at += s->gpr[(sib & 7u) | b];
	if (!a->vsib && index != 4)
		at += s->gpr[index] << (sib >> 6);
	return at;
}

static uint64_t
cut_address(const struct st_insn *in, uint64_t address)
{
	return in->flags & ST_I_ADDR32 ? (uint32_t)address : address;
}

static uint64_t
segment(const struct st_insn *in, const struct st_access *a, const struct st_state *s)
{
	return a->segment && (in->flags & ST_I_FSSEG) ? s->fs_base : 0;
}

static uint64_t
element_number(const uint8_t *from, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = bytes; i-- > 0;)
		v = v << 8 | from[i];
	return v;
}

/* ---- masks ---- */

/* Element i is accessed: its bit, or the sign of its part of a vector. */
static bool
is_element_chosen(const struct st_insn *in, const struct st_access *a, const struct st_state *s,
                  unsigned i)
{
	if (!a->masked)
		return true;
	if (in->flags & ST_I_EVEX)
		return s->k >> i & 1;
	return s->mask[(i + 1) * a->element - 1] & 0x80;
}

static unsigned
gather_pieces(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
              const struct st_state *s, struct st_piece *out)
{
	uint64_t base = modrm_address(in, code, a, s);
	unsigned scale = code[in->modrm_off + 1] >> 6, width = code[in->op_off] & 1 ? 8 : 4, n = 0;
	for (unsigned i = 0; i < a->count; i++) {
		uint64_t index = element_number(s->index + i * width, width);
		if (!is_element_chosen(in, a, s, i))
			continue;
		if (width == 4)
			index = (uint64_t)(int32_t)index;
		out[n++] = (struct st_piece){
		        cut_address(in, base + (index << scale)) + segment(in, a, s), a->bytes};
	}
	return n;
}

/* compress and expand: memory has the chosen elements only, one after the other. */
static bool
is_packed(const struct st_insn *in, const uint8_t *code)
{
	uint8_t op = code[in->op_off];
	return (in->flags & ST_I_EVEX) && (code[in->vex_off + 1] & 7) == 2 &&
	       ((op >= 0x88 && op <= 0x8b) || op == 0x62 || op == 0x63);
}

unsigned
st_disp8_unit(const struct st_insn *in, const uint8_t *code, const struct st_access *a)
{
	uint8_t op = code[in->op_off];
	bool wide = code[in->vex_off + 2] & 0x80;
	if (!is_packed(in, code))
		return a->bytes;
	return op >= 0x88 ? (wide ? 8 : 4) : wide ? 2 : 1;
}

/* Elements of memory of which some are chosen, as bits. */
static uint64_t
chosen_elements(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
                const struct st_state *s)
{
	unsigned stored = a->bytes / a->element, chosen = 0;
	uint64_t set = 0;
	for (unsigned i = 0; i < a->count; i++)
		if (is_element_chosen(in, a, s, i)) {
			set |= 1ull << i % stored; /* fewer than bits where one goes to many */
			chosen++;
		}
	return is_packed(in, code) ? (chosen < 64 ? 1ull << chosen : 0) - 1 : set;
}

static unsigned
masked(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
       const struct st_state *s, struct st_piece *out)
{
	uint64_t base = a->kind == ST_ACCESS_RDI ? s->gpr[RDI] : modrm_address(in, code, a, s);
	uint64_t set = chosen_elements(in, code, a, s);
	unsigned n = 0;
	base = cut_address(in, base) + segment(in, a, s);
	for (unsigned i = 0; set >> i; i++) {
		if (!(set >> i & 1))
			continue;
		unsigned first = i;
		while (i < 63 && set >> (i + 1) & 1)
			i++;
		out[n++] = (struct st_piece){base + first * a->element,
		                             (uint64_t)(i + 1 - first) * a->element};
		if (i == 63)
			break;
	}
	return n;
}

/* ---- string instructions ---- */

/* Where one of them reads, a few bytes at a time. */
struct string {
	uint64_t at, have; /* of buffer */
	uint8_t buffer[64];
	bool valid;
};

static bool
read_element(struct string *x, const struct st_state *s, uint64_t at, unsigned bytes,
             uint64_t *value)
{
	if (!x->valid || at < x->have || at + bytes > x->have + sizeof x->buffer) {
		x->have = at & ~(uint64_t)(sizeof x->buffer - 1);
		x->valid = at + bytes <= x->have + sizeof x->buffer &&
		           s->read(x->buffer, x->have, sizeof x->buffer) == 0;
	}
	if (x->valid) {
		*value = element_number(x->buffer + (at - x->have), bytes);
		return true;
	}
	uint8_t element[8];
	*value = 0;
	if (s->read(element, at, bytes) != 0)
		return false;
	*value = element_number(element, bytes);
	return true;
}

/* Of prefixes that repeat the last one counts: is it repne? */
static bool
is_repne(const struct st_insn *in, const uint8_t *code)
{
	for (unsigned i = in->op_off; i-- > 0;)
		if ((code[i] & 0xfe) == 0xf2)
			return code[i] == 0xf2;
	return false;
}

/* cmps, scas: elements up to the one that ends it, or that cannot be read. */
static uint64_t
compared(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
         const struct st_state *s, uint64_t most, int64_t step)
{
	bool scas = (code[in->op_off] & 0xfe) == 0xae, repne = is_repne(in, code);
	uint64_t rsi = s->gpr[RSI], rdi = s->gpr[RDI], x, y;
	uint64_t fs = in->flags & ST_I_FSSEG ? s->fs_base : 0;
	uint64_t ones = a->bytes == 8 ? UINT64_MAX : (1ull << 8 * a->bytes) - 1;
	struct string from = {0}, to = {0};
	for (uint64_t i = 0; i < most; i++, rsi += (uint64_t)step, rdi += (uint64_t)step) {
		x = s->gpr[RAX] & ones;
		if ((!scas && !read_element(&from, s, cut_address(in, rsi) + fs, a->bytes, &x)) ||
		    !read_element(&to, s, cut_address(in, rdi), a->bytes, &y))
			return i;
		if ((x == y) == repne)
			return i + 1;
	}
	return most;
}

static unsigned
repeated(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
         const struct st_state *s, struct st_piece *out)
{
	uint8_t op = code[in->op_off] & 0xfe;
	bool down = s->flags & DIRECTION_FLAG;
	uint64_t n = cut_address(in, s->gpr[RCX]),
	         at = s->gpr[a->kind == ST_ACCESS_RSI ? RSI : RDI];
	if (op == 0xa6 || op == 0xae)
		n = compared(in, code, a, s, n, down ? -(int64_t)a->bytes : a->bytes);
	if (!n)
		return 0;
	if (down)
		at -= (n - 1) * a->bytes;
	*out = (struct st_piece){cut_address(in, at) + segment(in, a, s), n * a->bytes};
	return 1;
}

/* ---- the xsave family ---- */

/* Where the last of the parts ends. */
static uint64_t
standard_end(const struct st_xsave *x, uint64_t parts)
{
	uint64_t end = LEGACY_AREA + XSAVE_HEADER;
	for (unsigned i = 2; i < ST_XSAVE_PARTS; i++)
		if ((parts >> i & 1) && x->offset[i] + x->bytes[i] > end)
			end = x->offset[i] + x->bytes[i];
	return end;
}

/* The same when all that the area has space for stand one after the other. */
static uint64_t
compacted_end(const struct st_xsave *x, uint64_t area, uint64_t parts)
{
	uint64_t end = LEGACY_AREA + XSAVE_HEADER, at = end;
	for (unsigned i = 2; i < ST_XSAVE_PARTS; i++) {
		if (!(area >> i & 1))
			continue;
		if (x->aligned >> i & 1)
			at = (at + 63) & ~63ull;
		at += x->bytes[i];
		if (parts >> i & 1)
			end = at;
	}
	return end;
}

static uint64_t
xrstor_end(const struct st_xsave *x, const struct st_state *s, uint64_t address, uint64_t asked)
{
	uint8_t header[16];
	if (s->read(header, address + LEGACY_AREA, sizeof header) != 0)
		return LEGACY_AREA + XSAVE_HEADER;
	uint64_t has = element_number(header, 8), area = element_number(header + 8, 8);
	return area & COMPACTED ? compacted_end(x, area, asked & has)
	                        : standard_end(x, asked & has);
}

static unsigned
xsave(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
      const struct st_state *s, struct st_piece *out)
{
	const struct st_xsave *x = s->xsave;
	unsigned reg = code[in->modrm_off] >> 3 & 7;
	bool two = code[in->op_off] == 0xc7; /* xrstors, xsavec, xsaves */
	uint64_t at = cut_address(in, modrm_address(in, code, a, s)) + segment(in, a, s), end;
	if (!x)
		return 0;
	uint64_t asked = x->enabled & (s->gpr[RDX] << 32 | (uint32_t)s->gpr[RAX]);
	if (a->read && !a->write)
		end = xrstor_end(x, s, at, asked);
	else if (two)
		end = compacted_end(x, asked, asked & x->in_use);
	else
		end = standard_end(x, reg == 6 ? asked & x->in_use : asked); /* 6: xsaveopt */
	*out = (struct st_piece){at, end};
	return 1;
}

unsigned
st_pieces(const struct st_insn *in, const uint8_t *code, const struct st_access *a,
          const struct st_state *s, struct st_piece out[ST_MOST_PIECES])
{
	if (a->rep)
		return repeated(in, code, a, s, out);
	if (a->vsib)
		return gather_pieces(in, code, a, s, out);
	return a->masked ? masked(in, code, a, s, out) : xsave(in, code, a, s, out);
}
