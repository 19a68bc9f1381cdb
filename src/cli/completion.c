/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/completion.h"

#include <string.h>

static const struct {
	const char *name, *text;
	void (*tables)(FILE *out);
} shells[] = {
        {"bash", st_completion_text_bash, st_completion_bash},
        {"zsh", st_completion_text_zsh, st_completion_zsh},
        {"fish", st_completion_text_fish, st_completion_fish},
};

enum { N_SHELLS = sizeof shells / sizeof *shells };

const char *
st_completion_shell(size_t i)
{
	return i < N_SHELLS ? shells[i].name : NULL;
}

void
st_completion_quote(FILE *out, const char *text, const char *special)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

st_status
st_completion_print(FILE *out, const char *shell, struct st_error *e)
{
	static const char mark[] = "# @tables@\n";
	for (size_t i = 0; i < N_SHELLS; i++) {
		if (strcmp(shells[i].name, shell))
			continue;
		const char *tables = strstr(shells[i].text, mark);
		fwrite(shells[i].text, 1, (size_t)(tables - shells[i].text), out);
		shells[i].tables(out);
		fputs(tables + sizeof mark - 1, out);
		return 0;
	}
	return st_fail(e, ST_EXIT_USAGE, "no completions for '%s', only for bash, zsh and fish",
	               shell);
}
