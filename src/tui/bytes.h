/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The characters that a terminal sends, of which one may take several reads. */
#ifndef STROBE_TUI_BYTES_H
#define STROBE_TUI_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of a character that is not complete yet. All zero: there are none. */
struct st_tui_bytes {
	unsigned char v[5]; /* ends with a zero */
	size_t n;
};

/* Adds a byte. The character that it completes; 0: none, because bytes are missing, or because
 * they are not UTF-8 and were skipped. */
uint32_t st_tui_bytes_add(struct st_tui_bytes *b, unsigned char byte);

#endif
