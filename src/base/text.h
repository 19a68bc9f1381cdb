/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that is built piece by piece. Hosted code only. */
#ifndef STROBE_BASE_TEXT_H
#define STROBE_BASE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Text as long as memory lasts: printed to `out`, then taken. */
struct st_text {
	FILE *out; /* NULL: there is no memory for it */
	char *v;
	size_t n; /* bytes of the text once it is taken, its NUL not counted */
};

/* Returns t->out. */
FILE *st_text_begin(struct st_text *t);
/* The text, to be freed by the caller; NULL: memory was exhausted, before or meanwhile. */
char *st_text_end(struct st_text *t);

/* A text of one piece, to be freed by the caller; NULL: memory is exhausted. */
__attribute__((format(printf, 1, 2))) char *st_text_of(const char *format, ...);

/* Returns the text after the UTF-8 byte-order mark that spreadsheets write at the beginning of a
 * file; without one, the text. */
char *st_after_byte_order_mark(char *text);

/* The last part of a path. */
const char *st_base_name(const char *path);

/* Appends to the text in a buffer, as much as has space there. */
__attribute__((format(printf, 3, 4))) void st_append(char *buffer, size_t size, const char *format,
                                                     ...);

#endif
