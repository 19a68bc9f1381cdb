/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How wide text is on a terminal, where some characters take two columns and some none. */
#ifndef STROBE_TUI_WIDTH_H
#define STROBE_TUI_WIDTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character of UTF-8 at text, and its bytes, at least 1: what is no character is '?'. */
size_t st_tui_character(const char *text, uint32_t *c);
/* Columns of a character, and of a text. They depend on the LC_CTYPE of the locale. */
size_t st_tui_character_width(uint32_t c);
size_t st_tui_width(const char *text);
/* The text in exactly so many columns, malloc'ed: filled with blanks at its right end, or at its
 * left end if `left` is false. A longer one is cut in its middle, where "..." says so, because the
 * ends of a name tell more. NULL: no memory. */
char *st_tui_fit(const char *text, size_t columns, bool left);
/* The same, but cut at its end, without a sign. */
char *st_tui_cut(const char *text, size_t columns);
/* The text without its first `columns` columns. */
const char *st_tui_skip(const char *text, size_t columns);

#endif
