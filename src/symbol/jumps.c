/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of functions in programs without symbols: there each piece of code with unwind information
 * of its own would be a function. One that begins in the middle of a frame is none, and its jumps
 * tell whose part it is: they lead back into the inside of one function, and those to it come from
 * there. All must agree, else it is left a function.
 *
 * All code of the program is read for that at the end of a run, so it is searched 16 bytes at a
 * time, and decoded by the runtime's decoder, which takes a quarter of the time of Zydis.
 */
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "rt/arch/x86_64/decode.h"
#include "symbol/internal.h"

/* Bytes that are searched at once, and that are read of what lies behind. */
enum { STRIDE = 16, BEYOND = STRIDE + 1 };

struct part {
	struct st_function *code;
	const struct st_function *whole; /* NULL: none is known yet */
	bool rivals;                     /* jumps do not agree */
};

struct joining {
	struct st_image *image;
	struct sym_functions *table;
	struct part *parts; /* ordered */
	size_t n;
	uint64_t first, span; /* from the first part to the end of the last */
	const uint8_t *bytes; /* of the function that is read, with BEYOND more */
	uint8_t *copy;
	size_t room;
	size_t decoded; /* number of bytes from its entry on that are whole instructions */
};

static struct part *
part_at(const struct joining *j, uint64_t address)
{
	size_t low = 0, high = j->n;
	if (address - j->first >= j->span)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (j->parts[middle].code->offset <= address)
			low = middle + 1;
		else
			high = middle;
	}
	struct part *p = low ? &j->parts[low - 1] : NULL;
	return p && address - p->code->offset < p->code->size ? p : NULL;
}

/* The code of a function: where the file is mapped, or a copy where BEYOND more cannot be read. */
static size_t
read_bytes(struct joining *j, const struct st_function *f)
{
	j->decoded = 0;
	if (f->size > SIZE_MAX - BEYOND) /* of a damaged file */
		return 0;
	j->bytes = sym_image_code(j->image, f->offset, f->size + BEYOND);
	if (j->bytes)
		return f->size;
	if (f->size > j->room) {
		uint8_t *copy = realloc(j->copy, f->size + BEYOND);
		if (!copy)
			return 0;
		memset(copy, 0, f->size + BEYOND);
		j->copy = copy;
		j->room = f->size;
	}
	j->bytes = j->copy;
	return st_image_bytes(j->image, f->offset, j->copy, f->size);
}

static void
jumps_join(struct part *part, const struct st_function *whole)
{
	if (part->whole && part->whole != whole)
		part->rivals = true;
	part->whole = whole;
}

/* Whether an instruction ends there in the bytes that were read: what looks like a jump may stand
 * in another instruction. */
static bool
is_end(struct joining *j, size_t end)
{
	struct st_insn in;
	while (j->decoded < end) {
		if (!st_decode(j->bytes + j->decoded, end - j->decoded, &in))
			return false;
		j->decoded += in.len;
	}
	return j->decoded == end;
}

/* The length of a jump with a displacement of 32 bits: those between sections have no other. */
static size_t
far_jump(const uint8_t *at, size_t n)
{
	if (n >= 5 && at[0] == 0xe9)
		return 5;
	return n >= 6 && at[0] == 0x0f && (at[1] & 0xf0) == 0x80 ? 6 : 0;
}

static uint64_t
displacement(const uint8_t *end)
{
	int32_t value;
	memcpy(&value, end - sizeof value, sizeof value);
	return (uint64_t)(int64_t)value;
}

/* Joins a part to a function if the bytes at an offset of the function are a jump to the part. */
static void
follow_jump(struct joining *j, const struct st_function *f, size_t at, size_t n)
{
	size_t length = far_jump(j->bytes + at, n - at), end = at + length;
	if (!length)
		return;
	struct part *p = part_at(j, f->offset + end + displacement(j->bytes + end));
	if (p && p->whole != f && is_end(j, end))
		jumps_join(p, f);
}

/* Which of STRIDE bytes may begin such a jump, one bit for each. */
static unsigned
first_bytes(const uint8_t *at)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)at);
	__m128i jump = _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)0xe9));
	__m128i condition = _mm_and_si128(_mm_loadu_si128((const __m128i *)(at + 1)),
	                                  _mm_set1_epi8((char)0xf0));
	__m128i conditional = _mm_and_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x0f)),
	                                    _mm_cmpeq_epi8(condition, _mm_set1_epi8((char)0x80)));
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(jump, conditional));
}

/* The parts that a function jumps to. */
static void
follow_into(struct joining *j, const struct st_function *f)
{
	size_t n = read_bytes(j, f);
	for (size_t i = 0; i < n; i += STRIDE)
		for (unsigned there = first_bytes(j->bytes + i); there; there &= there - 1) {
			size_t at = i + (size_t)__builtin_ctz(there);
			if (at < n)
				follow_jump(j, f, at, n);
		}
}

static bool
is_jump(const struct st_insn *in)
{
	return in->cls == ST_C_JMP || in->cls == ST_C_JCC || in->cls == ST_C_LOOP ||
	       in->cls == ST_C_XBEGIN;
}

/* The functions into whose inside a part jumps. To an entry anybody may jump. */
static void
follow_out(struct joining *j, struct part *part)
{
	const struct st_function *f = part->code;
	size_t n = read_bytes(j, f);
	struct st_insn in;
	for (size_t i = 0; i < n; i += in.len) {
		if (!st_decode(j->bytes + i, n - i, &in))
			return;
		if (!is_jump(&in))
			continue;
		uint64_t to = f->offset + i + in.len + (uint64_t)(int64_t)in.rel;
		const struct st_function *whole = sym_table_find(j->table, to);
		if (whole && whole->offset != to && whole->source != ST_SYM_PLT && !part_at(j, to))
			jumps_join(part, whole);
	}
}

static bool
find_parts(struct joining *j, const struct sym_ranges *inner)
{
	j->parts = calloc(inner->n, sizeof *j->parts);
	if (!j->parts)
		return false;
	for (size_t i = 0; i < inner->n; i++) {
		struct st_function *f = sym_table_find(j->table, inner->v[i].start);
		if (f && f->offset == inner->v[i].start && f->source == ST_SYM_EHFRAME)
			j->parts[j->n++].code = f;
	}
	if (!j->n)
		return false;
	const struct st_function *last = j->parts[j->n - 1].code;
	j->first = j->parts[0].code->offset;
	j->span = last->offset + last->size - j->first;
	return true;
}

static void
name_part(struct joining *j, const struct part *part)
{
	const char *raw = part->whole->raw_name;
	const char *name = sym_string_print(j->image, "%.*s.cold", (int)strcspn(raw, "@"), raw);
	if (!name)
		return;
	part->code->raw_name = name;
	part->code->whole = part->whole->offset;
}

void
sym_join_parts(struct st_image *image, struct sym_functions *table, const struct sym_ranges *inner)
{
	struct joining j = {.image = image, .table = table};
	if (inner->n && find_parts(&j, inner)) {
		for (size_t i = 0; i < j.n; i++)
			follow_out(&j, &j.parts[i]);
		for (size_t i = 0; i < table->n; i++)
			if (table->v[i].source != ST_SYM_PLT && !part_at(&j, table->v[i].offset))
				follow_into(&j, &table->v[i]);
		for (size_t i = 0; i < j.n; i++)
			if (j.parts[i].whole && !j.parts[i].rivals)
				name_part(&j, &j.parts[i]);
	}
	free(j.parts);
	free(j.copy);
}
