/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/width.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"

size_t
st_tui_character(const char *text, uint32_t *c)
{
	const unsigned char *t = (const unsigned char *)text;
	const size_t n = st_utf8_length(t);
	if (n <= 1) {
		*c = n ? t[0] : '?';
		return 1;
	}
	*c = t[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		*c = *c << 6 | (t[i] & 0x3f);
	return n;
}

size_t
st_tui_character_width(uint32_t c)
{
	const int width = wcwidth((wchar_t)c);
	return width < 0 ? 1 : (size_t)width;
}

size_t
st_tui_width(const char *text)
{
	size_t width = 0;
	for (uint32_t c; *text;) {
		text += st_tui_character(text, &c);
		width += st_tui_character_width(c);
	}
	return width;
}

/* The length in bytes of the longest prefix that fits into `columns`; *width receives its columns.
 */
static size_t
width_head(const char *text, size_t columns, size_t *width)
{
	size_t at = 0;
	*width = 0;
	for (uint32_t c; text[at];) {
		const size_t n = st_tui_character(text + at, &c), more = st_tui_character_width(c);
		if (*width + more > columns)
			break;
		*width += more;
		at += n;
	}
	return at;
}

const char *
st_tui_skip(const char *text, size_t columns)
{
	size_t width;
	return text + width_head(text, columns, &width);
}

/* The longest suffix that fits into `columns`; *width receives its columns. */
static const char *
width_tail(const char *text, size_t columns, size_t *width)
{
	const char *tail = text;
	*width = st_tui_width(text);
	for (uint32_t c; *width > columns;) {
		tail += st_tui_character(tail, &c);
		*width -= st_tui_character_width(c);
	}
	return tail;
}

/* Joins three texts, and pads the result with blanks on the right (left) or on the left. */
static char *
width_join(const char *head, size_t n, const char *middle, const char *tail, size_t blanks,
           bool left)
{
	const size_t m = strlen(middle), t = strlen(tail);
	char *text = malloc(n + m + t + blanks + 1), *to = text;
	if (!text)
		return NULL;
	memset(to, ' ', left ? 0 : blanks);
	to += left ? 0 : blanks;
	memcpy(to, head, n);
	memcpy(to + n, middle, m);
	memcpy(to + n + m, tail, t);
	to += n + m + t;
	memset(to, ' ', left ? blanks : 0);
	to[left ? blanks : 0] = '\0';
	return text;
}

char *
st_tui_cut(const char *text, size_t columns)
{
	size_t width;
	const size_t n = width_head(text, columns, &width);
	return width_join(text, n, "", "", columns - width, true);
}

char *
st_tui_fit(const char *text, size_t columns, bool left)
{
	enum { DOTS = 3, LEAST = 8 };
	size_t head, tail;
	const size_t width = st_tui_width(text);
	if (width <= columns)
		return width_join(text, strlen(text), "", "", columns - width, left);
	if (columns < LEAST)
		return st_tui_cut(text, columns);
	const size_t n = width_head(text, (columns - DOTS + 1) / 2, &head);
	const char *end = width_tail(text, columns - DOTS - head, &tail);
	return width_join(text, n, "...", end, columns - DOTS - head - tail, left);
}
