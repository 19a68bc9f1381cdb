/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads tokens of the language of annotations. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/parser.h"
#include "base/parse.h"
#include "base/text.h"

st_status
st_ann_wrong(struct st_ann_parser *p, const char *format, ...)
{
	unsigned line = 1, column = 1;
	char cause[256];
	va_list ap;
	va_start(ap, format);
	vsnprintf(cause, sizeof cause, format, ap);
	va_end(ap);
	for (const char *at = p->text; at < p->at; at++) {
		column = *at == '\n' ? 1 : column + 1;
		line += *at == '\n';
	}
	return st_fail(p->e, ST_EXIT_USAGE, "%s:%u:%u: %s", p->name, line, column, cause);
}

st_status
st_ann_no_memory(struct st_ann_parser *p)
{
	return st_fail(p->e, ST_EXIT_FAILED, "no memory left to read %s", p->name);
}

void
st_ann_blanks(struct st_ann_parser *p, bool notes)
{
	for (;;) {
		p->at += strspn(p->at, " \t\r\n");
		if (!strncmp(p->at, "//", 2) && !(notes && p->at[2] == ':')) {
			p->at += strcspn(p->at, "\n");
		} else if (!strncmp(p->at, "/*", 2)) {
			const char *end = strstr(p->at + 2, "*/");
			p->at = end ? end + 2 : p->at + strlen(p->at);
		} else {
			return;
		}
	}
}

bool
st_ann_accept(struct st_ann_parser *p, const char *token)
{
	st_ann_blanks(p, false);
	const size_t n = strlen(token);
	if (strncmp(p->at, token, n))
		return false;
	p->at += n;
	return true;
}

st_status
st_ann_expect(struct st_ann_parser *p, const char *token, const char *after)
{
	if (st_ann_accept(p, token))
		return ST_OK;
	if (!*p->at)
		return st_ann_wrong(p, "the text ends where '%s' is expected after %s", token,
		                    after);
	return st_ann_wrong(p, "'%s' is expected after %s, not '%c'", token, after,
	                    isprint((unsigned char)*p->at) ? *p->at : '?');
}

char *
st_ann_taken(const struct st_ann_parser *p, const char *from)
{
	return strndup(from, (size_t)(p->at - from));
}

static bool
ann_begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c == '$';
}

char *
st_ann_take_name(struct st_ann_parser *p, const char *what)
{
	st_ann_blanks(p, false);
	const char *const from = p->at;
	if (!ann_begins_name(*from)) {
		ST_IGNORE(st_ann_wrong(p, "%s is expected here", what));
		return NULL;
	}
	while (ann_begins_name(*p->at) || isdigit((unsigned char)*p->at) ||
	       (p->at[0] == ':' && p->at[1] == ':' && ann_begins_name(p->at[2])))
		p->at += *p->at == ':' ? 2 : 1;
	char *name = st_ann_taken(p, from);
	if (!name)
		ST_IGNORE(st_ann_no_memory(p));
	return name;
}

char *
st_ann_take_quoted(struct st_ann_parser *p)
{
	const char *const begin = p->at;
	struct st_text text;
	st_text_begin(&text);
	for (p->at++; *p->at && *p->at != '"' && *p->at != '\n'; p->at++) {
		if (*p->at == '\\' && (p->at[1] == '"' || p->at[1] == '\\'))
			p->at++;
		if (text.out)
			putc(*p->at, text.out);
	}
	char *taken = st_text_end(&text);
	if (*p->at != '"') {
		p->at = begin;
		ST_IGNORE(st_ann_wrong(p, "the quote that begins here is not closed on its line"));
		free(taken);
		return NULL;
	}
	p->at++;
	if (!taken)
		ST_IGNORE(st_ann_no_memory(p));
	return taken;
}

st_status
st_ann_take_number(struct st_ann_parser *p, double *number)
{
	const char *end;
	st_ann_blanks(p, false);
	/* Numbers are decimal; hexadecimal numbers and names such as inf are refused. */
	if (!isdigit((unsigned char)*p->at) &&
	    !(*p->at == '.' && isdigit((unsigned char)p->at[1])) && *p->at != '-')
		return st_ann_wrong(p, "a number is expected here");
	if (st_parse_real(p->at, number, &end) || end == p->at)
		return st_ann_wrong(p, "a number is expected here that a double can hold");
	p->at = end;
	return ST_OK;
}

/* Reads a line of notes after its mark. */
static st_status
ann_note_line(struct st_ann_parser *p,
              st_status (*take)(struct st_ann_parser *, const struct st_ann_note *, void *),
              void *arg)
{
	const char *const end = p->at + strcspn(p->at, "\r\n");
	while (p->at < end) {
		struct st_ann_note note = {0};
		p->at += strspn(p->at, " \t");
		const size_t key = strcspn(p->at, " \t;\r\n");
		const char *value = p->at + key, *const stop = p->at + strcspn(p->at, ";\r\n");
		value += strspn(value, " \t");
		if (value > stop)
			value = stop;
		if (key) {
			note.key = strndup(p->at, key);
			note.value = strndup(value, (size_t)(stop - value));
			for (size_t n = note.value ? strlen(note.value) : 0;
			     n && strchr(" \t", note.value[n - 1]);)
				note.value[--n] = 0;
			const st_status status =
			        note.key && note.value ? take(p, &note, arg) : st_ann_no_memory(p);
			free(note.key);
			free(note.value);
			if (status)
				return ST_FAILED;
		}
		p->at = *stop == ';' ? stop + 1 : stop;
	}
	return ST_OK;
}

st_status
st_ann_take_notes(struct st_ann_parser *p,
                  st_status (*take)(struct st_ann_parser *p, const struct st_ann_note *n,
                                    void *arg),
                  void *arg)
{
	for (st_ann_blanks(p, true); !strncmp(p->at, "//:", 3); st_ann_blanks(p, true)) {
		p->at += 3;
		if (ann_note_line(p, take, arg))
			return ST_FAILED;
	}
	return ST_OK;
}
