/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/words.h"

#include <string.h>

static const char blanks[] = " \t\r\n";

/* Moves what a word holds to `out`, without its quotes. Where it ends; NULL: in a quote. */
static char *
take_word(char *in, char **out)
{
	char quote = 0;
	for (; *in && (quote || !strchr(blanks, *in)); in++) {
		if (!quote && (*in == '\'' || *in == '"'))
			quote = *in;
		else if (quote && *in == quote)
			quote = 0;
		else if (*in == '\\' && quote != '\'' && in[1])
			*(*out)++ = *++in;
		else
			*(*out)++ = *in;
	}
	return quote ? NULL : in;
}

int
st_words(char *line, char **words, int room)
{
	int n = 0;
	for (line += strspn(line, blanks); *line; line += strspn(line, blanks)) {
		char *out = line;
		if (n == room)
			return -1;
		words[n++] = line;
		line = take_word(line, &out);
		if (!line)
			return -1;
		line += *line != '\0';
		*out = '\0';
	}
	return n;
}

void
st_shell_quote(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
}
