/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the changes that Perun found at a commit. Each has a line: location, "PerformanceChange."
 * and the result, type, from, to, rate, type and value of the confidence, relative rate, the commit
 * of the baseline, command. The location and the command may have blanks. Old releases do not write
 * the relative rate, and older ones do not write the rate either.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "import/perun_store.h"

enum { MOST_WORDS = 7, FEWEST_WORDS = 5 };

/* The keys of the words between result and commit, by the number of these words. */
static const char *const change_keys[][MOST_WORDS] = {
        {"type", "from", "to", "confidence", "confidence_rate"},
        {"type", "from", "to", "rate", "confidence", "confidence_rate"},
        {"type", "from", "to", "rate", "confidence", "confidence_rate", "relative_rate"},
};

static bool
change_is_commit(const char *word, size_t n)
{
	size_t digits = 0;
	while (digits < n && ((word[digits] >= '0' && word[digits] <= '9') ||
	                      (word[digits] >= 'a' && word[digits] <= 'f')))
		digits++;
	return n == ST_SHA1_HEX && digits == n;
}

static json_t *
change_text(const char *from, size_t n)
{
	return json_stringn(from, n);
}

/* A number if the word is one, or else its text. */
static json_t *
change_value(const char *word, size_t n)
{
	char text[64];
	const char *end;
	double value;
	if (n < sizeof text) {
		memcpy(text, word, n);
		text[n] = '\0';
		if (!st_parse_real(text, &value, &end) && !*end)
			return json_real(value);
	}
	return change_text(word, n);
}

/* The number of words from the result to the commit; 0: there are too few, or too many. */
static size_t
change_words(const char *at, const char *end, const char *words[MOST_WORDS + 2],
             size_t lengths[MOST_WORDS + 2])
{
	size_t n = 0;
	while (at < end && n < MOST_WORDS + 2) {
		words[n] = at;
		const char *blank = memchr(at, ' ', (size_t)(end - at));
		lengths[n] = (size_t)((blank ? blank : end) - at);
		at = blank ? blank + 1 : end;
		if (n && change_is_commit(words[n], lengths[n]))
			return n;
		n++;
	}
	return 0;
}

/* NULL: the line cannot be read. */
static json_t *
change_of_line(const char *line, const char *end)
{
	static const char mark[] = " PerformanceChange.";
	const char *words[MOST_WORDS + 2],
	        *at = memmem(line, (size_t)(end - line), mark, strlen(mark));
	size_t lengths[MOST_WORDS + 2], n;
	if (!at || !(n = change_words(at + strlen(mark), end, words, lengths)) ||
	    n < FEWEST_WORDS + 1)
		return NULL;
	const char *commit = words[n], *command = commit + lengths[n];
	json_t *change = json_object();
	json_object_set_new(change, "location", change_text(line, (size_t)(at - line)));
	json_object_set_new(change, "result", change_text(words[0], lengths[0]));
	for (size_t i = 1; i < n; i++)
		json_object_set_new(change, change_keys[n - 1 - FEWEST_WORDS][i - 1],
		                    change_value(words[i], lengths[i]));
	json_object_set_new(change, "since", change_text(commit, lengths[n]));
	if (command < end)
		command++;
	json_object_set_new(change, "command", change_text(command, (size_t)(end - command)));
	return change;
}

char *
st_perun_changes_json(const char *text, size_t n, size_t *good, size_t *bad)
{
	json_t *all = json_array();
	const char *end = text + n;
	*good = *bad = 0;
	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			stop = end;
		json_t *change = stop > line ? change_of_line(line, stop) : NULL;
		*good += change != NULL;
		*bad += stop > line && !change;
		if (change)
			json_array_append_new(all, change);
		line = stop < end ? stop + 1 : end;
	}
	char *json = all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	json_decref(all);
	return json;
}
