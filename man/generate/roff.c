/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "roff.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

void
roff_plain(FILE *out, const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c == '\\')
			fputs("\\e", out);
		else if (*c == '-' && (c == text || !isalnum((unsigned char)c[-1])))
			fputs("\\-", out);
		else
			fputc(*c, out);
}

void
roff_typed(FILE *out, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (name[i] == '-')
			fputc('\\', out);
		fputc(name[i], out);
	}
}

void
roff_sentence(FILE *out, const char *help)
{
	fputs("\\&", out);
	fputc(toupper((unsigned char)*help), out);
	roff_plain(out, help + 1);
	fputs(".\n", out);
}

void
roff_heading(FILE *out, const char *name, const char *help)
{
	fprintf(out, ".\\\" SPDX-License-Identifier: GPL-3.0-or-later\n.TH \"");
	for (const char *c = name; *c; c++)
		fputc(toupper((unsigned char)*c), out);
	fprintf(out, "\" 1 " ST_DATE " \"Strobe " ST_VERSION "\" \"User Commands\"\n.SH NAME\n");
	roff_typed(out, name, strlen(name));
	fprintf(out, " \\- ");
	roff_plain(out, help);
	fprintf(out, "\n.SH SYNOPSIS\n");
}

/* "[options]", "[--]", "PROGRAM", "[ARGUMENT...]": a word of a usage line, what is literal bold. */
static void
usage_word(FILE *out, const char *word, size_t length)
{
	bool bracket = *word == '[';
	const char *core = word + bracket;
	size_t rest = length - bracket, n = strcspn(core, "]. ");
	fprintf(out, bracket ? ".R%c [ " : ".%cR ", *core == '-' ? 'B' : 'I');
	roff_typed(out, core, n < rest ? n : rest);
	fprintf(out, " \"%.*s\"\n", (int)(n < rest ? rest - n : 0), core + n);
}

void
roff_usage(FILE *out, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		usage_word(out, text, length);
		text += length + strspn(text + length, " ");
	}
}
