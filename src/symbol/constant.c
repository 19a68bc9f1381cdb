/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recognizes functions whose calls take about the same time each, because their code has neither
 * loops nor calls. */
#include <stdlib.h>

#include "rt/arch/x86_64/decode.h"
#include "symbol/symbol.h"

enum { MOST_CONSTANT = 1 << 16 /* bytes; a longer function is not taken for a short one */ };

/* Jumps must lead forward within the code: other parts of the function, and other functions, may
 * have loops. */
static bool
is_short_step(const struct st_insn *in, uint64_t at, uint64_t size)
{
	const uint64_t target = at + in->len + (uint64_t)(int64_t)in->rel;
	switch (in->cls) {
	case ST_C_JMP:
	case ST_C_JCC:
		return target > at && target < size;
	case ST_C_NORMAL:
		return !(in->flags & ST_I_REP);
	case ST_C_RET:
	case ST_C_INT3:
		return true;
	default:
		return false;
	}
}

static bool
is_constant_code(const uint8_t *code, uint64_t size)
{
	struct st_insn in;
	for (uint64_t at = 0; at < size; at += in.len)
		if (!st_decode(code + at, size - at, &in) || !is_short_step(&in, at, size))
			return false;
	return size > 0;
}

bool
st_image_is_constant(struct st_image *image, const struct st_function *f)
{
	uint8_t *code = f->size && f->size <= MOST_CONSTANT ? malloc(f->size) : NULL;
	const bool is = code && st_image_bytes(image, f->offset, code, f->size) == f->size &&
	                is_constant_code(code, f->size);
	free(code);
	return is;
}
