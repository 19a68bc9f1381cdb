/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strings with the life of their image, packed into chunks: a large image has a hundred thousand of
 * them. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/internal.h"

enum { CHUNK = 64 << 10 };

struct sym_string_chunk {
	struct sym_string_chunk *next;
	size_t used;
	size_t room;
	char text[];
};

static char *
strings_take(struct st_image *image, size_t size)
{
	struct sym_string_chunk *chunk = image->strings;
	if (!chunk || chunk->room - chunk->used < size) {
		size_t room = size > CHUNK ? size : CHUNK;
		chunk = malloc(sizeof *chunk + room);
		if (!chunk)
			return NULL;
		*chunk = (struct sym_string_chunk){.next = image->strings, .room = room};
		image->strings = chunk;
	}
	char *text = chunk->text + chunk->used;
	chunk->used += size;
	return text;
}

const char *
sym_string_keep(struct st_image *image, const char *text, size_t length)
{
	char *copy = strings_take(image, length + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

const char *
sym_string_print(struct st_image *image, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int length = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	char *text = length < 0 ? NULL : strings_take(image, (size_t)length + 1);
	if (!text)
		return NULL;
	va_start(ap, format);
	vsnprintf(text, (size_t)length + 1, format, ap);
	va_end(ap);
	return text;
}

void
sym_strings_free(struct st_image *image)
{
	while (image->strings) {
		struct sym_string_chunk *next = image->strings->next;
		free(image->strings);
		image->strings = next;
	}
}
