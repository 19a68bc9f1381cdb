/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 31 };

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to insert, drop, change or swap to make one word of the other. */
static size_t
distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	size_t d[LONGEST_NAME + 1][LONGEST_NAME + 1];
	if (n > LONGEST_NAME || m > LONGEST_NAME)
		return LONGEST_NAME;
	for (size_t i = 0; i <= n; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= m; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++) {
			size_t change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			d[i][j] = least(change, least(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[n][m];
}

const char *
st_nearest(const char *word, size_t n, const char *(*get)(const void *names, size_t i),
           const void *names)
{
	const char *best = NULL;
	size_t best_distance = strlen(word) / 3 + 2; /* further off is no likely slip */
	for (size_t i = 0; i < n; i++) {
		const char *name = get(names, i);
		size_t d = name ? distance(word, name) : LONGEST_NAME;
		if (name && *word && !strncmp(word, name, strlen(word)) && d > 1)
			d = 1;
		if (d < best_distance) {
			best = name;
			best_distance = d;
		}
	}
	return best;
}

static const char *
option_name(const void *options, size_t i)
{
	return ((const struct st_option *)options)[i].name;
}

static int
unknown(const struct st_options *o, const char *name, struct st_error *e)
{
	const char *near = st_nearest(name, o->n, option_name, o->options);
	if (near)
		st_fail(e, ST_EXIT_USAGE, "unknown option '--%s'; did you mean '--%s'?", name,
		        near);
	else
		st_fail(e, ST_EXIT_USAGE, "unknown option '--%s'; --help lists the options", name);
	return ST_OPTIONS_BAD;
}

static int
long_option(struct st_options *o, const char *text, const char **value, struct st_error *e)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : strlen(text);
	char name[LONGEST_NAME + 1];
	snprintf(name, sizeof name, "%.*s", (int)least(length, LONGEST_NAME), text);
	for (size_t i = 0; i < o->n; i++) {
		const struct st_option *option = &o->options[i];
		if (strlen(option->name) != length || strncmp(option->name, text, length))
			continue;
		if (!option->argument && equals) {
			st_fail(e, ST_EXIT_USAGE, "option '--%s' takes no argument", option->name);
			return ST_OPTIONS_BAD;
		}
		*value = equals ? equals + 1 : NULL;
		if (option->argument && !equals)
			*value = o->argv[o->at];
		if (option->argument && !*value) {
			st_fail(e, ST_EXIT_USAGE, "option '--%s' needs an argument: %s",
			        option->name, option->argument);
			return ST_OPTIONS_BAD;
		}
		o->at += option->argument && !equals;
		return (int)i;
	}
	return unknown(o, name, e);
}

static int
letter_option(struct st_options *o, const char **value, struct st_error *e)
{
	char letter = *o->letters++;
	for (size_t i = 0; i < o->n; i++) {
		const struct st_option *option = &o->options[i];
		if (option->letter != letter)
			continue;
		*value = NULL;
		if (!option->argument)
			return (int)i;
		*value = *o->letters ? o->letters : o->argv[o->at];
		if (!*value) {
			st_fail(e, ST_EXIT_USAGE, "option '-%c' needs an argument: %s", letter,
			        option->argument);
			return ST_OPTIONS_BAD;
		}
		o->at += !*o->letters;
		o->letters = NULL;
		return (int)i;
	}
	st_fail(e, ST_EXIT_USAGE, "unknown option '-%c'; --help lists the options", letter);
	return ST_OPTIONS_BAD;
}

int
st_options_next(struct st_options *o, const char **value, struct st_error *e)
{
	*value = NULL;
	if (o->letters && *o->letters)
		return letter_option(o, value, e);
	o->letters = NULL;
	const char *text = o->argv[o->at];
	if (!text)
		return ST_OPTIONS_END;
	o->at++;
	if (o->ended || text[0] != '-' || !text[1]) {
		*value = text;
		return ST_OPTIONS_OTHER;
	}
	if (!strcmp(text, "--")) {
		o->ended = true;
		return st_options_next(o, value, e);
	}
	if (text[1] == '-')
		return long_option(o, text + 2, value, e);
	o->letters = text + 1;
	return letter_option(o, value, e);
}

int
st_options_number(const char *option, const char *text, long low, long high, long *value,
                  struct st_error *e)
{
	char *end;
	errno = 0;
	*value = strtol(text, &end, 10);
	if (errno || end == text || *end || *value < low || *value > high)
		return st_fail(e, ST_EXIT_USAGE, "--%s takes a number from %ld to %ld, not '%s'",
		               option, low, high, text);
	return 0;
}

void
st_options_help(FILE *out, const struct st_option *options, size_t n, bool all)
{
	enum { HELP_COLUMN = 24 };
	for (size_t i = 0; i < n; i++) {
		const struct st_option *o = &options[i];
		if (!o->shown && !all)
			continue;
		int used = o->letter ? fprintf(out, "  -%c, --%s", o->letter, o->name)
		                     : fprintf(out, "      --%s", o->name);
		if (o->argument)
			used += fprintf(out, " %s", o->argument);
		fprintf(out, "%*s%s\n", used < HELP_COLUMN ? HELP_COLUMN - used : 2, "", o->help);
	}
}
