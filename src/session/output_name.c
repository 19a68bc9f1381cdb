/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "session/output_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { LONGEST_WORD = 100 }; /* bytes of a value; a file name has at most 255 */

/* Writes at most *room bytes of the text. */
static void
outname_put(const char *text, size_t *room, FILE *out)
{
	for (; *text && *room; text++, --*room) {
		bool plain = strchr("-_.+=,:", *text) || (*text >= '0' && *text <= '9') ||
		             (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
		putc(plain ? *text : '_', out);
	}
}

static void
outname_put_args(char *const *program, FILE *out)
{
	size_t room = LONGEST_WORD;
	for (size_t i = 1; program[0] && program[i]; i++) {
		if (i > 1)
			outname_put("_", &room, out);
		outname_put(program[i], &room, out);
	}
}

static void
outname_put_date(time_t date, FILE *out)
{
	char text[32] = "";
	struct tm local;
	if (localtime_r(&date, &local))
		strftime(text, sizeof text, "%Y-%m-%d-%H-%M-%S", &local);
	fputs(text, out);
}

/* The length of the word after a sign of percent, if another sign follows it; 0: there is none. */
static size_t
outname_word(const char *after)
{
	size_t n = strspn(after, "abcdefghijklmnopqrstuvwxyz");
	return after[n] == '%' ? n : 0;
}

static st_status
outname_put_word(const char *word, size_t n, const struct st_output_words *words, FILE *out,
                 struct st_error *e)
{
	size_t room = LONGEST_WORD;
	if (n == 9 && !memcmp(word, "collector", n))
		outname_put(words->collector, &room, out);
	else if (n == 3 && !memcmp(word, "cmd", n))
		outname_put(words->program[0] ? st_base_name(words->program[0]) : "", &room, out);
	else if (n == 4 && !memcmp(word, "args", n))
		outname_put_args(words->program, out);
	else if (n == 8 && !memcmp(word, "workload", n))
		outname_put(words->workload ? words->workload : "", &room, out);
	else if (n == 4 && !memcmp(word, "date", n))
		outname_put_date(words->date, out);
	else
		return st_fail(e, ST_EXIT_USAGE,
		               "the name of the result has the unknown word '%%%.*s%%'; the words "
		               "are %%collector%%, %%cmd%%, %%args%%, %%workload%% and %%date%%",
		               n > 40 ? 40 : (int)n, word);
	return ST_OK;
}

char *
st_output_name(const char *template, const struct st_output_words *words, struct st_error *e)
{
	char *name = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&name, &size);
	st_status status = out ? ST_OK : st_fail(e, ST_EXIT_FAILED, "no memory left for a name");
	for (const char *at = template; out && *at && !status;) {
		size_t n = *at == '%' ? outname_word(at + 1) : 0;
		if (n)
			status = outname_put_word(at + 1, n, words, out, e);
		else
			putc(*at, out);
		at += n ? n + 2 : 1;
	}
	if (out && fclose(out) && !status)
		status = st_fail(e, ST_EXIT_FAILED, "no memory left for a name");
	if (!status)
		return name;
	free(name);
	return NULL;
}
