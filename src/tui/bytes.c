/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/bytes.h"

#include "base/utf8.h"
#include "tui/width.h"

/* The number of bytes of a character that begins with this byte; 0: no character does. */
static size_t
bytes_expected(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

uint32_t
st_tui_bytes_add(struct st_tui_bytes *b, unsigned char byte)
{
	uint32_t c = 0;
	if ((byte & 0xc0) != 0x80) /* a character begins: what was not completed is skipped */
		*b = (struct st_tui_bytes){0};
	else if (!b->n)
		return 0;
	b->v[b->n++] = byte;
	const size_t expected = bytes_expected(b->v[0]);
	if (b->n < expected)
		return 0;
	if (expected && st_utf8_length(b->v) == expected)
		st_tui_character((const char *)b->v, &c);
	*b = (struct st_tui_bytes){0};
	return c;
}
