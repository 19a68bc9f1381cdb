/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a list of programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "base/words.h"
#include "cli/tune.h"

enum { ROOM = 8 };

/* The words of the line, behind each a bar. */
static void
assert_words(const char *line, const char *wanted)
{
	char copy[128], *words[ROOM], found[128] = "";
	snprintf(copy, sizeof copy, "%s", line);
	int n = st_words(copy, words, ROOM);
	for (int i = 0; i < n; i++) {
		strcat(found, words[i]);
		strcat(found, "|");
	}
	assert_string_equal(n < 0 ? "refused" : found, wanted);
}

static void
words(void **state)
{
	(void)state;
	assert_words("", "");
	assert_words(" \t\r\n", "");
	assert_words("gzip -9 file\n", "gzip|-9|file|");
	assert_words("  sh\t-c 'echo a b; exit'\r\n", "sh|-c|echo a b; exit|");
	assert_words("a\"b c\"d'e f'g", "ab cde fg|");
	assert_words("'' \"\"", "||");
	assert_words("\"it's\" 'a \"word\"'", "it's|a \"word\"|");
	assert_words("a\\ b \\\\ \\' \"\\\"\"", "a b|\\|'|\"|");
	assert_words("'a\\b' a\\", "a\\b|a\\|");
	assert_words("$HOME *.c #x", "$HOME|*.c|#x|");
	assert_words("'open", "refused");
	assert_words("a \"open'", "refused");
	assert_words("1 2 3 4 5 6 7 8", "1|2|3|4|5|6|7|8|");
	assert_words("1 2 3 4 5 6 7 8 ", "1|2|3|4|5|6|7|8|");
	assert_words("1 2 3 4 5 6 7 8 9", "refused");
}

static char
random_letter(void)
{
	static const char letters[] = "ab \t'\"\\#$\n";
	return letters[(size_t)rand() % (sizeof letters - 1)];
}

/* Quotes a word in one of the three ways. Returns the end. */
static char *
write_quoted(char *out, const char *word)
{
	int way = rand() % 3;
	char quote = way == 0 ? '\'' : '"';
	if (way < 2)
		*out++ = quote;
	for (; *word; word++) {
		if (way == 0 && *word == '\'') {
			memcpy(out, "'\\''", 4);
			out += 4;
			continue;
		}
		if (way == 2 || (way == 1 && (*word == '"' || *word == '\\')))
			*out++ = '\\';
		*out++ = *word;
	}
	if (way < 2)
		*out++ = quote;
	*out = '\0';
	return out;
}

/* What is quoted comes back as it was. */
static void
quoted(void **state)
{
	char wanted[ROOM][8], line[512], *found[ROOM];
	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		int n = rand() % (ROOM + 1);
		char *end = line;
		*end = '\0';
		for (int i = 0; i < n; i++) {
			int length = 1 + rand() % 6;
			for (int k = 0; k < length; k++)
				wanted[i][k] = random_letter();
			wanted[i][length] = '\0';
			end = write_quoted(end, wanted[i]);
			end = stpcpy(end, rand() % 2 ? " " : "\t ");
		}
		assert_int_equal(st_words(line, found, ROOM), n);
		for (int i = 0; i < n; i++)
			assert_string_equal(found[i], wanted[i]);
	}
}

/* Whatever stands there: words lie in the line, one behind the other, or it is refused. */
static void
anything(void **state)
{
	int taken = 0, refused = 0;
	(void)state;
	srand(2);
	for (int round = 0; round < 50000; round++) {
		size_t size = (size_t)rand() % 24;
		char *line = malloc(size + 1), *found[ROOM];
		assert_non_null(line);
		for (size_t i = 0; i < size; i++)
			line[i] = random_letter();
		line[size] = '\0';
		int n = st_words(line, found, ROOM);
		for (int i = 0; i < n; i++) {
			const char *end = i + 1 < n ? found[i + 1] : line + size + 1;
			assert_true(found[i] >= line && found[i] + strlen(found[i]) < end);
		}
		taken += n >= 0;
		refused += n < 0;
		free(line);
	}
	assert_true(taken && refused);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(words),
	        cmocka_unit_test(quoted),
	        cmocka_unit_test(anything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
