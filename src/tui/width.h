/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The width of text on a terminal, where some characters take two columns and some none. */
#ifndef STROBE_TUI_WIDTH_H
#define STROBE_TUI_WIDTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character of UTF-8 at text, and returns the number of its bytes. A byte that is not
 * UTF-8 is a '?' of one byte. */
size_t st_tui_character(const char *text, uint32_t *c);
/* The columns that a character and a text take, by the LC_CTYPE of the locale. */
size_t st_tui_character_width(uint32_t c);
size_t st_tui_width(const char *text);
/* Makes the text `columns` wide: pads it with blanks on the right, or on the left if `left` is
 * false. A longer text has "..." in its middle, because the ends of a name tell more. malloc'ed;
 * NULL: no memory. */
char *st_tui_fit(const char *text, size_t columns, bool left);
/* The same, but a longer text is cut at its end, without "...". */
char *st_tui_cut(const char *text, size_t columns);
/* The text without its first `columns` columns. */
const char *st_tui_skip(const char *text, size_t columns);

#endif
