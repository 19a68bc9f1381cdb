/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing the code of two functions of different builds, instruction by instruction. */
#include <stdlib.h>
#include <string.h>

#include "rt/arch/x86_64/decode.h"
#include "symbol/symbol.h"

enum { MOST_PARTS = 16, MOST_CODE = 1 << 24 };

/* A function, or a part of one, of one of the builds. */
struct code_side {
	struct st_image *image;
	uint64_t start, size;
	uint8_t *bytes;
};

/* The meaning of an address, independent of its value in one build. */
struct meaning {
	enum { MEANS_DATA, MEANS_ITSELF, MEANS_CODE, MEANS_SLOT } kind;
	const char *name; /* NULL: it has none */
	uint64_t inside;
};

static const struct st_slot *
slot_at(struct st_image *image, uint64_t address)
{
	size_t n, from = 0;
	const struct st_slot *slots = st_image_slots(image, &n);
	while (from < n) {
		const size_t middle = from + (n - from) / 2;
		if (slots[middle].address == address)
			return &slots[middle];
		if (slots[middle].address < address)
			from = middle + 1;
		else
			n = middle;
	}
	return NULL;
}

static struct meaning
meaning_of(const struct code_side *s, uint64_t address)
{
	const struct st_function *f = st_image_function(s->image, address);
	const struct st_slot *slot = f ? NULL : slot_at(s->image, address);
	if (address - s->start < s->size)
		return (struct meaning){MEANS_ITSELF, NULL, address - s->start};
	if (f)
		return (struct meaning){MEANS_CODE,
		                        f->source == ST_SYM_EHFRAME ? NULL : f->raw_name,
		                        address - f->offset};
	if (slot)
		return (struct meaning){MEANS_SLOT, slot->symbol, 0};
	return (struct meaning){MEANS_DATA, NULL, 0};
}

static bool
means_the_same(const struct code_side *a, uint64_t in_a, const struct code_side *b, uint64_t in_b)
{
	const struct meaning x = meaning_of(a, in_a), y = meaning_of(b, in_b);
	return x.kind == y.kind && x.inside == y.inside && !x.name == !y.name &&
	       (!x.name || !strcmp(x.name, y.name));
}

static bool
jumps_relative(const struct st_insn *in)
{
	return in->cls == ST_C_JMP || in->cls == ST_C_JCC || in->cls == ST_C_LOOP ||
	       in->cls == ST_C_CALL || in->cls == ST_C_XBEGIN;
}

/* A number of an instruction; n: its bytes. */
static uint64_t
field_at(const struct code_side *s, uint64_t at, unsigned n)
{
	uint64_t value = 0;
	memcpy(&value, s->bytes + at, n);
	return value;
}

static bool
is_address(const struct code_side *s, uint64_t value)
{
	return st_image_is_fixed(s->image) && (st_image_function(s->image, value) ||
	                                       st_image_file_offset(s->image, value) != UINT64_MAX);
}

/* Bytes [from, from + n) of an instruction at `at`: equal, or addresses of the same. */
static bool
is_same_field(const struct code_side *a, const struct code_side *b, uint64_t at, unsigned n)
{
	if (!memcmp(a->bytes + at, b->bytes + at, n))
		return true;
	if (n != 4 && n != 8)
		return false;
	const uint64_t x = field_at(a, at, n), y = field_at(b, at, n);
	return is_address(a, x) && is_address(b, y) && means_the_same(a, x, b, y);
}

static uint64_t
behind(const struct code_side *s, uint64_t at, const struct st_insn *in)
{
	return s->start + at + in->len;
}

static bool
is_same_operand(const struct code_side *a, const struct code_side *b, uint64_t at,
                const struct st_insn *in)
{
	if (!in->disp_off)
		return true;
	if (!(in->flags & ST_I_RIPREL))
		return is_same_field(a, b, at + in->disp_off, in->disp_len);
	const uint64_t x = (uint64_t)(int64_t)(int32_t)field_at(a, at + in->disp_off, 4),
	               y = (uint64_t)(int64_t)(int32_t)field_at(b, at + in->disp_off, 4);
	return means_the_same(a, behind(a, at, in) + x, b, behind(b, at, in) + y);
}

/* An instruction of the same form in both. */
static bool
is_same_instruction(const struct code_side *a, const struct code_side *b, uint64_t at,
                    const struct st_insn *in, const struct st_insn *in_b)
{
	uint8_t mask[16] = {0};
	if (in->len != in_b->len || in->cls != in_b->cls || in->disp_off != in_b->disp_off ||
	    in->disp_len != in_b->disp_len || in->imm_off != in_b->imm_off ||
	    in->imm_len != in_b->imm_len)
		return false;
	memset(mask + in->disp_off, in->disp_off != 0, in->disp_off ? in->disp_len : 0);
	memset(mask + in->imm_off, in->imm_off != 0, in->imm_off ? in->imm_len : 0);
	for (unsigned i = 0; i < in->len; i++)
		if (!mask[i] && a->bytes[at + i] != b->bytes[at + i])
			return false;
	if (jumps_relative(in))
		return means_the_same(a, behind(a, at, in) + (uint64_t)(int64_t)in->rel, b,
		                      behind(b, at, in) + (uint64_t)(int64_t)in_b->rel);
	return is_same_operand(a, b, at, in) &&
	       (!in->imm_off || is_same_field(a, b, at + in->imm_off, in->imm_len));
}

/* Bytes that do not decode, as tables in code, are compared byte by byte. */
static bool
is_same_range(const struct code_side *a, const struct code_side *b)
{
	struct st_insn x, y;
	for (uint64_t at = 0; at < a->size; at += x.len) {
		const size_t left = a->size - at;
		if (!st_decode(a->bytes + at, left, &x) || !st_decode(b->bytes + at, left, &y))
			return !memcmp(a->bytes + at, b->bytes + at, left);
		if (!is_same_instruction(a, b, at, &x, &y))
			return false;
	}
	return true;
}

static bool
read_code_of_part(struct code_side *s)
{
	s->bytes = s->size <= MOST_CODE ? malloc(s->size + 1) : NULL;
	return s->bytes && st_image_bytes(s->image, s->start, s->bytes, s->size) == s->size;
}

static bool
is_same_part(struct st_image *image_a, const struct st_function *in_a, struct st_image *image_b,
             const struct st_function *in_b)
{
	struct code_side a = {image_a, in_a->offset, in_a->size, NULL},
	                 b = {image_b, in_b->offset, in_b->size, NULL};
	const bool same = a.size == b.size && read_code_of_part(&a) && read_code_of_part(&b) &&
	                  is_same_range(&a, &b);
	free(a.bytes);
	free(b.bytes);
	return same;
}

bool
st_image_same_code(struct st_image *a, const struct st_function *in_a, struct st_image *b,
                   const struct st_function *in_b)
{
	const struct st_function *parts_a[MOST_PARTS], *parts_b[MOST_PARTS];
	const size_t n = st_image_parts(a, in_a, parts_a, MOST_PARTS);
	bool same = n == st_image_parts(b, in_b, parts_b, MOST_PARTS) && n <= MOST_PARTS &&
	            is_same_part(a, in_a, b, in_b);
	for (size_t i = 0; i < n && same; i++)
		same = is_same_part(a, parts_a[i], b, parts_b[i]);
	return same;
}
