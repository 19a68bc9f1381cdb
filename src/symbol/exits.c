/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a function returns: its return instructions, by decoding all of it. */
#include <stdlib.h>

#include "rt/arch/x86_64/decode.h"
#include "symbol/internal.h"

enum { MOST_RANGES = 16, MOST_BYTES = 1 << 20 };

/* The function, or a part of it that stands elsewhere. */
struct code_range {
	uint64_t start, size;
	uint8_t *bytes;
	bool *begins; /* of each byte: an instruction begins there */
};

struct returning {
	struct st_exits *out;
	struct code_range ranges[MOST_RANGES];
	size_t n;
	uint64_t entry;
};

static const struct code_range *
range_of(const struct returning *r, uint64_t address)
{
	for (size_t i = 0; i < r->n; i++)
		if (address - r->ranges[i].start < r->ranges[i].size)
			return &r->ranges[i];
	return NULL;
}

static bool
add_code_range(struct returning *r, struct st_image *image, const struct st_function *f)
{
	if (r->n == MOST_RANGES || f->size > MOST_BYTES)
		return false;
	struct code_range *range = &r->ranges[r->n++];
	*range = (struct code_range){.start = f->offset,
	                             .size = f->size,
	                             .bytes = malloc(f->size),
	                             .begins = calloc(f->size, sizeof *range->begins)};
	return range->bytes && range->begins &&
	       st_image_bytes(image, f->offset, range->bytes, f->size) == f->size;
}

static bool
mark_beginnings(struct code_range *range)
{
	struct st_insn in;
	for (uint64_t at = 0; at < range->size; at += in.len) {
		if (!st_decode(range->bytes + at, range->size - at, &in))
			return false;
		range->begins[at] = true;
	}
	return true;
}

static st_status
note_exit(struct st_exits *out, uint64_t at, uint64_t target)
{
	struct st_exit *exit = ST_PUSH(&out->exits);
	if (!exit)
		return ST_FAILED;
	*exit = (struct st_exit){at, target};
	return ST_OK;
}

/* An instruction at `at`. False: it shows that the decoding went wrong, or memory is exhausted. */
static bool
take_instruction(struct returning *r, uint64_t at, const struct st_insn *in)
{
	const uint64_t target = at + in->len + (uint64_t)(int64_t)in->rel;
	const struct code_range *to;
	switch (in->cls) {
	case ST_C_RET:
		return !note_exit(r->out, at, 0);
	case ST_C_JMP:
	case ST_C_JCC:
	case ST_C_LOOP:
		r->out->jumps_to_itself |= target == r->entry;
		to = range_of(r, target);
		if (to)
			return to->begins[target - to->start];
		return in->cls != ST_C_JMP || !note_exit(r->out, at, target);
	case ST_C_INVALID:
	case ST_C_FAR:
		return false;
	default:
		return true;
	}
}

static bool
read_range(struct returning *r, const struct code_range *range)
{
	struct st_insn in;
	for (uint64_t at = 0; at < range->size; at += in.len)
		if (!st_decode(range->bytes + at, range->size - at, &in) ||
		    !take_instruction(r, range->start + at, &in))
			return false;
	return true;
}

bool
st_image_exits(struct st_image *image, uint64_t entry, const struct st_part *parts, size_t n,
               struct st_exits *out)
{
	const struct st_function *f = st_image_function(image, entry);
	struct returning r = {.out = out, .entry = entry};
	out->exits.n = 0;
	out->jumps_to_itself = false;
	if (!f || f->offset != entry)
		return false;
	bool good = n < MOST_RANGES && add_code_range(&r, image, f);
	for (size_t i = 0; i < n && good; i++) {
		f = st_image_function(image, parts[i].start);
		good = f && add_code_range(&r, image, f);
	}
	for (size_t i = 0; i < r.n && good; i++)
		good = mark_beginnings(&r.ranges[i]);
	for (size_t i = 0; i < r.n && good; i++)
		good = read_range(&r, &r.ranges[i]);
	for (size_t i = 0; i < r.n; i++) {
		free(r.ranges[i].bytes);
		free(r.ranges[i].begins);
	}
	return good;
}
