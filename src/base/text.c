/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

FILE *
st_text_begin(struct st_text *t)
{
	*t = (struct st_text){0};
	t->out = open_memstream(&t->v, &t->n);
	return t->out;
}

char *
st_text_end(struct st_text *t)
{
	if (!t->out)
		return NULL;
	const int failed = ferror(t->out);
	if (fclose(t->out) || failed) {
		free(t->v);
		t->v = NULL;
	}
	t->out = NULL;
	return t->v;
}

char *
st_text_of(const char *format, ...)
{
	char *text;
	va_list ap;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

void
st_append(char *buffer, size_t size, const char *format, ...)
{
	const size_t used = strnlen(buffer, size);
	va_list ap;
	va_start(ap, format);
	if (used < size)
		vsnprintf(buffer + used, size - used, format, ap);
	va_end(ap);
}

char *
st_after_byte_order_mark(char *text)
{
	static const char mark[] = "\xef\xbb\xbf";
	return strncmp(text, mark, sizeof mark - 1) ? text : text + sizeof mark - 1;
}

const char *
st_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}
