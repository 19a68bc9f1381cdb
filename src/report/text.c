/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct st_style
st_style_of(FILE *stream)
{
	struct st_style style = {0};
	struct winsize size;
	int fd = fileno(stream);
	if (fd < 0 || !isatty(fd))
		return style;
	style.width = 80;
	const char *columns = getenv("COLUMNS");
	unsigned long asked = columns ? strtoul(columns, NULL, 10) : 0;
	if (asked >= 20 && asked < 10000)
		style.width = asked;
	else if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 20)
		style.width = size.ws_col;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	style.colour = !(no_color && *no_color) && term && strcmp(term, "dumb");
	return style;
}

/* Bytes after the first of a UTF-8 character. */
static bool
continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Characters that move the cursor, or the text around them: controls of both sets, ends of lines
 * and paragraphs, and what turns the direction of writing or hides. */
static bool
is_trick(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0xfeff ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || (c >= 0xe0000 && c <= 0xe007f);
}

/* The UTF-8 character at text; its bytes. 0: there is none. */
static size_t
character(const char *text, uint32_t *c)
{
	unsigned char first = (unsigned char)*text;
	size_t n = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (!n || first > 0xf4)
		return 0;
	*c = n == 1 ? first : first & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (!continues(text[i]))
			return 0;
		*c = *c << 6 | ((unsigned char)text[i] & 0x3f);
	}
	return n;
}

/* The length of an escape sequence of strobe at this place; 0: there is none. */
static size_t
own_colour(const char *text)
{
	static const char *const own[] = {"\033[1m", "\033[0m"};
	if (*text != '\033')
		return 0;
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (!strncmp(text, own[i], strlen(own[i])))
			return strlen(own[i]);
	return 0;
}

void
st_print_json_safely(FILE *out, const char *text)
{
	while (*text) {
		uint32_t c = 0;
		size_t n = character(text, &c);
		if (n > 3 && is_trick(c))
			fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
		else if (n && c >= 0x7f && is_trick(c))
			fprintf(out, "\\u%04x", c);
		else
			fwrite(text, 1, n ? n : 1, out);
		text += n ? n : 1;
	}
}

/* In place: what is no text becomes a question mark. lines: lines and colours are left. */
static void
text_clean(char *text, bool lines)
{
	char *to = text;
	for (const char *from = text; *from;) {
		uint32_t c = 0;
		if (*from >= ' ' && *from < 0x7f) {
			*to++ = *from++;
			continue;
		}
		size_t n = lines && (*from == '\n' || *from == '\t') ? 1
		           : lines                                   ? own_colour(from)
		                                                     : 0;
		bool keep = n;
		if (!keep) {
			n = character(from, &c);
			keep = n && !is_trick(c);
			n = n ? n : 1;
		}
		if (!keep) {
			*to++ = '?';
		} else {
			memmove(to, from, n);
			to += n;
		}
		from += n;
	}
	*to = '\0';
}

char *
st_printable(const char *text)
{
	char *copy = strdup(text);
	if (copy)
		text_clean(copy, false);
	return copy;
}

void
st_print_safely(FILE *out, char *text)
{
	text_clean(text, true);
	fputs(text, out);
}

FILE *
st_safe_begin(struct st_safe *s, FILE *to)
{
	s->to = to;
	return st_text_begin(&s->text);
}

void
st_safe_end(struct st_safe *s)
{
	char *text = st_text_end(&s->text);
	if (text)
		st_print_safely(s->to, text);
	free(text);
}

size_t
st_columns(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += !continues(*text);
	return n;
}

void
st_shorten(char *text, size_t columns)
{
	if (st_columns(text) <= columns || columns < 4)
		return;
	char *end = text;
	for (size_t n = 0; *end; end++)
		if (!continues(*end) && n++ == columns - 3)
			break;
	memcpy(end, "...", 4); /* at least four characters are cut, so there is room */
}

void
st_put_markdown(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '\r') {
			fputc(' ', out);
			continue;
		}
		if (*text == '<') {
			fputs("&lt;", out);
			continue;
		}
		if (*text == '@')
			fputs("&#8203;", out); /* a mention would notify a user */
		if (strchr("\\`*_[]#|~", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}
