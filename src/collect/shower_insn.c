/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of an instruction from its code: mnemonic, category, registers. */
#include "collect/shower.h"
#include "insn/shape.h"

static int
digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The instruction that a text of hexadecimal digits is, or NULL. */
static const struct st_shape *
shape_of(struct st_shower *s, uint64_t raw)
{
	enum { LONGEST = 15 };
	uint8_t code[LONGEST] = {0};
	const char *text = raw <= UINT32_MAX ? st_view_string(s->v, (uint32_t)raw) : "";
	size_t n = 0;
	for (; text[0]; text += 2) {
		int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
		if (low < 0 || n == LONGEST)
			return NULL;
		code[n++] = (uint8_t)(high << 4 | low);
	}
	if (!s->c->shapes)
		s->c->shapes = st_shapes_new();
	return s->c->shapes && n ? st_shapes_find(s->c->shapes, code, n, NULL) : NULL;
}

size_t
st_shower_registers(struct st_shower *s, enum strobe_type type, uint64_t raw,
                    const char *names[ST_MOST_REGISTERS])
{
	const struct st_shape *shape = shape_of(s, raw);
	bool written = type == STROBE_REGISTERS_WRITTEN;
	size_t n = 1;
	if (!shape)
		names[0] = "(unknown)";
	else if (type == STROBE_MNEMONIC)
		names[0] = shape->mnemonic;
	else if (type == STROBE_CATEGORY)
		names[0] = shape->category;
	else
		n = written ? shape->n_written : shape->n_read;
	for (size_t i = 0; i < n; i++) {
		if (shape && (written || type == STROBE_REGISTERS_READ))
			names[i] = st_register_name(written ? shape->written[i] : shape->read[i]);
		names[i] = st_collect_intern(s->c, names[i]);
	}
	return n;
}
