/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool
st_lines_next(struct st_lines *l)
{
	const struct st_import *in = l->in;
	if (l->at >= in->n)
		return false;
	const char *begin = in->bytes + l->at, *end = memchr(begin, '\n', in->n - l->at);
	size_t n = end ? (size_t)(end - begin) : in->n - l->at;
	l->at += n + (end != NULL);
	l->number++;
	if (n + 1 > l->size) {
		char *longer = realloc(l->line, 2 * n + 64);
		if (!longer) {
			l->out_of_memory = true;
			return false;
		}
		l->line = longer;
		l->size = 2 * n + 64;
	}
	while (n && isspace((unsigned char)begin[n - 1]))
		n--;
	memcpy(l->line, begin, n);
	l->line[n] = '\0';
	return true;
}

void
st_lines_free(struct st_lines *l)
{
	free(l->line);
}
